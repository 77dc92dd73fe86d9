"""Intervals of one value: from draws, from a binomial count, and the record of a value's sampling error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np

from fairspace.metrics.columns import Floats

# Percentile, basic and BCa intervals: Efron and Tibshirani, An Introduction to the Bootstrap, chapters 13 and 14. Exact
# intervals of shares: Korn and Graubard, Confidence intervals for proportions with small expected number of positive
# counts estimated from survey data (Survey Methodology 24, 1998).

Method = Literal["bca", "percentile", "basic", "normal", "bracket", "size", "exact", "score"]
"""Method of the shown interval: bias-corrected and accelerated; percentile; basic (2 value - percentile end); normal
(debiased value ± 1.96 errors); size (1.96 errors below the cross-fitted estimate to 1.96 above the value); exact (share
of clustered answers); score (see `scores.py`); bracket (earlier versions: ± 1.96 errors about the value with and
without its largest bias)."""
METHODS: tuple[Method, ...] = get_args(Method)
LEVEL = 0.95
"""Coverage of an interval unless another is asked for."""
_DIGITS = 7
_NUMBERS = attrgetter("clusters", "resamples", "undefined", "error", "low", "high", "percentile_low", "percentile_high")
_MAY_BE_NONE = attrgetter("debiased", "fair", "fair_high")


@dataclass(frozen=True)
class Uncertainty:
    """The sampling error of one value, all in the value's own unit.

    Args:
        unit: Resampled unit, for example `image of an occupation`.
        undefined: Resamples without a number; the rest make the interval.
        low, high: Ends of the shown 95 % interval, which always holds the value.
        percentile_low, percentile_high: Ends of the percentile interval.
        debiased: Estimate without the bias of few samples; of a size at most the true size, on average.
        fair: Mean of perfectly fair models at this number of samples; None where that is 0 or unknown.
        fair_high: Number that 95 % of such fair models stay below (above for a score that is better when higher).
        note: Limitation of the interval; '' for none.
    """

    unit: str
    clusters: int
    resamples: int
    undefined: int
    error: float
    low: float
    high: float
    method: Method
    percentile_low: float
    percentile_high: float
    debiased: float | None = None
    fair: float | None = None
    fair_high: float | None = None
    note: str = ""

    @property
    def knows_low(self) -> bool:
        """Whether the low end is an estimate; that of a size is 0 where too few halves of its answers have a number."""
        return self.method != "size" or self.debiased is not None

    @property
    def shown_error(self) -> float | None:
        """The standard error beside the interval; None where the interval comes from something else than the draws."""
        return None if self.method in ("exact", "score") else self.error

    def to_json(self) -> dict[str, Any]:
        """JSON data, numbers to seven digits, without empty keys."""
        data = {name: part for name, part in vars(self).items() if part is not None and part != ""}
        return {name: float(f"{part:.{_DIGITS}g}") if type(part) is float else part for name, part in data.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Uncertainty:
        """Read `to_json`'s data. TypeError or ValueError for anything else."""
        loaded = cls(**data)
        stated = [*_NUMBERS(loaded), *(number for number in _MAY_BE_NONE(loaded) if number is not None)]
        if not set(map(type, stated)) <= {int, float} or not all(map(math.isfinite, stated)):
            raise ValueError("an uncertainty with something that is no number")
        counts = (loaded.clusters, loaded.resamples, loaded.undefined)
        if set(map(type, counts)) != {int} or min(counts) < 0 or loaded.undefined > loaded.resamples:
            raise ValueError("an uncertainty with counts that are no counts")
        if loaded.error < 0 or loaded.low > loaded.high or loaded.percentile_low > loaded.percentile_high:
            raise ValueError("an uncertainty with an error below 0, or an interval that ends before it begins")
        if loaded.method not in METHODS or not isinstance(loaded.unit, str) or not isinstance(loaded.note, str):
            expected = f"one of {', '.join(METHODS)}, with unit and note as texts"
            raise ValueError(f"an uncertainty by method {loaded.method!r}: expected {expected}")
        return loaded


Ends = tuple[float, float]
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


def interval(method: Method, value: float, draws: Floats, without: Floats, level: float = LEVEL) -> tuple[Ends, Method]:
    """The interval from draws alone and its method: percentile where BCa is undefined."""
    percentile = percentile_interval(draws, level)
    if method == "bca":
        bca = bca_interval(value, draws, without, level)
        return (percentile, "percentile") if bca is None else (bca, "bca")
    if method == "basic":
        return (2 * value - percentile[1], 2 * value - percentile[0]), method
    if method == "normal":
        half = z_of(level) * spread(draws)
        centre = 2 * value - float(draws.mean())
        return (centre - half, centre + half), method
    return percentile, method


def z_of(level: float) -> float:
    """Quantile of the normal distribution that leaves half of the rest of a level above it."""
    return NormalDist().inv_cdf((1 + level) / 2)


def size_interval(value: float, cross_fitted: float, error: float, level: float = LEVEL) -> Ends:
    """The interval from 1.96 errors below the cross-fitted estimate (0 at least, and if nan) to 1.96 above a value."""
    low = 0.0 if np.isnan(cross_fitted) else max(0.0, cross_fitted - z_of(level) * error)
    return low, value + z_of(level) * error


def share_interval(share: float, error: float, independent: float, clusters: int, level: float = LEVEL) -> Ends:
    """The Clopper-Pearson interval of a share of clustered answers; never a single point.

    The effective sample size is share (1 - share) / error**2, reduced for few clusters (Student's t), and at most
    `independent`, the number of distinct answers.
    """
    from scipy.special import stdtrit  # a tenth of a second, which checking does not need

    effective, end = float(independent), (1 + level) / 2
    if error > 0 and 0 < share < 1 and clusters > 1 and independent > 1:
        degrees = (stdtrit(independent - 1, end) / stdtrit(clusters - 1, end)) ** 2
        effective = min(effective, share * (1 - share) / error**2 * float(degrees))
    return clopper_pearson(share * effective, effective, level)


def clopper_pearson(hits: float, n: float, level: float = LEVEL) -> Ends:
    """The two-sided interval of a share, 0 to 1; (0, 1) for n = 0. `hits` may be fractional (weighted samples)."""
    from scipy.special import betaincinv

    tail, misses = (1 - level) / 2, n - hits
    low = float(betaincinv(hits, misses + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, misses, 1 - tail)) if misses > 0 else 1.0
    return low, high


def least_room(clusters: float, level: float = LEVEL) -> float:
    """Largest part of all that may differ though none of so many clusters does: 1 - .025**(1 / clusters), exactly."""
    return float(1 - ((1 - level) / 2) ** (1 / max(1, clusters)))


def percentile_interval(draws: Floats, level: float = LEVEL) -> Ends:
    """The middle 95 % of the draws, shape (r,), none of them nan."""
    low, high = np.quantile(draws, [(1 - level) / 2, 1 - (1 - level) / 2])
    return float(low), float(high)


def bca_interval(value: float, draws: Floats, without: Floats, level: float = LEVEL) -> Ends | None:
    """The bias-corrected and accelerated interval from (r,) draws and (g,) jackknife values, all without nan.

    None where the value lies outside all draws, where the jackknife has an undefined value, or where nothing varies.
    """
    from scipy.special import ndtr, ndtri

    below = (np.count_nonzero(draws < value) + np.count_nonzero(draws == value) / 2) / len(draws)
    distance = without.mean() - without
    squares = float((distance**2).sum())
    if not 0 < below < 1 or not squares > 0:
        return None
    shift = ndtri(below)
    acceleration = float((distance**3).sum()) / (6 * squares**1.5)
    z = ndtri(np.array([(1 - level) / 2, 1 - (1 - level) / 2]))
    places = ndtr(shift + (shift + z) / (1 - acceleration * (shift + z)))
    if not np.isfinite(places).all() or places[0] >= places[1]:
        return None
    low, high = np.quantile(draws, places)
    return float(low), float(high)


def spread(column: Floats) -> float:
    """Standard deviation of draws; 0 of fewer than two."""
    return float(column.std(ddof=1)) if len(column) > 1 else 0.0
