"""The variance of a rate between groups, without the part that sampling error makes (Lum, Zhang and Bower 2022).

The sample variance of K groups' rates is too large by the mean of their sampling variances:

    V = sum over g of (p_g - mean p)² / (K - 1) - mean over g of var(p_g)        var(p_g) = p_g (1 - p_g) / (n_g - 1)

So V is right on average, and 0 on average where all groups are alike: about half of such estimates are negative, and
they stay negative, as cutting them at 0 would bring the bias back. With n_g - 1 in place of the paper's n_g it is
unbiased exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairspace.metrics.columns import Floats


def between_group_variance(values: ArrayLike, variances: ArrayLike) -> Any:
    """V of values that were measured independently.

    Args:
        values: one per group, shape (..., k): rates, means. nan: a group without one, which is left out.
        variances: Variance of the sampling error of each, shape (..., k), unbiased.

    Returns:
        Shape (...). 0 is ideal; a negative estimate says that the groups differ less than their sampling errors. nan
        where fewer than two groups have a value, or one of these has no variance.

    Raises:
        ValueError: for shapes that differ, or a negative variance.
    """
    v, error = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    if v.shape != error.shape or not v.ndim:
        raise ValueError(f"values {v.shape} and variances {error.shape}: one number per group is needed")
    if (error < 0).any():
        raise ValueError("variances must be numbers of at least 0")
    given = ~np.isnan(v)
    return (plain_variance(v) - _mean(error, given))[()]


def plain_variance(values: ArrayLike) -> Any:
    """The sample variance of the values of groups, shape (..., k); nan where fewer than two groups have one."""
    v = np.asarray(values, np.float64)
    given = ~np.isnan(v)
    k = given.sum(axis=-1)
    squares = np.where(given, (v - _mean(v, given)[..., None]) ** 2, 0.0).sum(axis=-1)
    return np.where(k > 1, squares / np.maximum(k - 1, 1), np.nan)[()]


def rate_variance(rates: ArrayLike, samples: ArrayLike) -> Floats:
    """The unbiased variance of rates' sampling error, p (1 - p) / (n - 1); nan for fewer than two samples."""
    p, n = np.asarray(rates, np.float64), np.asarray(samples, np.float64)
    return np.asarray(np.where(n > 1, p * (1 - p) / np.maximum(n - 1, 1), np.nan))


def _mean(numbers: Floats, given: NDArray[np.bool_]) -> Floats:
    """The mean over the given groups; nan where there is none."""
    k = given.sum(axis=-1)
    total = np.where(given, numbers, 0.0).sum(axis=-1)
    return np.asarray(np.where(k > 0, total / np.maximum(k, 1), np.nan))
