"""The trade-off of factuality and fairness: the largest S_E that an S_fact leaves room for, and the distance to it.

Source: FACT-OR-FAIR, Conclusion 1.
"""

from math import log

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from fairspace.metrics.columns import Floats

_GRID, _ROUNDS, _AROUND = 1_000, 13, np.linspace(-1, 1, 11)[:, None]


def accuracy_entropy_bound(a: ArrayLike, k: int) -> Floats:
    """g_k(a) (Conclusion 1): the largest S_E that a model with S_fact = `a` (any shape, in [0, 1]) can reach."""
    x = np.asarray(a, float)
    return np.asarray(-(xlogy(1 - x, (1 - x) / (k - 1)) + xlogy(x, x)) / log(k), float)


def distance(s_fact: ArrayLike, s_e: ArrayLike, k: int) -> Floats:
    """d: the Euclidean distance from (S_fact, S_E) to the curve g_k, the global minimum over a in [0, 1].

    The distance along the curve can have several local minima: every one that a grid of 1/1000 shows is refined by ever
    finer grids.

    Args:
        s_fact: Scores of any shape.
        s_e: Scores of any shape, broadcast with them.
        k: Number of groups.

    Returns:
        0 on the curve (ideal), at most sqrt(2); nan where a score is undefined.
    """
    x, y = np.broadcast_arrays(np.asarray(s_fact, float), np.asarray(s_e, float))
    grid = np.linspace(0, 1, _GRID + 1)
    squares = (x.reshape(-1, 1) - grid) ** 2 + (y.reshape(-1, 1) - accuracy_entropy_bound(grid, k)) ** 2
    valleys = np.ones(squares.shape, bool)
    valleys[:, 1:] &= squares[:, 1:] <= squares[:, :-1]
    valleys[:, :-1] &= squares[:, :-1] <= squares[:, 1:]
    row, place = np.nonzero(valleys)
    nearest, step, least = grid[place], 1 / _GRID, squares[row, place]
    for _ in range(_ROUNDS):
        a = np.clip(nearest + step * _AROUND, 0, 1)
        length = (x.ravel()[row] - a) ** 2 + (y.ravel()[row] - accuracy_entropy_bound(a, k)) ** 2
        best = length.argmin(axis=0), np.arange(len(row))
        nearest, least, step = a[best], length[best], step / (len(_AROUND) // 2)
    shortest = np.full(x.size, np.inf)
    np.minimum.at(shortest, row, least)
    return np.asarray(np.sqrt(np.where(np.isnan(x + y), np.nan, shortest.reshape(x.shape))))
