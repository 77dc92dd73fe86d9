"""A score as a percentage of which more is better: what leaderboards without a direction can list."""

from __future__ import annotations

import math
from collections.abc import Callable

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard


def percent_of(result: Result, name: str) -> Callable[[float], float]:
    """A score of a result -> its percentage, under the result's standard.

    Between the worst and the best number that the score can be, it is the share of the way to the best; of a score in
    percent that can be above 100 (IRIS' `inaugural`), up to 100. A score without a largest number is a sum of n
    distances from the ideal: it becomes 100 · exp(-score / n), so the ideal is 100.
    """
    bench = benchmark(result.benchmark)
    table = bench.table_of(result.scored, find_standard(bench, result.standard))
    (least, most), parts = table.limits[name], len(table.rules[name].weights)

    def percent(number: float) -> float:
        if math.isinf(most):
            share = math.exp(-number / parts)
        else:
            share = (number - least) / (min(most, 100.0) - least)
            share = share if bench.higher_is_better else 1 - share
        return round(100 * min(1.0, max(0.0, share)), 2)

    return percent
