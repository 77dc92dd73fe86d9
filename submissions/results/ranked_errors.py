"""The standard error of the number that a row is ranked by, from its kept draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustment
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.by_result import ByResult
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.tiers import ranked_draws
from fairspace.submissions.uncertainty.design import Floats

_ERRORS: ByResult[float] = ByResult()


def ranked_errors(rows: Sequence[Row], benchmark: str, standard: str, changed: Adjustment = AS_RELEASED) -> Floats:
    """(n,) standard deviation of each row's draws, of their logarithm where scores are logarithmic; 0 without draws."""
    drawn = [row for row in rows if row.result is not None and row.result.draws is not None]
    new = [row for row in drawn if row.result is not None and _ERRORS.get(row.result) is None]
    logarithmic = find_benchmark(benchmark).logarithmic
    for row, draws in zip(new, ranked_draws(new, benchmark, standard, changed), strict=True):
        if row.result is not None:
            _ERRORS.put(row.result, _error(draws, logarithmic))
    return np.array([0.0 if row.result is None else _ERRORS.get(row.result) or 0.0 for row in rows])


def _error(draws: Floats, logarithmic: bool) -> float:
    """The standard deviation of draws; 0 for fewer than two."""
    with np.errstate(invalid="ignore", divide="ignore"):
        known = np.log(draws) if logarithmic else draws
    known = known[np.isfinite(known)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0
