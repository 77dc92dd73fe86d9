"""Stereotype drift (IRIS, metric M6, Table 5): which way wrong answers drift in the real-world share of one group.

SDS(g) = mean over the wrong answers of P_real(g | predicted) - P_real(g | true), in [-1, 1]. 0 is no drift (ideal in
Algorithm 1), above 0 the errors lead to occupations where g is more common. The score uses its absolute value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
NAN = float("nan")


def stereotype_drift(
    drift: ArrayLike,
    counts: ArrayLike,
    possible_low: ArrayLike = (),
    possible_high: ArrayLike = (),
    possible_counts: ArrayLike = (),
) -> tuple[float, float, float]:
    """Mean drift of the wrong answers, and its bounds over everything that the uncertain answers could have been.

    An uncertain answer may be right (then it is no part of the mean) or wrong with any drift in its interval.

    Args:
        drift: P_real(g | predicted) - P_real(g | true) of each kind of wrong answer, shape (m,), in [-1, 1].
        counts: how many answers are of that kind, shape (m,).
        possible_low: smallest drift that each kind of uncertain answer could have, shape (j,).
        possible_high: largest drift that it could have, shape (j,).
        possible_counts: how many answers are of that kind, shape (j,).

    Returns:
        (value, low, high), signed, in [-1, 1]. `value` is nan when no answer is wrong: a mean over nothing. `low` and
        `high` are the exact extremes over all completions that have a wrong answer; nan when none has one.

    Raises:
        ValueError: for a negative count, an interval that is upside down, or shapes that differ.
    """
    d, n = same_shape(drift, counts)
    least, most, free = same_shape(possible_low, possible_high, possible_counts)
    if not (np.all(n >= 0) and np.all(free >= 0)):
        raise ValueError("counts must be numbers of at least 0")
    if not (np.all(np.abs(d) <= 1) and np.all(least >= -1) and np.all(least <= most) and np.all(most <= 1)):
        raise ValueError("a drift must lie in [-1, 1], and possible_low must not exceed possible_high")
    total, weight = float(d @ n), float(n.sum())
    value = total / weight if weight else NAN
    least, most, free = least[free > 0], most[free > 0], free[free > 0]
    return value, -largest_mean(-total, weight, -least, free), largest_mean(total, weight, most, free)


def largest_mean(total: float, weight: float, drift: Floats, counts: Floats) -> float:
    """The largest mean that adding some of the drifts can give: the largest are added first, while the mean grows."""
    order = np.argsort(-drift, kind="stable")
    totals = np.concatenate([[total], total + np.cumsum(drift[order] * counts[order])])
    weights = np.concatenate([[weight], weight + np.cumsum(counts[order])])
    reached = weights > 0
    return float((totals[reached] / weights[reached]).max()) if reached.any() else NAN


def absolute_drift(value: float, low: float, high: float) -> tuple[float, float, float]:
    """|SDS| with its bounds, as the score uses it: the least absolute value is 0 if the interval contains 0."""
    sizes = abs(low), abs(high)
    return abs(value), 0.0 if low <= 0 <= high else min(sizes), max(sizes)


def same_shape(*columns: ArrayLike) -> list[Floats]:
    """The columns as arrays of one shape (m,). ValueError otherwise."""
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 1:
        raise ValueError(f"columns of shapes {[array.shape for array in arrays]}: one length is needed")
    return arrays
