"""Best of N: what an account gains by handing in one model again and again, and how ranks allow for it.

Of N equal models whose scores have a standard error s, the best is expected to score m(N) s too well, where m(N) is the
expected maximum of N standard normal variables (Tippett 1925; David and Nagaraja, Order Statistics, 2003, chapter 3):
m(2) = .56, m(10) = 1.54, m(100) = 2.51. So the number that the N-th attempt at a model is ranked by is worsened by
m(N) s, with the row's own s, on the logarithm where scores are logarithmic. That is the whole gain if the best of the
attempts is the one that stands, and more than the gain otherwise: nobody can see why somebody stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustment
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.ranked_errors import ranked_errors
from fairspace.submissions.results.row import Row


@lru_cache
def expected_maximum(n: int) -> float:
    """Of n independent standard normal variables: the integral over x > 0 of 1 - F(x)^n - F(-x)^n; 0 for n = 1."""
    x = np.linspace(0.0, 12.0, 6_001)
    return float(np.trapezoid(1 - ndtr(x) ** n - ndtr(-x) ** n, x))


def allow_for_attempts(
    rows: Sequence[Row], benchmark: str, standard: str, changed: Adjustment = AS_RELEASED
) -> list[Row]:
    """The rows, with the ranked number of further attempts worsened by what the best of so many is expected to gain."""
    bench = find_benchmark(benchmark)
    allowed = list(rows)
    places = [
        place for place, row in enumerate(rows) if row.attempt > 1 and row.ranked is not None and not row.verified
    ]
    errors = ranked_errors([rows[place] for place in places], benchmark, standard, changed)
    for place, error in zip(places, errors, strict=True):
        gain = (-1.0 if bench.higher_is_better else 1.0) * expected_maximum(rows[place].attempt) * float(error)
        number = rows[place].ranked or 0.0
        allowed[place] = replace(
            rows[place], ranked=number * float(np.exp(gain)) if bench.logarithmic else number + gain
        )
    return allowed
