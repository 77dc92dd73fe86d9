"""Reliability of values over models, from the draws that their results keep.

The same draw of two results is of the same clusters, so half the variance of the differences of their draws is the
error of a comparison, without what the items do to all models alike. What the values vary by beyond this error is the
models: the generalizability coefficient is variance of models / (the same + error), and n times as many samples divide
the error by n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairspace.submissions.results.row import Row
from fairspace.submissions.validity.decision import GOOD

FEWEST = 3
"""Models that a variance is estimated of."""


@dataclass(frozen=True)
class ModelReliability:
    """One value over several models.

    Args:
        value: its name.
        models: that have it, with draws.
        spread: standard deviation between the models, without the error; None where `reason` says why.
        error: standard error of a comparison of two, divided by the root of 2.
        coefficient: how well the models are told apart, 1 at best.
        times: as many samples as there are, times this, make the coefficient .8; None if no number does.
        reason: why there is none; '' if there is.
    """

    value: str
    models: int
    spread: float | None
    error: float | None
    coefficient: float | None
    times: float | None
    reason: str = ""


def model_reliabilities(rows: Sequence[Row], names: Sequence[str]) -> list[ModelReliability]:
    """Of each value that some row keeps draws of."""
    drawn = [
        (row, row.result.draws.columns()) for row in rows if row.result is not None and row.result.draws is not None
    ]
    by_name = {name: [(row, columns[name]) for row, columns in drawn if name in columns] for name in names}
    return [_of_value(name, rows_of) for name, rows_of in by_name.items() if rows_of]


def _of_value(name: str, drawn: Sequence[tuple[Row, np.ndarray]]) -> ModelReliability:
    known = [
        (float(value.value), draws)
        for row, draws in drawn
        if (value := row.values.get(name)) is not None and value.value is not None
    ]
    models = len(known)
    if models < FEWEST:
        reason = f"{models} model{'s' * (models != 1)} with draws; {FEWEST} are needed"
        return ModelReliability(name, models, None, None, None, None, reason)
    shortest = min(len(draws) for _, draws in known)
    table = np.stack([draws[:shortest] for _, draws in known])
    table = table[:, ~np.isnan(table).any(axis=0)]
    if table.shape[1] < 2:
        return ModelReliability(name, models, None, None, None, None, "no draw has a number for all models")
    relative = float((table - table.mean(axis=0)).var(axis=1, ddof=1).sum()) / (models - 1)
    between = float(np.var([value for value, _ in known], ddof=1))
    true = max(0.0, between - relative)
    if not true:
        reason = "the models differ no more than by chance"
        return ModelReliability(name, models, 0.0, relative**0.5, None, None, reason)
    coefficient = true / (true + relative)
    return ModelReliability(name, models, true**0.5, relative**0.5, coefficient, relative / true * GOOD / (1 - GOOD))
