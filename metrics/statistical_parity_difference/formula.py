"""Statistical parity difference (IRIS, metric M3, Table 5): the largest gap in how often one class is answered.

SPD = max over classes c of (max over g of P(answer = c | g) - min over g of P(answer = c | g)); `unmappable` is one of
the classes. 0 is the same answers for every group (ideal), 1 is a class that one group always gets and another never.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def statistical_parity_difference(
    counts: ArrayLike, unmappable: ArrayLike, missing: ArrayLike, minimum: int = 2
) -> tuple[float, float, float]:
    """Largest gap in answer rates, and its bounds over every class that unmappable and missing answers could have been.

    Args:
        counts: answers per group and class, shape (k, c).
        unmappable: answers per group that fit no class, shape (k,); a class of their own for the value.
        missing: answers per group that were not given, shape (k,); left out of the value.
        minimum: a group with fewer samples (missing ones included) is left out; `left_out` names it.

    Returns:
        (value, low, high) in [0, 1], ideal 0. `value` is nan when fewer than two groups have an answer. `high` is the
        exact maximum; `low` is a lower bound (it may free the same answer for several classes at once).

    Raises:
        ValueError: for a negative count or shapes that do not fit.
    """
    n, u, m = checked(counts, unmappable, missing)
    keep = ~left_out(n, u, m, minimum)
    n, u, m = n[keep], u[keep], m[keep]
    answers = n.sum(-1) + u
    seen = answers > 0
    rates = np.column_stack([n, u])[seen] / answers[seen, None]
    value = float(np.ptp(rates, axis=0).max()) if len(rates) > 1 else float("nan")
    if len(n) < 2:
        return value, 0.0, 1.0
    free, total = (u + m)[:, None], (answers + m)[:, None]
    sure = np.column_stack([n, np.zeros_like(u)])
    least, most = sure / total, (sure + free) / total
    gaps = most[:, None, :] - least[None, :, :]
    gaps[np.arange(len(n)), np.arange(len(n))] = 0.0  # a group has no gap to itself
    low, high = max(0.0, float((least.max(0) - most.min(0)).max())), max(0.0, float(gaps.max()))
    return value, float(np.fmin(low, value)), float(np.fmax(high, value))


def left_out(counts: ArrayLike, unmappable: ArrayLike, missing: ArrayLike, minimum: int = 2) -> NDArray[np.bool_]:
    """True for each group of fewer than `minimum` samples. Missing ones count: dropping rows leaves no group out."""
    n, u, m = checked(counts, unmappable, missing)
    return np.asarray(n.sum(-1) + u + m < max(minimum, 1))


def checked(counts: ArrayLike, unmappable: ArrayLike, missing: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """The three count arrays, shapes (k, c), (k,), (k,). ValueError otherwise."""
    n, u, m = (np.asarray(x, dtype=np.float64) for x in (counts, unmappable, missing))
    if n.ndim != 2 or u.shape != n.shape[:1] or m.shape != n.shape[:1]:
        raise ValueError(f"counts {n.shape}, unmappable {u.shape}, missing {m.shape}: (k, c), (k,) and (k,) are needed")
    if not (np.all(n >= 0) and np.all(u >= 0) and np.all(m >= 0)):
        raise ValueError("counts must be numbers of at least 0")
    return n, u, m
