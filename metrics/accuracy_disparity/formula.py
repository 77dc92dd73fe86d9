"""Accuracy disparity (IRIS, metric M2, Table 5): the gap between the most and the least accurate group.

AD = max over g of Acc(g) - min over g of Acc(g). 0 is the same accuracy for every group (ideal), 1 is the largest gap.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairspace.metrics.columns import Bounds, Floats


def accuracy_disparity(
    correct: ArrayLike, wrong: ArrayLike, unmappable: ArrayLike, missing: ArrayLike, minimum: int = 2
) -> Bounds:
    """Gap in accuracy, and its bounds over everything that missing answers could have been.

    Args:
        correct: right answers per group, shape (..., k).
        wrong: wrong answers per group, shape (..., k).
        unmappable: answers that fit no class, or decline to answer, shape (..., k); they are wrong.
        missing: answers that were not handed in, shape (..., k); left out of the value, either for the bounds.
        minimum: a group with fewer samples (missing ones included) is left out; `left_out` names it.

    Returns:
        (value, low, high), each of shape (...), in [0, 1], ideal 0. `value` is nan when fewer than two groups have an
        answer, or when no answer of any group fits a class.

    Raises:
        ValueError: for a negative count or shapes that differ.
    """
    c, w, u, m = checked(correct, wrong, unmappable, missing)
    kept = ~left_out(c, w, u, m, minimum)
    value = np.where((c + w).sum(-1) > 0, accuracy_gap(c, np.where(kept, c + w + u, 0.0)), np.nan)
    samples = np.where(kept, c + w + u + m, 1.0)
    least, most = c / samples, (c + m) / samples
    apart = kept[..., :, None] & kept[..., None, :] & ~np.eye(c.shape[-1], dtype=np.bool_)
    high = np.where(apart, most[..., :, None] - least[..., None, :], 0.0).max((-2, -1), initial=0.0)
    low = _largest(least, kept) + _largest(-most, kept)
    alone = kept.sum(-1) < 2
    low, high = np.where(alone, 0.0, np.maximum(low, 0.0)), np.where(alone, 1.0, high)
    return value[()], np.fmin(low, value), np.fmax(high, value)


def accuracy_gap(correct: Floats, answers: Floats, order: tuple[Floats, Floats] | None = None) -> Floats:
    """AD of right answers among all, both of shape (..., k); nan where fewer than two groups have an answer.

    `order`: right and all answers that say which group is the most and which the least accurate. Other ones than
    those of the gap give AD if both have the same best and worst group, and less otherwise; nan where one of the two
    has no answer.
    """
    right, total = (correct, answers) if order is None else order
    answered = total > 0
    accuracy = right / np.where(answered, total, 1.0)
    if order is None:
        gap = _largest(accuracy, answered) + _largest(-accuracy, answered)
        return np.asarray(np.where(answered.sum(-1) > 1, gap, np.nan))
    best = np.where(answered, accuracy, -np.inf).argmax(-1)[..., None]
    worst = np.where(answered, accuracy, np.inf).argmin(-1)[..., None]
    rates = np.where(answers > 0, correct / np.where(answers > 0, answers, 1.0), np.nan)
    shape = np.broadcast_shapes(best.shape[:-1], rates.shape[:-1])
    ends = [
        np.take_along_axis(np.broadcast_to(rates, (*shape, rates.shape[-1])), np.broadcast_to(at, (*shape, 1)), -1)
        for at in (best, worst)
    ]
    return np.where(np.broadcast_to(answered.sum(-1), shape) > 1, (ends[0] - ends[1])[..., 0], np.nan)


def _largest(column: Floats, places: NDArray[np.bool_]) -> Floats:
    """The largest number of the chosen groups, -inf where none is chosen."""
    return np.asarray(np.where(places, column, -np.inf).max(-1, initial=-np.inf))


def left_out(
    correct: ArrayLike, wrong: ArrayLike, unmappable: ArrayLike, missing: ArrayLike, minimum: int = 2
) -> NDArray[np.bool_]:
    """True for each group of fewer than `minimum` samples. Missing ones count: dropping rows leaves no group out."""
    return np.asarray(sum(checked(correct, wrong, unmappable, missing)) < max(minimum, 1))


def checked(*columns: ArrayLike) -> list[Floats]:
    """The count columns as arrays of one shape (..., k). ValueError otherwise."""
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    if len({array.shape for array in arrays}) != 1 or not arrays[0].ndim:
        raise ValueError(f"counts of shapes {[array.shape for array in arrays]}: one number per group is needed")
    if not all(np.all(array >= 0) for array in arrays):
        raise ValueError("counts must be numbers of at least 0")
    return arrays
