"""Stereotype drift (IRIS, metric M6, Table 5): which way wrong answers drift in the real-world share of one group.

SDS(g) = mean over the wrong answers of P_real(g | predicted) - P_real(g | true), in [-1, 1]. 0 is no drift (ideal in
Algorithm 1), above 0 the errors lead to occupations where g is more common. The score uses its absolute value.
"""

import numpy as np
from numpy.typing import ArrayLike

from fairspace.metrics.columns import Bounds, Floats


def stereotype_drift(
    drift: ArrayLike,
    counts: ArrayLike,
    possible_low: ArrayLike = (),
    possible_high: ArrayLike = (),
    possible_counts: ArrayLike = (),
) -> Bounds:
    """Mean drift of the wrong answers, and its bounds over everything that the uncertain answers could have been.

    An uncertain answer may be right (then it is no part of the mean) or wrong with any drift in its interval.

    Args:
        drift: P_real(g | predicted) - P_real(g | true) of each kind of wrong answer, shape (m,), in [-1, 1].
        counts: Answers of that kind, shape (..., m).
        possible_low: smallest drift that each kind of uncertain answer could have, shape (j,).
        possible_high: largest drift that it could have, shape (j,).
        possible_counts: Answers of that kind, shape (..., j).

    Returns:
        (value, low, high), each of shape (...), signed, in [-1, 1]. `value` is nan when no answer is wrong: a mean over
        nothing. `low` and `high` are the exact extremes over all completions that have a wrong answer; nan when none
        has one.

    Raises:
        ValueError: for a negative count, an interval that is upside down, or shapes that differ.
    """
    d, n = kinds(drift, counts=counts)
    least, most, free = kinds(possible_low, possible_high, counts=possible_counts)
    if not (np.all(n >= 0) and np.all(free >= 0)):
        raise ValueError("counts must be numbers of at least 0")
    if not (np.all(np.abs(d) <= 1) and np.all(least >= -1) and np.all(least <= most) and np.all(most <= 1)):
        raise ValueError("a drift must lie in [-1, 1], and possible_low must not exceed possible_high")
    return drift_bounds(np.asarray(n @ d), np.asarray(n.sum(-1)), least, most, free)


def drift_bounds(total: Floats, wrong: Floats, least: Floats, most: Floats, free: Floats) -> Bounds:
    """SDS of summed drifts and wrong answers, (...), with its bounds over uncertain answers, as `stereotype_drift`."""
    low, high = -largest_mean(-total, wrong, -least, free), largest_mean(total, wrong, most, free)
    return mean_drift(total, wrong)[()], low[()], high[()]


def mean_drift(total: Floats, wrong: Floats) -> Floats:
    """SDS of the summed drifts of wrong answers and their number, both of shape (...); nan where no answer is wrong."""
    return np.asarray(total / np.where(wrong > 0, wrong, np.nan))


def largest_mean(total: Floats, wrong: Floats, drift: Floats, counts: Floats) -> Floats:
    """The largest mean that adding some of the drifts can give: the largest are added first, while the mean grows."""
    order = np.argsort(-drift, kind="stable")
    added = drift[order] * counts[..., order]
    totals = np.concatenate([total[..., None], total[..., None] + np.cumsum(added, -1)], axis=-1)
    answers = np.concatenate([wrong[..., None], wrong[..., None] + np.cumsum(counts[..., order], -1)], axis=-1)
    return np.asarray(np.fmax.reduce(mean_drift(totals, answers), axis=-1))


def absolute_drift(value: ArrayLike, low: ArrayLike, high: ArrayLike) -> Bounds:
    """|SDS| with its bounds, as the score uses it: the least absolute value is 0 if the interval contains 0."""
    v, least, most = (np.asarray(x, dtype=np.float64) for x in (value, low, high))
    sizes = np.abs(least), np.abs(most)
    crosses = (least <= 0) & (most >= 0)
    return np.abs(v), np.where(crosses, 0.0, np.minimum(*sizes))[()], np.maximum(*sizes)


def kinds(*columns: ArrayLike, counts: ArrayLike) -> list[Floats]:
    """The columns of shape (m,) and the counts of shape (..., m) as arrays. ValueError if their lengths differ."""
    arrays = [np.asarray(column, dtype=np.float64) for column in (*columns, counts)]
    lengths = {array.shape[-1:] for array in arrays}
    if len(lengths) != 1 or not all(array.ndim == 1 for array in arrays[:-1]):
        raise ValueError(f"columns of shapes {[array.shape for array in arrays]}: one length is needed")
    return arrays
