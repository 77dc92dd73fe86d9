"""Representation disparity (IRIS, metric M1, Table 5): how unevenly the samples are spread over the groups.

RD = sum over i < j of |p_i - p_j|, divided by k - 1, over all k possible groups. 0 is uniform (ideal), 1 is one-hot.
"""

import numpy as np
from numpy.typing import ArrayLike

from fairspace.metrics.columns import Floats, divide, mean_of_defined


def representation_disparity(counts: ArrayLike, missing: ArrayLike = 0) -> tuple[Floats, Floats, Floats]:
    """Disparity of the group shares, and its bounds over every group that the missing samples could show.

    Args:
        counts: samples per group, shape (..., k), k >= 2; a group that was never seen counts 0.
        missing: samples without a label, shape (...).

    Returns:
        (value, low, high), each of shape (...), in [0, 1], ideal 0. `value` is nan where no sample has a label.
        RD is convex, so its maximum puts all missing samples on one group; its minimum fills the smallest groups up
        to one level. Shares, not whole samples, are moved: only so the value itself always lies in between.

    Raises:
        ValueError: for fewer than two groups or a negative count.
    """
    c = np.asarray(counts, dtype=np.float64)
    if c.ndim == 0 or c.shape[-1] < 2:
        raise ValueError(f"counts of shape {c.shape}: representation disparity needs at least two groups")
    m = np.broadcast_to(np.asarray(missing, dtype=np.float64), c.shape[:-1])
    if not (np.all(c >= 0) and np.all(m >= 0)):
        raise ValueError("counts and missing must be numbers of at least 0")
    valid = c.sum(-1)
    m = np.where(valid + m > 0, m, 1.0)  # nothing expected: the same bounds as for one unknown sample
    total = (valid + m)[..., None]
    with np.errstate(invalid="ignore"):
        value = disparity(c / valid[..., None])
    corners = c[..., None, :] + m[..., None, None] * np.eye(c.shape[-1])
    high = disparity(corners / total[..., None]).max(-1)
    low = disparity(level(c / total, m / total[..., 0]))
    return value, np.fmin(low, value), np.fmax(high, value)


def disparity(p: Floats, order: Floats | None = None) -> Floats:
    """RD of shares p, shape (..., k). In order, the step from the t-th to the next share parts t (k - t) pairs.

    `order`, (..., k): numbers that say the order of the groups. RD if p has that order, and less otherwise.
    """
    k = p.shape[-1]
    t = np.arange(1, k)
    rising = np.sort(p, -1)
    if order is not None:
        shares, ranks = np.broadcast_arrays(p, np.argsort(order, -1))
        rising = np.take_along_axis(shares, ranks, -1)
    return np.asarray((np.diff(rising) * (t * (k - t))).sum(-1) / (k - 1))


def mean_disparity(counts: Floats, order: Floats | None = None) -> Floats:
    """Mean RD of (..., occupations, k) counts over the occupations that have some; nan where none has.

    `order`: counts of the same shape that say the order of the groups, as in `disparity`.
    """
    shares = divide(counts, counts.sum(-1, keepdims=True))
    ranks = None if order is None else divide(order, order.sum(-1, keepdims=True))
    return mean_of_defined(disparity(shares, ranks))


def level(p: Floats, spare: Floats) -> Floats:
    """The most even shares that `spare` added to p can give: every group below one level is filled up to it."""
    levels = (np.cumsum(np.sort(p, -1), -1) + spare[..., None]) / np.arange(1, p.shape[-1] + 1)
    return np.maximum(p, levels.min(-1, keepdims=True))
