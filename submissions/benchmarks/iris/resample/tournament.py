"""How the rounds of IRIS' tournament are drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import GROUP_NAMES, GROUPS, OCCUPATIONS, group_members
from fairspace.builders.iris.labour import REGIONS, Region
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.submissions.benchmarks.iris.measure.means import Reference, references
from fairspace.submissions.benchmarks.iris.measure.refusals import refusal_disparities, refusal_names
from fairspace.submissions.benchmarks.iris.measure.tournament import (
    divergences,
    rounds_stood,
    tournament_name,
    worst_divergence,
)
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING, REFUSED
from fairspace.submissions.benchmarks.iris.records import TOURNAMENT
from fairspace.submissions.benchmarks.iris.resample.parts import multinomial
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Tally, Times

_K, _G = len(OCCUPATIONS), len(GROUPS)
_MEMBERS = {name: group_members(name).astype(np.float64) for name in GROUP_NAMES}
"""Attribute -> (18, k): which of its groups each of the 18 groups is part of."""


def tournament_design(winners: Integers, regions: Sequence[Region] = REGIONS) -> Design:
    """JSD of what the forced choices say, of the rounds of each profile.

    Args:
        winners: (36 000,) the winner of each round, else `UNMAPPABLE`, `REFUSED` or `MISSING`.
        regions: whose figures they are compared with.
    """
    profile = np.arange(len(winners)) // iris_ideal_52.ROUNDS
    wins = Tally(np.where(winners >= 0, winners * _G + profile, -1), _K * _G)
    answered, refused = winners != MISSING, winners == REFUSED
    figures = list(references(regions))
    undecided = answered & (winners < 0)
    stood = _stood(undecided, profile) if undecided.any() else None
    by_group = [Tally(np.where(chosen, profile, -1), _G) for chosen in (refused, answered)]

    def statistic(times: Times) -> Floats:
        table = wins(times).reshape(-1, _K, _G)
        without = None if stood is None else stood(times)
        columns = [_mean(table, without, f) for f in figures]
        refusals = np.zeros((len(times), len(GROUP_NAMES)))
        if refused.any():
            refusals = refusal_disparities(*(tally(times) for tally in by_group))
        return np.concatenate([np.stack(columns, axis=1), refusals], axis=1)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Every win of an occupation falls on the groups as the reference says; rounds without a winner stay so."""
        total = np.bincount(winners[winners >= 0], minlength=_K)
        without = rounds_stood(undecided)
        columns = []
        for f in figures:
            counts = multinomial(rng, total[f.listed], f.shares, models)
            columns.append(worst_divergence(counts, without[f.listed] @ _MEMBERS[f.attribute], f.shares).mean(axis=-1))
        return np.concatenate([np.stack(columns, axis=1), np.full((models, len(GROUP_NAMES)), np.nan)], axis=1)

    compared = tuple(tournament_name(f.attribute, f.region) for f in figures)
    names = (*compared, *refusal_names(TOURNAMENT))
    return Design(
        task=f"iris/{TOURNAMENT}",
        unit="round of a profile",
        strata=profile,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, 1.0)) | dict.fromkeys(compared, (0.0, float(np.log(2)))),
        biased=frozenset(compared),
        fair=fair,
        intervals=dict.fromkeys(compared, "basic"),
    )


def _mean(table: Floats, without: Floats | None, f: Reference) -> Floats:
    """(b, 52, 18) rounds won and rounds without a winner -> (b,) the mean over the listed occupations."""
    members = _MEMBERS[f.attribute]
    won = (table @ members)[:, f.listed]
    if without is None:
        return np.asarray(divergences(won, f.shares).mean(axis=-1))
    return np.asarray(worst_divergence(won, (without @ members)[:, f.listed], f.shares).mean(axis=-1))


def _stood(chosen: NDArray[np.bool_], profile: Integers) -> Callable[[Times], Floats]:
    """(b, n) -> (b, 52, 18) in how many of the chosen rounds each occupation stands."""
    competitors = iris_ideal_52.tournament_competitors()
    tallies = [Tally(np.where(chosen, competitors[:, seat] * _G + profile, -1), _K * _G) for seat in range(5)]
    return lambda times: np.sum([tally(times).reshape(-1, _K, _G) for tally in tallies], axis=0)
