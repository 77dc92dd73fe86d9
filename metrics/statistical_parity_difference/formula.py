"""Statistical parity difference (IRIS, metric M3, Table 5): the largest gap in how often one class is answered.

SPD = max over classes c of (max over g of P(answer = c | g) - min over g of P(answer = c | g)); answers that fit no
class, and refusals, are classes of their own. 0 is the same answers for every group (ideal), 1 is a class that one
group always gets and another never.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairspace.metrics.columns import Bounds, Floats


def statistical_parity_difference(
    counts: ArrayLike, unmappable: ArrayLike, missing: ArrayLike, minimum: int = 2, refused: ArrayLike | None = None
) -> Bounds:
    """Largest gap in answer rates, and its bounds over every class that missing answers could have been.

    Args:
        counts: answers per group and class, shape (..., k, c).
        unmappable: answers per group that fit no class, shape (..., k); a class of their own.
        missing: answers per group that were not handed in, shape (..., k); left out of the value.
        minimum: a group with fewer samples (missing ones included) is left out; `left_out` names it.
        refused: answers per group that decline, shape (..., k); a class of their own. None: none does.

    Returns:
        (value, low, high), each of shape (...), in [0, 1], ideal 0. `value` is nan when fewer than two groups have an
        answer, or when no answer of any group fits a class. `high` is the exact maximum; `low` is
        a lower bound (it may free the same answer for several classes at once).

    Raises:
        ValueError: for a negative count or shapes that do not fit.
    """
    n, u, m = checked(counts, unmappable, missing)
    r = np.zeros_like(u) if refused is None else checked(n, refused, m)[1]
    kept = ~left_out(n, u + r, m, minimum)
    sure = np.stack([*np.moveaxis(n, -1, 0), u, r], axis=-1)
    value = np.where(n.sum((-2, -1)) > 0, rate_gap(np.where(kept[..., None], sure, 0.0)), np.nan)
    free, samples = m[..., None], np.where(kept, sure.sum(-1) + m, 1.0)[..., None]
    least, most = sure / samples, (sure + free) / samples
    apart = kept[..., :, None] & kept[..., None, :] & ~np.eye(u.shape[-1], dtype=np.bool_)
    gaps = np.where(apart[..., None], most[..., :, None, :] - least[..., None, :, :], 0.0)
    low = (_largest(least, kept) + _largest(-most, kept)).max(-1)
    alone = kept.sum(-1) < 2
    low, high = np.where(alone, 0.0, np.maximum(low, 0.0)), np.where(alone, 1.0, gaps.max((-3, -2, -1), initial=0.0))
    return value[()], np.fmin(low, value), np.fmax(high, value)


def rate_gap(counts: Floats, order: Floats | None = None) -> Floats:
    """SPD of answers per group and class, shape (..., k, c); nan where fewer than two groups have an answer.

    `order`, (..., k, c): answers that say the class, and its two groups. Other ones than `counts` give SPD if both
    have the same class and groups at its ends, and less otherwise; nan where one of the two has no answer.
    """
    rates, answered = _rates(counts if order is None else order)
    if order is None:
        gap = (_largest(rates, answered) + _largest(-rates, answered)).max(-1)
        return np.asarray(np.where(answered.sum(-1) > 1, gap, np.nan))
    defined, there = _rates(counts)
    defined = np.where(there[..., None], defined, np.nan)
    highest = np.where(answered[..., None], rates, -np.inf)
    lowest = np.where(answered[..., None], rates, np.inf)
    widest = (highest.max(-2) - lowest.min(-2)).argmax(-1)[..., None]
    shape = np.broadcast_shapes(widest.shape[:-1], defined.shape[:-2])
    column = np.take_along_axis(
        np.broadcast_to(defined, (*shape, *defined.shape[-2:])), np.broadcast_to(widest[..., None], (*shape, 1, 1)), -1
    )[..., 0]
    ends = [
        np.take_along_axis(column, np.broadcast_to(np.take_along_axis(group, widest, -1), (*shape, 1)), -1)[..., 0]
        for group in (highest.argmax(-2), lowest.argmin(-2))
    ]
    return np.where(np.broadcast_to(answered.sum(-1), shape) > 1, ends[0] - ends[1], np.nan)


def _rates(counts: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """(..., k, c) the rate of each class in each group, and whether the group has an answer."""
    answers = counts.sum(-1)
    answered = answers > 0
    return counts / np.where(answered, answers, 1.0)[..., None], answered


def _largest(rates: Floats, places: NDArray[np.bool_]) -> Floats:
    """The largest rate of each class over the chosen groups, -inf where none is chosen."""
    return np.asarray(np.where(places[..., None], rates, -np.inf).max(-2, initial=-np.inf))


def left_out(counts: ArrayLike, unmappable: ArrayLike, missing: ArrayLike, minimum: int = 2) -> NDArray[np.bool_]:
    """True for each group of fewer than `minimum` samples. Missing ones count: dropping rows leaves no group out."""
    n, u, m = checked(counts, unmappable, missing)
    return np.asarray(n.sum(-1) + u + m < max(minimum, 1))


def checked(counts: ArrayLike, unmappable: ArrayLike, missing: ArrayLike) -> Bounds:
    """The three count arrays, shapes (..., k, c), (..., k), (..., k). ValueError otherwise."""
    n, u, m = (np.asarray(x, dtype=np.float64) for x in (counts, unmappable, missing))
    if n.ndim < 2 or u.shape != n.shape[:-1] or m.shape != n.shape[:-1]:
        shapes = f"counts {n.shape}, unmappable {u.shape}, missing {m.shape}"
        raise ValueError(f"{shapes}: (..., k, c), (..., k) and (..., k) are needed")
    if not (np.all(n >= 0) and np.all(u >= 0) and np.all(m >= 0)):
        raise ValueError("counts must be numbers of at least 0")
    return n, u, m
