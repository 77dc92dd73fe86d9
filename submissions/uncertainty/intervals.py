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
    """The interval of a kind that draws alone make, and its kind: percentile where BCa is not defined."""
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
    """The interval of a size, from 1.96 errors below its cross-fitted estimate to 1.96 above the value.

    It begins at 0 at least, and there if the estimate is nan.
    """
    low = 0.0 if np.isnan(cross_fitted) else max(0.0, cross_fitted - Z * error)
    return low, value + Z * error


def share_interval(share: float, error: float, independent: float, clusters: int) -> Ends:
    """The interval of a share of answers that come in clusters, exact in the sense of Clopper and Pearson.

    The share has as many independent answers as would give its error, share (1 - share) / error**2, less what the
    error of few clusters is unsure of (Student's t); and never more than it has in fact. So an interval of a share of 0
    or 1 is never a single point.

    Args:
        share: from 0 to 1.
        error: its standard error over clusters.
        independent: how many independent answers there are at most; equal ones to one question are one answer.
        clusters: of the bootstrap.
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
    """How large a part of all can differ though none of so many clusters does: 1 - .025**(1 / clusters), exactly."""
    return float(1 - _TAIL ** (1 / max(1, clusters)))


def percentile_interval(draws: Floats) -> Ends:
    """The middle 95 % of the draws, shape (r,), none of them nan."""
    low, high = np.quantile(draws, [_TAIL, 1 - _TAIL])
    return float(low), float(high)


def bca_interval(value: float, draws: Floats, without: Floats) -> Ends | None:
    """Bias-corrected and accelerated; None where it is not defined.

    Args:
        value: of the sample.
        draws: (r,) of resamples, none of them nan.
        without: (g,) of the sample without one group of clusters each.

    It is undefined where the value lies outside all draws (at the end of its range, say), where the jackknife has a
    value without a number, or where nothing varies.
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
    """The ends of the two-sided interval of a share, 0 to 1; (0, 1) for n = 0.

    Args:
        hits: how often it was so; need be no whole number where the samples are weighted.
        n: of how many.
    """
    tail = (1 - LEVEL) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high
