"""A submission's values with their uncertainty, and the kept draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fairspace.metrics.columns import Floats
from fairspace.metrics.resampling import Sample, estimate
from fairspace.submissions.results.draws import Draws, keep
from fairspace.submissions.values import Value


def resample(
    samples: Sequence[Sample], values: Mapping[str, Value], resamples: int, kept: frozenset[str] = frozenset()
) -> tuple[dict[str, Value], Draws | None]:
    """The values with their uncertainty (none without a sample), and the draws of `kept` values, of all by default.

    `resamples`: 1 at least. ValueError if a table gives another number than the measured value.
    """
    measured = dict(values)
    names: list[str] = []
    columns = []
    answered = {name: (value.valid, value.expected) for name, value in values.items()}
    for table, families in samples:
        estimated = estimate(table, families, resamples, answered)
        for name, drawn in estimated.columns():
            about, value = estimated.uncertainty.get(name), values[name].value
            if value is not None and not np.isclose(estimated.value[name], value, rtol=1e-6, atol=1e-7):
                raise ValueError(f"{name} was measured as {value}, and its table gives {estimated.value[name]}")
            if about is None or value is None:
                continue
            measured[name] = replace(values[name], uncertainty=about)
            if not kept or name in kept:
                names.append(name)
                columns.append(as_wide(drawn, about.error))
    draws = keep(names, np.stack(columns, axis=1)) if names else None
    return measured, draws


def as_wide(column: Floats, error: float) -> Floats:
    """Replicates rescaled to the reported standard error: near a floor they vary too little."""
    middle, spread = np.nanmean(column), np.nanstd(column, ddof=1)
    return np.asarray(middle + (column - middle) * (error / spread)) if 0 < spread < error else column
