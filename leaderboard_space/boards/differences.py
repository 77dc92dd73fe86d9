"""How sure the difference of two models is: their draws are of the same clusters, so they are compared pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from submissions.board import Row
from submissions.registry import benchmark as find_benchmark
from submissions.result import find_standard
from submissions.sensitivity import AS_RELEASED
from submissions.tiers import FEWEST_DRAWS
from submissions.uncertainty.bootstrap import percentile_interval
from submissions.uncertainty.design import Floats
from submissions.uncertainty.scores import true_draws


@dataclass(frozen=True)
class Difference:
    """The 95 % interval of a score less that of the first model; significant: it does not hold 0.

    It is that of one pair and one score: who looks at many must expect one in twenty to be significant by chance.
    """

    low: float
    high: float

    @property
    def significant(self) -> bool:
        """Whether 0 is outside."""
        return not self.low <= 0 <= self.high


def differences(benchmark: str, rows: Sequence[Row], standard: str) -> list[dict[str, Difference]]:
    """Of each row to the first one: score -> difference, for the scores of which both have draws."""
    if not rows:
        return []
    draws = [_draws(benchmark, row, standard) for row in rows]
    return [{}, *({name: d for name in own if (d := _difference(own, draws[0], name))} for own in draws[1:])]


def _draws(benchmark: str, row: Row, standard: str) -> dict[str, Floats]:
    result = row.result
    if result is None or result.draws is None:
        return {}
    bench = find_benchmark(benchmark)
    return true_draws(bench, result.scored, result.draws, find_standard(bench, standard), AS_RELEASED)


def _difference(own: dict[str, Floats], first: dict[str, Floats], name: str) -> Difference | None:
    if name not in first:
        return None
    common = min(len(own[name]), len(first[name]))
    away = own[name][:common] - first[name][:common]
    known = away[np.isfinite(away)]
    return Difference(*percentile_interval(known)) if len(known) >= FEWEST_DRAWS else None
