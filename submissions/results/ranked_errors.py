"""The standard error of the number that a row is ranked by, from its kept draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustment
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.tiers import ranked_draws
from fairspace.submissions.uncertainty.design import Floats


def ranked_errors(rows: Sequence[Row], benchmark: str, standard: str, changed: Adjustment = AS_RELEASED) -> Floats:
    """(n,) standard deviation of each row's draws, of their logarithm where scores are logarithmic; 0 without draws."""
    errors = np.zeros(len(rows))
    drawn = [place for place, row in enumerate(rows) if row.result is not None and row.result.draws is not None]
    columns = ranked_draws([rows[place] for place in drawn], benchmark, standard, changed)
    for place, draws in zip(drawn, columns, strict=True):
        with np.errstate(invalid="ignore", divide="ignore"):
            known = np.log(draws) if find_benchmark(benchmark).logarithmic else draws
        known = known[np.isfinite(known)]
        errors[place] = known.std(ddof=1) if len(known) > 1 else 0.0
    return errors
