"""Differences between models with their intervals, from draws of the same clusters, compared pair by pair.

The interval reaches from the difference of the scores to that of their estimates without bias, and 1.96 standard errors
of the pairs on either side; it is one of a ratio where scores are logarithmic. The test is for one pair alone, more
than 1.96 errors away from 0; tiers test many pairs and ask for more, and `corrected` allows for all tests of a table
(Holm 1979). It asks nothing about bias, because two models that are alike are biased alike. A difference may be
significant while its interval, which allows for bias, holds 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.results.tiers import FEWEST_DRAWS
from fairspace.submissions.uncertainty.bootstrap import MOST_UNDEFINED
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.intervals import Z
from fairspace.submissions.uncertainty.score_draws import Drawn, ScoreDraws, many_score_draws
from fairspace.submissions.uncertainty.scores import WITHOUT

Verdict = Literal["significant", "significant if their biases are alike", "not significant"]
SIGNIFICANT = 0.05
"""A p that is corrected for all lines of a comparison is called significant below it."""


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

    def verdict_of(self, p: float) -> Verdict:
        """Whether it is significant by a p that is corrected for all lines of a comparison."""
        return "not significant" if p >= SIGNIFICANT else self.verdict


def differences(
    benchmark: str, results: Sequence[Result | None], standard: str, values: Collection[str] = ()
) -> list[dict[str, Difference]]:
    """For each result, score -> difference to the first result, for scores with draws in both.

    Args:
        benchmark: its name.
        results: None for a model of which only printed figures are known.
        standard: under which all of them were scored.
        values: names of raw values that are compared as well; their differences are never ratios.
    """
    if not results:
        return []
    bench = find_benchmark(benchmark)
    chosen = find_standard(bench, standard)
    limits = bench.scoring(chosen, AS_RELEASED).limits
    kept = [Drawn(r.scored, r.values, r.draws) for r in results if r is not None and r.draws is not None]
    drawn = iter(many_score_draws(bench, kept, chosen))
    raw = [_raw(result, values) for result in results]
    first, *others = [
        raw_values if r is None or r.draws is None else raw_values | _drawn(r.scored, next(drawn))
        for r, raw_values in zip(results, raw, strict=True)
    ]
    by_row: list[dict[str, Difference]] = [{}]
    for other in others:
        pairs = {name: (other[name], first[name], limits.get(name, WITHOUT)) for name in other if name in first}
        by_score = {name: difference(*pair, bench.logarithmic and name not in raw[0]) for name, pair in pairs.items()}
        by_row.append({name: result for name, result in by_score.items() if result is not None})
    return by_row


def corrected(by_row: Sequence[Mapping[str, Difference]]) -> list[dict[str, float]]:
    """For each row, score -> two-sided p of its difference, corrected for all differences of all rows.

    Holm's step-down procedure: with it, at most 5 % of tables of equal models have one p below 0.05, however their
    differences depend on each other.

    Args:
        by_row: as `differences` returns them.
    """
    keys = [(place, name) for place, row in enumerate(by_row) for name in row]
    single = {(place, name): 2 * float(ndtr(-by_row[place][name].errors)) for place, name in keys}
    holm: list[dict[str, float]] = [{} for _ in by_row]
    largest = 0.0
    for number, (place, name) in enumerate(sorted(keys, key=lambda key: single[key])):
        largest = max(largest, min(1.0, (len(keys) - number) * single[place, name]))
        holm[place][name] = largest
    return [{name: p[name] for name in row} for row, p in zip(by_row, holm, strict=True)]


class Score(NamedTuple):
    """A score of one model.

    Args:
        value: as measured.
        debiased: its estimate without bias.
        draws: (k,) of it; nan where one has no number.
    """

    value: float
    debiased: float
    draws: Floats


def _drawn(scored: Scored, draws: ScoreDraws) -> dict[str, Score]:
    """Score -> what is known of it; of those with a number."""
    by_name = {}
    for name, column in draws.replicates.items():
        value = scored.scores[name].value if name in scored.scores else None
        if value is not None and np.isnan(column).mean() <= MOST_UNDEFINED:
            by_name[name] = Score(value, float(draws.points[name][0]), column)
    return by_name


def _raw(result: Result | None, names: Collection[str]) -> dict[str, Score]:
    """Raw value -> what is known of it; of those that are named and have a number and draws."""
    if result is None or result.draws is None:
        return {}
    return {
        name: Score(value, value if about is None or about.debiased is None else about.debiased, column)
        for name, column in result.draws.columns().items()
        if name in names and (value := result.values[name].value) is not None
        for about in [result.values[name].uncertainty]
        if np.isnan(column).mean() <= MOST_UNDEFINED
    }


def difference(other: Score, first: Score, limits: tuple[float, float], logarithmic: bool) -> Difference | None:
    """Difference of one score; None with too few common draws.

    Args:
        other: the score.
        first: the same of the first model.
        limits: what the score can be.
        logarithmic: as `Benchmark.logarithmic`; it is a ratio then, if all numbers are above 0.
    """
    common = min(len(other.draws), len(first.draws))
    x, y = other.draws[:common], first.draws[:common]
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < FEWEST_DRAWS:
        return None
    x, y = x[both], y[both]
    ratio = logarithmic and min(*other[:2], *first[:2], x.min(), y.min()) > 0
    scale = np.log if ratio else np.positive
    value, debiased = (float(scale(a) - scale(b)) for a, b in zip(other[:2], first[:2], strict=True))
    error = float((scale(x) - scale(y)).std(ddof=1))
    low, high = min(value, debiased) - Z * error, max(value, debiased) + Z * error
    errors = abs(value) / error if error > 0 else float("inf") if value else 0.0
    if ratio:
        value, low, high = other.value / first.value, float(np.exp(low)), float(np.exp(high))
        return Difference(value, min(low, value), max(high, value), True, errors)
    widest = limits[1] - limits[0]
    return Difference(value, min(max(low, -widest), value), max(min(high, widest), value), False, errors)
