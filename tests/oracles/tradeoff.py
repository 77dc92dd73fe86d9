"""The distance d from a point to FACT-OR-FAIR's trade-off curve (Conclusion 1), by SciPy's root finder."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq


def nearest(fact: float, fair: float, k: int) -> float:
    """The smallest distance to the curve g_k: at an end, or where the slope of the squared distance is 0."""
    if math.isnan(fact) or math.isnan(fair):
        return math.nan

    def bound(a: float) -> float:
        terms = [(1 - a, (1 - a) / (k - 1)), (a, a)]
        return -sum(x * math.log(y) for x, y in terms if x > 0) / math.log(k)

    def slope(a: float) -> float:
        rise = (math.log((1 - a) / (k - 1)) - math.log(a)) / math.log(k)
        return (a - fact) + (bound(a) - fair) * rise

    ends = np.concatenate(
        [10.0 ** -np.arange(300, 4, -1.0), np.linspace(1e-4, 1 - 1e-4, 4001), 1 - 10.0 ** -np.arange(5.0, 16)]
    )
    signs = [slope(a) for a in ends]
    roots = [
        brentq(slope, a, b, xtol=1e-300, rtol=1e-15)
        for a, b, left, right in zip(ends, ends[1:], signs, signs[1:], strict=False)
        if left * right <= 0
    ]
    return min(math.hypot(fact - a, fair - bound(a)) for a in (0.0, 1.0, *roots))
