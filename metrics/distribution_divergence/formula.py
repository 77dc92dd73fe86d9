"""Distribution divergence (IRIS, metrics M4 and M5, Table 5): Jensen-Shannon divergence from reference shares.

JSD(p, q) = KL(p || m) / 2 + KL(q || m) / 2 with m = (p + q) / 2 and the natural logarithm: the square of SciPy's
`jensenshannon(p, q)`. 0 is equal to the reference (ideal), ln 2 shares no group with it.
"""

import numpy as np
from numpy.typing import ArrayLike

from fairspace.metrics.columns import Bounds, Floats


def distribution_divergence(
    counts: ArrayLike, reference: ArrayLike, missing: ArrayLike = 0
) -> tuple[Floats, Floats, Floats]:
    """Divergence of the group shares from the reference, and its bounds over all that the missing samples could show.

    Args:
        counts: samples per group, shape (..., k).
        reference: reference shares or percentages per group, shape (..., k); each row is divided by its sum.
        missing: samples without a label, shape (...).

    Returns:
        (value, low, high), each of shape (...), in [0, ln 2], ideal 0. `value` is nan where no sample has a label.
        JSD is convex, so its maximum puts all missing samples on one group; its minimum raises the groups that are
        shortest of their reference share, all to the same multiple of it (where the gradient ln(p/m)/2 is equal).

    Raises:
        ValueError: for a negative count, a reference that is no distribution, or shapes that do not fit.
    """
    c = np.asarray(counts, dtype=np.float64)
    q = np.asarray(reference, dtype=np.float64)
    if c.ndim == 0 or q.ndim == 0 or c.shape[-1] != q.shape[-1]:
        raise ValueError(f"counts of shape {c.shape} and reference of shape {q.shape} must list the same groups")
    if not (np.all(np.isfinite(q)) and np.all(q >= 0) and np.all(q.sum(-1) > 0)):
        raise ValueError("every reference row must hold shares of at least 0 with a sum above 0")
    c, q = np.broadcast_arrays(c, q / q.sum(-1, keepdims=True))
    m = np.broadcast_to(np.asarray(missing, dtype=np.float64), c.shape[:-1])
    if not (np.all(c >= 0) and np.all(m >= 0)):
        raise ValueError("counts and missing must be numbers of at least 0")
    return divergence_bounds(c, q, m)


def divergence_bounds(counts: Floats, q: Floats, missing: Floats) -> Bounds:
    """Divergence of counts from shares q, both of shape (..., k), with its bounds, as `distribution_divergence`."""
    c, valid = counts, counts.sum(-1)
    m = np.where(valid + missing > 0, missing, 1.0)  # nothing expected: the same bounds as for one unknown sample
    total = (valid + m)[..., None]
    with np.errstate(invalid="ignore"):
        value = divergence(c / valid[..., None], q)
    corners = c[..., None, :] + m[..., None, None] * np.eye(c.shape[-1])
    high = divergence(corners / total[..., None], q[..., None, :]).max(-1)
    low = divergence(level(c / total, q, m / total[..., 0]), q)
    return value, np.fmin(low, value), np.fmax(high, value)


def divergence(p: Floats, q: Floats) -> Floats:
    """JSD of shares p and q, shape (..., k), in [0, ln 2]; nan where p is nan."""
    middle = (p + q) / 2
    halves = [
        np.where(x == 0, 0.0, x * np.log(np.where(x == 0, 1.0, x / np.where(middle == 0, 1.0, middle)))) for x in (p, q)
    ]
    return np.asarray(np.clip((halves[0] + halves[1]).sum(-1) / 2, 0.0, np.log(2.0)))


def level(p: Floats, q: Floats, spare: Floats) -> Floats:
    """The shares nearest to q that `spare` added to p can give: max(p, t q) with one t, so that they sum to 1."""
    ratio = np.divide(p, q, out=np.full(p.shape, np.inf), where=q > 0)
    order = np.argsort(ratio, axis=-1)
    filled = np.cumsum(np.take_along_axis(p, order, -1), -1) + spare[..., None]
    t = (filled / np.cumsum(np.take_along_axis(q, order, -1), -1)).min(-1, keepdims=True)
    return np.maximum(p, t * q)
