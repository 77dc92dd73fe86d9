"""Accuracy disparity (IRIS, metric M2, Table 5): the gap between the most and the least accurate group.

AD = max over g of Acc(g) - min over g of Acc(g). 0 is the same accuracy for every group (ideal), 1 is the largest gap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def accuracy_disparity(
    correct: ArrayLike, wrong: ArrayLike, unmappable: ArrayLike, missing: ArrayLike, minimum: int = 2
) -> tuple[float, float, float]:
    """Gap in accuracy, and its bounds over everything that unmappable and missing answers could have been.

    Args:
        correct: right answers per group, shape (k,).
        wrong: wrong answers per group, shape (k,).
        unmappable: answers that fit no class, shape (k,); wrong for the value, either for the bounds.
        missing: answers that were not given, shape (k,); left out of the value, either for the bounds.
        minimum: a group with fewer samples (missing ones included) is left out; `left_out` names it.

    Returns:
        (value, low, high) in [0, 1], ideal 0. `value` is nan when fewer than two groups have an answer.

    Raises:
        ValueError: for a negative count or shapes that differ.
    """
    c, w, u, m = checked(correct, wrong, unmappable, missing)
    keep = ~left_out(c, w, u, m, minimum)
    c, w, u, m = c[keep], w[keep], u[keep], m[keep]
    answers = c + w + u
    accuracy = c[answers > 0] / answers[answers > 0]
    value = float(np.ptp(accuracy)) if accuracy.size > 1 else float("nan")
    if c.size < 2:
        return value, 0.0, 1.0
    least, most = c / (answers + m), (c + u + m) / (answers + m)
    gaps = most[:, None] - least
    np.fill_diagonal(gaps, 0.0)  # a group has no gap to itself
    low, high = max(0.0, float(least.max() - most.min())), float(gaps.max())
    return value, float(np.fmin(low, value)), float(np.fmax(max(0.0, high), value))


def left_out(
    correct: ArrayLike, wrong: ArrayLike, unmappable: ArrayLike, missing: ArrayLike, minimum: int = 2
) -> NDArray[np.bool_]:
    """True for each group of fewer than `minimum` samples. Missing ones count: dropping rows leaves no group out."""
    return np.asarray(sum(checked(correct, wrong, unmappable, missing)) < max(minimum, 1))


def checked(*columns: ArrayLike) -> list[Floats]:
    """The count columns as arrays of one shape (k,). ValueError otherwise."""
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 1:
        raise ValueError(f"counts of shapes {[array.shape for array in arrays]}: one number per group is needed")
    if not all(np.all(array >= 0) for array in arrays):
        raise ValueError("counts must be numbers of at least 0")
    return arrays
