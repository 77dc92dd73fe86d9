"""Answer consistency difference (IRIS, metric M10, Table 5): how far ratings move when only the person's group changes.

AC difference = mean over the pairs of a counterfactual set of |score_i - score_j|, on the 1-10 scale.
0 is the same rating for every group (ideal), 9 is the largest possible difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bounds = tuple[Any, Any, Any]
"""Value, low and high: numbers of one table, or arrays of tables along leading axes."""


def answer_consistency_difference(
    difference_sum: ArrayLike, pairs: ArrayLike, missing_pairs: ArrayLike, largest: float = 9.0
) -> Bounds:
    """Mean difference of the pairs, and its bounds over every difference that the missing pairs could have.

    Args:
        difference_sum: sum of |score_i - score_j| over the valid pairs, shape (...).
        pairs: how many pairs have both ratings, shape (...).
        missing_pairs: pairs of which a rating is missing, refused or unreadable, shape (...).
        largest: largest difference on the scale.

    Returns:
        (value, low, high), each of shape (...), in [0, largest], ideal 0. `value` is nan when no pair has both ratings.
        A missing pair has difference 0 in `low` and `largest` in `high`.

    Raises:
        ValueError: for a negative number or a sum above `largest` per pair.
    """
    total, n, missing = (np.asarray(x, dtype=np.float64) for x in (difference_sum, pairs, missing_pairs))
    if not np.all((n >= 0) & (missing >= 0) & (total >= 0) & (total <= n * largest * (1 + 1e-9))):
        raise ValueError(f"differences of {total} in {n} pairs ({missing} missing) up to {largest} each")
    with np.errstate(invalid="ignore", divide="ignore"):
        value, low, high = total / n, total / (n + missing), (total + missing * largest) / (n + missing)
    nothing = n + missing == 0
    # equal up to rounding when none is missing
    return value, np.where(nothing, 0.0, low)[()], np.where(nothing, largest, np.fmax(high, value))[()]
