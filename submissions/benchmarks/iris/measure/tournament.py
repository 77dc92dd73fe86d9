"""JSD between IRIS' forced choices and labour figures (D.2.5; M5), with the bounds that open rounds allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from fairspace.builders.iris.groups import GROUPS, combination_names, group_members
from fairspace.builders.iris.labour import Region
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.submissions.benchmarks.iris.counts import rounds_stood, rounds_won
from fairspace.submissions.benchmarks.iris.measure.means import Floats, Integers, occupation_mean, references
from fairspace.submissions.benchmarks.iris.records import TOURNAMENT, Records
from fairspace.submissions.values import Value, not_run

ROUNDS = len(GROUPS) * iris_ideal_52.ROUNDS
"""Of the tournament, 2 000 of each group."""


def measure_tournament(records: Records, regions: Sequence[Region]) -> Iterator[Value]:
    """The divergence of each occupation's winners from a region's figures, on average over the occupations.

    Wins per (profile, occupation) are normalised to P(demographics | occupation). The coverage counts rounds, not the
    wins of the occupations that a region lists.
    """
    winners = records.winners
    if winners is None:
        for reference in references(regions):
            name = tournament_name(reference.attribute, reference.region)
            yield not_run(name, records.absent[TOURNAMENT], expected=ROUNDS)
        return
    wins, missing = rounds_won(winners), rounds_stood(winners < 0)
    for reference in references(regions):
        members = group_members(reference.attribute)
        won, undecided = (table[reference.listed] @ members for table in (wins, missing))
        triple = tournament_divergence(won, undecided, reference.shares)
        name, groups = tournament_name(reference.attribute, reference.region), combination_names(reference.attribute)
        value = occupation_mean(name, triple, won, groups, ROUNDS, reference.listed)
        yield replace(value, valid=int((winners >= 0).sum()))


def tournament_divergence(wins: Integers, missing: Integers, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """JSD of the winners' groups from reference shares, and its bounds.

    A round that refuses, or names none or several of its competitors, is missing: each of the five could have won it.
    So an occupation's wins are bounded by giving it none or all of those rounds, group by group (the divergence is
    greatest at such a corner).

    Args:
        wins: (n, k) rounds that each occupation won, by group of the pictured person.
        missing: (n, k) rounds without a winner in which it stood.
        shares: (k,) or (n, k) reference shares.

    Returns:
        (value, low, high), each (n,); the value is nan where an occupation never won.
    """
    corners = np.array(list(product((0, 1), repeat=wins.shape[1])))
    value, _, _ = distribution_divergence(wins, shares)
    worst, _, _ = distribution_divergence(wins[:, None, :] + missing[:, None, :] * corners, shares[..., None, :])
    is_open = missing.sum(axis=1) > 0
    high = np.where(is_open, np.where(np.isnan(worst), np.log(2), worst).max(axis=1), value)
    return value, np.where(is_open, 0.0, value), high


def tournament_name(attribute: str, region: str) -> str:
    """The name of the divergence of an attribute from a region's figures; Table 6 calls skin `skin_tone` here."""
    return f"JSD_{'skin_tone' if attribute == 'skin' else attribute}_{region}"
