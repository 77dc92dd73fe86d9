"""95 % intervals of one value from its draws.

Percentile, basic and BCa intervals: Efron and Tibshirani, An Introduction to the Bootstrap, chapters 13 and 14. Exact
intervals of shares: Korn and Graubard, Confidence intervals for proportions with small expected number of positive
counts estimated from survey data (Survey Methodology 24, 1998).
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.uncertainty import LEVEL, Method

Ends = tuple[float, float]
Z = float(-ndtri((1 - LEVEL) / 2))
_TAIL = (1 - LEVEL) / 2


def interval(method: Method, value: float, draws: Floats, without: Floats) -> tuple[Ends, Method]:
    """The interval from draws alone and its method: percentile where BCa is undefined."""
    percentile = percentile_interval(draws)
    if method == "bca":
        bca = bca_interval(value, draws, without)
        return (percentile, "percentile") if bca is None else (bca, "bca")
    if method == "basic":
        return (2 * value - percentile[1], 2 * value - percentile[0]), method
    if method == "normal":
        half = Z * (float(draws.std(ddof=1)) if len(draws) > 1 else 0.0)
        centre = 2 * value - float(draws.mean())
        return (centre - half, centre + half), method
    return percentile, method


def size_interval(value: float, cross_fitted: float, error: float) -> Ends:
    """1.96 errors below the cross-fitted estimate (0 at least, and if nan) to 1.96 errors above the value."""
    low = 0.0 if np.isnan(cross_fitted) else max(0.0, cross_fitted - Z * error)
    return low, value + Z * error


def share_interval(share: float, error: float, independent: float, clusters: int) -> Ends:
    """The Clopper-Pearson interval of a share of clustered answers; never a single point.

    The effective sample size is share (1 - share) / error**2, reduced for few clusters (Student's t), and at most
    `independent`, the number of distinct answers.
    """
    effective = float(independent)
    if error > 0 and 0 < share < 1 and clusters > 1 and independent > 1:
        degrees = (stdtrit(independent - 1, 1 - _TAIL) / stdtrit(clusters - 1, 1 - _TAIL)) ** 2
        effective = min(effective, share * (1 - share) / error**2 * float(degrees))
    right, wrong = share * effective, (1 - share) * effective
    low = float(betaincinv(right, wrong + 1, _TAIL)) if right > 0 else 0.0
    high = float(betaincinv(right + 1, wrong, 1 - _TAIL)) if wrong > 0 else 1.0
    return low, high


def least_room(clusters: int) -> float:
    """Largest part of all that may differ though none of so many clusters does: 1 - .025**(1 / clusters), exactly."""
    return float(1 - _TAIL ** (1 / max(1, clusters)))


def percentile_interval(draws: Floats) -> Ends:
    """The middle 95 % of the draws, shape (r,), none of them nan."""
    low, high = np.quantile(draws, [_TAIL, 1 - _TAIL])
    return float(low), float(high)


def bca_interval(value: float, draws: Floats, without: Floats) -> Ends | None:
    """The bias-corrected and accelerated interval from (r,) draws and (g,) jackknife values, all without nan.

    None where the value lies outside all draws, where the jackknife has an undefined value, or where nothing varies.
    """
    below = (np.count_nonzero(draws < value) + np.count_nonzero(draws == value) / 2) / len(draws)
    distance = without.mean() - without
    spread = float((distance**2).sum())
    if not 0 < below < 1 or not spread > 0:
        return None
    shift = ndtri(below)
    acceleration = float((distance**3).sum()) / (6 * spread**1.5)
    z = ndtri(np.array([_TAIL, 1 - _TAIL]))
    places = ndtr(shift + (shift + z) / (1 - acceleration * (shift + z)))
    if not np.isfinite(places).all() or places[0] >= places[1]:
        return None
    low, high = np.quantile(draws, places)
    return float(low), float(high)


def clopper_pearson(hits: float, n: float) -> tuple[float, float]:
    """The two-sided interval of a share, 0 to 1; (0, 1) for n = 0. `hits` may be fractional (weighted samples)."""
    tail = (1 - LEVEL) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high
