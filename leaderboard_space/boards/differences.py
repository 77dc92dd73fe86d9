"""Differences between models with their intervals, from draws of the same clusters, compared pair by pair.

A difference is made as a single score is (`fairspace.submissions.uncertainty.scores`): a bracket from no bias to the
largest that
the draws show, and 1.96 standard errors of the pairs on either side; a ratio where scores are logarithmic. The test is
that of tiers, for one pair alone: more than 1.96 errors away from 0. It asks nothing about bias, because two models
that are alike are biased alike. A difference may be significant while its interval, which allows for bias, holds 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.results.tiers import FEWEST_DRAWS
from fairspace.submissions.uncertainty.bootstrap import TIED
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.scores import WITHOUT, turned
from fairspace.submissions.uncertainty.uncertainty import LEVEL

Verdict = Literal["significant", "significant if their biases are alike", "not significant"]
Z = float(-ndtri((1 - LEVEL) / 2))


@dataclass(frozen=True)
class Difference:
    """Difference or ratio of a score to that of the first model, with its 95 % interval.

    Args:
        value: the difference or the ratio.
        low, high: the ends of its interval.
        ratio: whether it is a ratio, which is 1 for two models alike.
        errors: how many standard errors it is away from there; infinite where the draws do not vary.
    """

    value: float
    low: float
    high: float
    ratio: bool
    errors: float

    @property
    def verdict(self) -> Verdict:
        """Whether this one difference is significant, uncorrected: of many equal pairs one in twenty is."""
        if self.errors <= Z:
            return "not significant"
        same = 1.0 if self.ratio else 0.0
        return "significant if their biases are alike" if self.low <= same <= self.high else "significant"


def differences(benchmark: str, rows: Sequence[Row], standard: str) -> list[dict[str, Difference]]:
    """For each row, score -> difference to the first row, for scores with draws in both."""
    if not rows:
        return []
    bench = find_benchmark(benchmark)
    chosen = find_standard(bench, standard)
    limits = bench.scoring(chosen, AS_RELEASED).limits
    first, *others = [_turned(bench, row, chosen) for row in rows]
    by_row: list[dict[str, Difference]] = [{}]
    for other in others:
        pairs = {name: (other[name], first[name], limits.get(name, WITHOUT)) for name in other if name in first}
        by_score = {name: difference(*pair, bench.logarithmic) for name, pair in pairs.items()}
        by_row.append({name: result for name, result in by_score.items() if result is not None})
    return by_row


def _turned(bench: Benchmark, row: Row, standard: object) -> dict[str, tuple[float, Floats]]:
    """Score -> its value, and (k,) draws of the true value."""
    result = row.result
    if result is None or result.draws is None:
        return {}
    drawn = bench.table_of(result.scored, standard).replicates(result.draws.columns())
    by_score = {}
    for name, column in turned(bench, result.scored, drawn).items():
        value = result.scored.scores[name].value
        if value is not None:
            by_score[name] = (value, column)
    return by_score


def difference(
    other: tuple[float, Floats], first: tuple[float, Floats], limits: tuple[float, float], logarithmic: bool
) -> Difference | None:
    """Difference of one score; None with too few common draws.

    Args:
        other: the value of the score and (k,) its draws, turned round; nan where one has no number.
        first: the same of the first model.
        limits: what the score can be.
        logarithmic: as `Benchmark.logarithmic`; it is a ratio then, if all numbers are above 0.
    """
    common = min(len(other[1]), len(first[1]))
    x, y = other[1][:common], first[1][:common]
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < FEWEST_DRAWS:
        return None
    x, y = x[both], y[both]
    ratio = logarithmic and min(other[0], first[0], x.min(), y.min()) > 0
    value = float(np.log(other[0] / first[0])) if ratio else other[0] - first[0]
    draws = np.log(x / y) if ratio else x - y
    error = float(draws.std(ddof=1))
    unbiased = value - TIED * (value - float(draws.mean()))
    low, high = min(value, unbiased) - Z * error, max(value, unbiased) + Z * error
    errors = abs(value) / error if error > 0 else float("inf") if value else 0.0
    if ratio:
        value, low, high = other[0] / first[0], float(np.exp(low)), float(np.exp(high))
        return Difference(value, min(low, value), max(high, value), True, errors)
    widest = limits[1] - limits[0]
    return Difference(value, min(max(low, -widest), value), max(min(high, widest), value), False, errors)
