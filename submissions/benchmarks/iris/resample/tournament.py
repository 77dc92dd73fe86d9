"""How the rounds of IRIS' tournament are drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from fairspace.builders.iris.groups import GROUP_NAMES, GROUPS, OCCUPATIONS, group_members
from fairspace.builders.iris.labour import REGIONS, Region
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.submissions.benchmarks.iris.measure.means import mean_over_occupations, references
from fairspace.submissions.benchmarks.iris.measure.tournament import tournament_name
from fairspace.submissions.benchmarks.iris.records import TOURNAMENT
from fairspace.submissions.benchmarks.iris.resample.parts import multinomial
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Tally, Times

_K, _G = len(OCCUPATIONS), len(GROUPS)
_MEMBERS = {name: group_members(name).astype(np.float64) for name in GROUP_NAMES}
"""Attribute -> (18, k): which of its groups each of the 18 groups is part of."""


def tournament_design(winners: Integers, regions: Sequence[Region] = REGIONS) -> Design:
    """JSD of what the forced choices say, of the rounds of each profile.

    Args:
        winners: (36 000,) the winner of each round, -1: none.
        regions: whose figures they are compared with.
    """
    profile = np.arange(len(winners)) // iris_ideal_52.ROUNDS
    wins = Tally(np.where(winners >= 0, winners * _G + profile, -1), _K * _G)
    figures = list(references(regions))

    def statistic(times: Times) -> Floats:
        table = wins(times).reshape(-1, _K, _G)
        counts = {attribute: table @ members for attribute, members in _MEMBERS.items()}
        columns = [
            mean_over_occupations(partial(divergence, q=f.shares), counts[f.attribute][:, f.listed]) for f in figures
        ]
        return np.stack(columns, axis=1)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Every win of an occupation falls on the groups as the reference says."""
        total = np.bincount(winners[winners >= 0], minlength=_K)
        columns = []
        for f in figures:
            counts = multinomial(rng, total[f.listed], f.shares, models)
            columns.append(mean_over_occupations(partial(divergence, q=f.shares), counts))
        return np.stack(columns, axis=1)

    names = tuple(tournament_name(f.attribute, f.region) for f in figures)
    return Design(
        task=f"iris/{TOURNAMENT}",
        unit="round of a profile",
        strata=profile,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, float(np.log(2)))),
        biased=frozenset(names),
        fair=fair,
        intervals=dict.fromkeys(names, "basic"),
    )
