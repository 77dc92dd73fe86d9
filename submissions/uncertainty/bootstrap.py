"""The bootstrap of a design: seeded resamples of its clusters within their strata, and intervals from them.

Percentile and BCa intervals: Efron and Tibshirani, An Introduction to the Bootstrap, chapters 13 and 14; the
acceleration comes from a jackknife that leaves out a group of clusters at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, ndtri

from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Times
from fairspace.submissions.uncertainty.uncertainty import LEVEL, Method, Uncertainty

RESAMPLES = 1_000
SEED = 0
GROUPS = 100
"""Groups of clusters that the jackknife leaves out, one at a time."""
MOST_UNDEFINED = 0.2
"""With a larger share of resamples without a number, a value has no interval."""
TIED = 1 + 2**0.5
"""Largest bias of a size (a gap, a norm, a maximum of such), in biases that its draws show.

Where groups are exactly alike the value is all noise, |e|, and a draw has the noise twice, |e + e*|: on average sqrt(2)
times as large. The bias is the whole value then, and the draws show sqrt(2) - 1 of it. Where no groups are alike,
the bias is 0, and it is never below: a size is convex.
"""
_CHUNK = 50
"""Resamples that are made at a time; the draws of a chunk have a generator of their own."""


def draw(design: Design, resamples: int, seed: int = SEED) -> Floats:
    """(resamples, m) values of resampled clusters, nan where a resample has no number."""
    replicates = [design.statistic(times) for times in _times(design, resamples, seed)]
    draws = np.concatenate(replicates) if replicates else np.empty((0, len(design.names)))
    return _about_corrected(design, draws, seed) if design.corrected else draws


def _about_corrected(design: Design, draws: Floats, seed: int) -> Floats:
    """The draws (r, m), those of values that are corrected for bias about the value, with the error that is left."""
    value = design.statistic(np.ones((1, len(design.strata)), np.float32))[0]
    shared = np.random.default_rng([seed, 3, *_words(design.task)]).standard_normal(len(draws))
    for place, name in enumerate(design.names):
        if name in design.corrected and np.isfinite(draws[:, place]).any():
            moved = draws[:, place] + value[place] - np.nanmean(draws[:, place])
            draws[:, place] = np.clip(moved + design.corrected[name] * shared, *design.limits[name])
    return draws


def _times(design: Design, resamples: int, seed: int) -> Iterator[Times]:
    order = np.argsort(design.strata, kind="stable")
    sizes = np.bincount(design.strata)
    size = np.repeat(sizes, sizes).astype(np.float32)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    n = len(order)
    for number, first in enumerate(range(0, resamples, _CHUNK)):
        rows = min(_CHUNK, resamples - first)
        rng = np.random.default_rng([seed, *_words(design.task), number])
        # a float below 1 times a size may round to the size itself
        place = np.minimum((rng.random((rows, n), np.float32) * size).astype(np.int64), size.astype(np.int64) - 1)
        place += start + np.arange(rows)[:, None] * n
        times = np.empty((rows, n), np.float32)
        times[:, order] = np.bincount(place.ravel(), minlength=rows * n).reshape(rows, n)
        yield times


def _words(task: str) -> list[int]:
    return list(hashlib.sha256(task.encode()).digest()[:8])


def jackknife(design: Design, seed: int = SEED) -> Floats:
    """(g, m) values without one group of clusters each; every group has its share of every stratum."""
    groups = _groups(design.strata, seed)
    times = np.ones((int(groups.max(initial=-1)) + 1, len(groups)), np.float32)
    times[groups, np.arange(len(groups))] = 0
    return design.statistic(times)


def _groups(strata: Integers, seed: int) -> Integers:
    """Which group leaves out each cluster: dealt out in a random order, stratum by stratum."""
    rng = np.random.default_rng([seed, 1])
    shuffled = np.lexsort((rng.random(len(strata)), strata))
    groups = np.empty(len(strata), np.int64)
    groups[shuffled] = np.arange(len(strata)) % min(GROUPS, len(strata))
    return groups


def uncertainties(design: Design, draws: Floats, seed: int = SEED) -> dict[str, Uncertainty]:
    """The uncertainty of each value of a design that has a number and enough resamples with one.

    An interval about a debiased estimate may end short of the value itself; the one that is shown is extended to it.

    Args:
        design: of the values.
        draws: (resamples, m) by `draw`.
        seed: of the jackknife's groups and of the fair models.
    """
    value = design.statistic(np.ones((1, len(design.strata)), np.float32))[0]
    without = jackknife(design, seed)
    fair = None
    if design.fair is not None:
        fair = design.fair(np.random.default_rng([seed, 2, *_words(design.task)]), len(draws))
    intervals = {}
    for place, name in enumerate(design.names):
        replicates = draws[:, place][~np.isnan(draws[:, place])]
        undefined = len(draws) - len(replicates)
        if np.isnan(value[place]) or not len(replicates) or undefined > MOST_UNDEFINED * len(draws):
            continue
        low, high = design.limits.get(name, (-np.inf, np.inf))
        percentile = percentile_interval(replicates)
        ends, method = interval(design.intervals.get(name, "bca"), float(value[place]), replicates, without[:, place])
        models = None if fair is None else fair[:, place][~np.isnan(fair[:, place])]
        has_fair = models is not None and models.size > 0
        fair_high = _bound(models, name in design.higher) if models is not None and has_fair else None
        if name in design.tested and fair_high is not None and value[place] <= fair_high:
            ends = (min(ends[0], 0.0), ends[1])
        shown = [float(np.clip(end, low, high)) for end in ends]
        shown = [min(shown[0], float(value[place])), max(shown[1], float(value[place]))]
        intervals[name] = Uncertainty(
            unit=design.unit,
            clusters=len(design.strata),
            resamples=len(draws),
            undefined=undefined,
            error=float(replicates.std(ddof=1)) if len(replicates) > 1 else 0.0,
            low=shown[0],
            high=shown[1],
            method=method,
            percentile_low=percentile[0],
            percentile_high=percentile[1],
            debiased=float(np.clip(2 * value[place] - replicates.mean(), low, high)) if name in design.biased else None,
            fair=float(models.mean()) if models is not None and has_fair else None,
            fair_high=fair_high,
            note=design.notes.get(name, ""),
        )
    return intervals


def interval(method: Method, value: float, draws: Floats, without: Floats) -> tuple[tuple[float, float], Method]:
    """The interval that is shown and how it was made: percentile where BCa is not defined."""
    percentile = percentile_interval(draws)
    if method == "bca":
        bca = bca_interval(value, draws, without)
        return (percentile, "percentile") if bca is None else (bca, "bca")
    if method == "basic":
        return (2 * value - percentile[1], 2 * value - percentile[0]), method
    if method == "normal":
        half = float(-ndtri((1 - LEVEL) / 2) * draws.std(ddof=1)) if len(draws) > 1 else 0.0
        centre = 2 * value - float(draws.mean())
        return (centre - half, centre + half), method
    if method == "bracket":
        half = float(-ndtri((1 - LEVEL) / 2) * draws.std(ddof=1)) if len(draws) > 1 else 0.0
        bias = max(float(draws.mean()) - value, 0.0)
        return (value - TIED * bias - half, value + half), method
    return percentile, method


def _bound(models: Floats, higher: bool) -> float:
    """What 95 % of the fair models do not go beyond on the worse side."""
    return float(np.quantile(models, 1 - LEVEL if higher else LEVEL))


def percentile_interval(draws: Floats) -> tuple[float, float]:
    """The middle 95 % of the draws, shape (r,), none of them nan."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def bca_interval(value: float, draws: Floats, without: Floats) -> tuple[float, float] | None:
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
    z = ndtri(np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    places = ndtr(shift + (shift + z) / (1 - acceleration * (shift + z)))
    if not np.isfinite(places).all() or places[0] >= places[1]:
        return None
    low, high = np.quantile(draws, places)
    return float(low), float(high)
