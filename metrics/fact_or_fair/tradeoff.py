"""The trade-off of factuality and fairness: the largest S_E that an S_fact leaves room for, and the distance to it.

Source: FACT-OR-FAIR, Conclusion 1.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]
_GRID, _STEPS, _GOLDEN = 1_000, 30, (5**0.5 - 1) / 2


def accuracy_entropy_bound(a: ArrayLike, k: int) -> Floats:
    """g_k(a) (Conclusion 1): the largest S_E that a model with S_fact = `a` (any shape, in [0, 1]) can reach."""
    x = np.asarray(a, float)
    return np.asarray(-(xlogy(1 - x, (1 - x) / (k - 1)) + xlogy(x, x)) / log(k), float)


def distance(s_fact: float, s_e: float, k: int) -> float:
    """d: the Euclidean distance from (S_fact, S_E) to the curve g_k, the global minimum over a in [0, 1].

    The distance along the curve can have several local minima: every one that a grid of 1/1000 shows is refined.

    Returns:
        0 on the curve (ideal), at most sqrt(2); nan if a score is undefined.
    """
    if np.isnan(s_fact) or np.isnan(s_e):
        return np.nan
    from scipy.optimize import minimize_scalar  # a fifth of a second, which checking does not need

    def length(a: ArrayLike) -> Floats:
        return np.hypot(s_fact - np.asarray(a, float), s_e - accuracy_entropy_bound(a, k))

    grid = np.linspace(0, 1, _GRID + 1)
    on_grid = length(grid)
    padded = np.pad(on_grid, 1, constant_values=np.inf)
    valleys = np.flatnonzero((on_grid <= padded[:-2]) & (on_grid <= padded[2:]))
    refined = [
        minimize_scalar(length, bounds=(max(grid[i] - 1e-3, 0), min(grid[i] + 1e-3, 1)), options={"xatol": 1e-12}).fun
        for i in valleys
    ]
    return float(min(on_grid.min(), *refined))


def distances(s_fact: ArrayLike, s_e: ArrayLike, k: int) -> Floats:
    """`distance` of many pairs of scores at once, to 1e-8: nearest on a grid, then a golden section beside it."""
    x, y = np.broadcast_arrays(np.asarray(s_fact, float), np.asarray(s_e, float))
    grid = np.linspace(0, 1, _GRID + 1)
    bound = accuracy_entropy_bound(grid, k)
    nearest = ((x[..., None] - grid) ** 2 + (y[..., None] - bound) ** 2).argmin(axis=-1)
    left, right = (np.clip(grid[nearest] + step, 0, 1) for step in (-1 / _GRID, 1 / _GRID))

    def length(a: Floats) -> Floats:
        return np.asarray(np.hypot(x - a, y - accuracy_entropy_bound(a, k)))

    for _ in range(_STEPS):
        lower, upper = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
        nearer = length(lower) < length(upper)
        left, right = np.where(nearer, left, lower), np.where(nearer, upper, right)
    return np.minimum(length((left + right) / 2), length(grid[nearest]))
