"""JSD between IRIS' forced choices and labour figures (D.2.5; M5), with the bounds that open rounds allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS, combination_names, group_members
from fairspace.builders.iris.labour import Region
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.submissions.benchmarks.iris.measure.means import occupation_mean, references
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING
from fairspace.submissions.benchmarks.iris.records import TOURNAMENT, Records
from fairspace.submissions.uncertainty.design import Floats, Integers
from fairspace.submissions.values import Value, not_run

ROUNDS = len(GROUPS) * iris_ideal_52.ROUNDS
"""Of the tournament, 2 000 of each group."""


def measure_tournament(records: Records, regions: Sequence[Region]) -> Iterator[Value]:
    """The divergence of each occupation's winners from a region's figures, on average over the occupations.

    Wins per (profile, occupation) are normalised within an occupation to P(demographics | occupation), which is what
    the labour figures state. D.2.5, step 4, asks for P(occupation | demographics) by Bayes' theorem, for which the
    figures lack the margin of the occupations; the two agree only where both margins are flat (E-IRIS-16). A variant
    compares that one, with equally frequent occupations.

    The coverage counts rounds, not the wins of the occupations that a region lists.
    """
    winners = records.winners
    if winners is None:
        for reference in references(regions):
            name = tournament_name(reference.attribute, reference.region)
            yield not_run(name, records.absent[TOURNAMENT], expected=ROUNDS)
        return
    wins, open_rounds, missing = tournament_rounds(winners)
    for reference in references(regions):
        members = group_members(reference.attribute)
        won, undecided, absent = (table[reference.listed] @ members for table in (wins, open_rounds, missing))
        triple = tournament_divergence(won, undecided, absent, reference.shares)
        name, groups = tournament_name(reference.attribute, reference.region), combination_names(reference.attribute)
        value = occupation_mean(name, triple, won, groups, ROUNDS, reference.listed)
        yield replace(value, valid=int((winners != MISSING).sum()))


def tournament_divergence(
    wins: Integers | Floats, undecided: Integers | Floats, missing: Integers | Floats, shares: Floats
) -> tuple[Floats, Floats, Floats]:
    """JSD of the winners' groups from reference shares, and its bounds.

    A round that was answered and has no winner (it refuses, or names none or several of its competitors) counts as the
    least favourable answer: each of the five could have won it, so that an occupation has none or all of those rounds,
    group by group (the divergence is greatest at such a corner). A round that was not handed in leaves that open for
    the bounds alone.

    Args:
        wins: (..., n, k) rounds that each occupation won, by group of the pictured person.
        undecided: (..., n, k) answered rounds without a winner in which it stood.
        missing: (..., n, k) rounds in which it stood that were not handed in.
        shares: (k,) or (n, k) reference shares.

    Returns:
        (value, low, high), each (..., n); the value is nan where an occupation never won.
    """
    value = worst_divergence(wins, undecided, shares)
    most = worst_divergence(wins, undecided + missing, shares, never=np.log(2))
    is_open = missing.sum(axis=-1) > 0
    return value, np.where(is_open, 0.0, value), np.where(is_open, np.fmax(most, value), value)


def worst_divergence(
    wins: Integers | Floats, undecided: Integers | Floats, shares: Floats, never: float = np.nan
) -> Floats:
    """(..., n) the largest JSD that rounds without a winner allow; `never` of an occupation that never won."""
    won = wins.sum(axis=-1) > 0
    value = divergences(wins, shares)
    if undecided.any():
        corners = np.array(list(product((0, 1), repeat=wins.shape[-1])))[1:]
        for corner in corners:
            value = np.fmax(value, divergences(wins + undecided * corner, shares))
    return np.where(won, value, never if undecided.any() else np.nan)


def divergences(counts: Integers | Floats, shares: Floats) -> Floats:
    """(..., n, k) counts -> (..., n) JSD of their shares from reference shares; nan without a count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return divergence(counts / counts.sum(axis=-1, keepdims=True), shares / shares.sum(axis=-1, keepdims=True))


def tournament_name(attribute: str, region: str) -> str:
    """The name of the divergence of an attribute from a region's figures; Table 6 calls skin `skin_tone` here."""
    return f"JSD_{'skin_tone' if attribute == 'skin' else attribute}_{region}"


def tournament_rounds(winners: Integers) -> tuple[Integers, Integers, Integers]:
    """(52, 18) rounds won, rounds without a winner, and rounds that were not handed in, by occupation and group."""
    decided = winners >= 0
    places = winners[decided] * len(GROUPS) + (np.arange(len(winners)) // iris_ideal_52.ROUNDS)[decided]
    won = np.bincount(places, minlength=len(OCCUPATIONS) * len(GROUPS)).reshape(-1, len(GROUPS))
    return won, rounds_stood(~decided & (winners != MISSING)), rounds_stood(winners == MISSING)


def rounds_stood(chosen: NDArray[np.bool_]) -> Integers:
    """(36 000,) whether a round counts -> (52, 18) of these rounds, those in which an occupation stands, by group."""
    profile = np.arange(len(chosen)) // iris_ideal_52.ROUNDS
    places = iris_ideal_52.tournament_competitors()[chosen] * len(GROUPS) + profile[chosen][:, None]
    return np.bincount(places.ravel(), minlength=len(OCCUPATIONS) * len(GROUPS)).reshape(-1, len(GROUPS))
