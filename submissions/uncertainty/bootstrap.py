"""The bootstrap of a design: seeded resamples of its clusters within their strata, and the uncertainty from them.

Sizes (sums of gaps, largest gaps, absolute values) are never below 0 and biased upwards. A size of counts x is the
largest of many signed sums, size(x) = max over orders o of along(o, x). Its low end is *cross-fitted* (Andrews,
Kitagawa and McCloskey, Inference on Winners, QJE 139, 2024, on split samples): one half of the clusters gives the
order, the other half the numbers, so the estimate is at most the true size on average. It is the mean over `SPLITS`
random halves, each used both ways; the interval reaches from 1.96 errors below it to 1.96 errors above the value.
The error of a size is the largest of three: over the bootstrap replicates; over fair models of the same size
(replicates near the floor vary too little); and of the sum along the value's own order. README.md has widths and
coverage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Sizes, Times
from fairspace.submissions.uncertainty.uncertainty import LEVEL, Method, Uncertainty

# Percentile, basic and BCa intervals: Efron and Tibshirani, An Introduction to the Bootstrap, chapters 13 and 14. Exact
# intervals of shares: Korn and Graubard, Confidence intervals for proportions with small expected number of positive
# counts estimated from survey data (Survey Methodology 24, 1998).

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


def least_room(clusters: float) -> float:
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


RESAMPLES = 1_000
SEED = 0
GROUPS = 100
"""Groups of clusters that the jackknife leaves out, one at a time."""
MOST_UNDEFINED = 0.2
"""Largest share of resamples without a number for which a value has an interval."""
FIXED = 200
"""Resamples for the error along a size's own order."""
ROUNDING = 1e-9
"""Width, as a part of a value's range, below which an interval is a single point."""
SPLITS = 20
"""Random halves; more change an end by less than a twentieth of an error."""
MOST_UNDEFINED_HALVES = 0.2
"""Largest share of halves without a number for which a size has a lower estimate; beyond it the low end is 0."""
_CHUNK = 50
"""Resamples per chunk; each chunk has a generator of its own."""


def draw(design: Design, resamples: int, seed: int = SEED) -> Floats:
    """(resamples, m) values of resampled clusters, nan where a resample has no number."""
    replicates = [design.statistic(times) for times in _times(design, resamples, seed)]
    draws = np.concatenate(replicates) if replicates else np.empty((0, len(design.names)))
    return _about_corrected(design, draws, seed) if design.corrected else draws


def _about_corrected(design: Design, draws: Floats, seed: int) -> Floats:
    """The draws (r, m), those of bias-corrected values moved to the value and spread by the remaining error."""
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
    rng = np.random.default_rng([seed, 1])
    shuffled = np.lexsort((rng.random(len(strata)), strata))
    groups = np.empty(len(strata), np.int64)
    groups[shuffled] = np.arange(len(strata)) % min(GROUPS, len(strata))
    return groups


def uncertainties(
    design: Design, draws: Floats, seed: int = SEED, answered: Mapping[str, tuple[float, float]] = MappingProxyType({})
) -> dict[str, Uncertainty]:
    """The uncertainty of each value of a design that has a number and enough draws (resamples, m) with one.

    `answered`: name -> valid and expected answers, all if absent; only valid ones bound what a value leaves open.
    An interval that a debiased estimate moves off the value is extended to it, and is never a single point.
    """
    value = design.statistic(np.ones((1, len(design.strata)), np.float32))[0]
    without = jackknife(design, seed)
    fair = None
    if design.fair is not None:
        fair = design.fair(np.random.default_rng([seed, 2, *_words(design.task)]), len(draws))
    fitted = _fitted(design, min(FIXED, len(draws)), seed)
    intervals, (wider, few), clusters = {}, _small_strata(design.strata), len(design.strata)
    for place, name in enumerate(design.names):
        replicates = draws[:, place][~np.isnan(draws[:, place])]
        if len(replicates):
            replicates = replicates.mean() + wider * (replicates - replicates.mean())
        undefined = len(draws) - len(replicates)
        if np.isnan(value[place]) or not len(replicates) or undefined > MOST_UNDEFINED * len(draws):
            continue
        number, (low, high) = float(value[place]), design.limits.get(name, (-np.inf, np.inf))
        models = np.empty(0) if fair is None else fair[:, place][~np.isnan(fair[:, place])]
        fair_high = _bound(models, name in design.higher) if models.size else None
        error, method = max(_spread(replicates), _spread(models)), design.intervals.get(name, "bca")
        debiased = 2 * number - float(replicates.mean()) if name in design.biased else None
        most = design.shares.get(name, np.inf)
        valid, expected = answered.get(name, (most, most) if np.isfinite(most) else (clusters, clusters))
        # one answer of a cluster, or its part of many
        room = min(design.independent.get(name, clusters), valid * min(1.0, clusters / max(1, expected)))
        if name in fitted:
            debiased, along = fitted[name]
            ends, method = size_interval(number, debiased, few * max(error, along)), "size"
            debiased = max(debiased, 0.0) if debiased == debiased else None
        elif name in design.shares:
            varied = _spread(replicates)
            independent = min(most, valid) if varied or np.isfinite(most) else room
            ends, method = share_interval(number, varied, independent, clusters), "exact"
        else:
            ends, method = interval(method, number, replicates, without[:, place])
            if name in design.tested and fair_high is not None and number <= fair_high:
                ends = (min(ends[0], 0.0), ends[1])
        shown = _shown(ends, number, (low, high), 0 if name in design.counts else room)
        percentile = percentile_interval(replicates)
        intervals[name] = Uncertainty(
            unit=design.unit,
            clusters=clusters,
            resamples=len(draws),
            undefined=undefined,
            error=error,
            low=shown[0],
            high=shown[1],
            method=method,
            percentile_low=percentile[0],
            percentile_high=percentile[1],
            debiased=None if debiased is None else float(np.clip(debiased, low, high)),
            fair=float(models.mean()) if models.size else None,
            fair_high=fair_high,
            note=design.notes.get(name, ""),
        )
    return intervals


def _fitted(design: Design, resamples: int, seed: int) -> dict[str, tuple[float, float]]:
    """Size -> its cross-fitted estimate, and the error along its own order."""
    if design.sizes is None:
        return {}
    rng = np.random.default_rng([seed, 4, *_words(design.task)])
    times = np.concatenate([*_times(design, resamples, seed)])
    estimates, errors = cross_fitted(design.sizes, design.strata, times, rng)
    return dict(zip(design.sizes.names, zip(estimates.tolist(), errors.tolist(), strict=True), strict=True))


def _shown(ends: tuple[float, float], value: float, limits: tuple[float, float], samples: float) -> tuple[float, float]:
    """An interval cut at the value's limits and extended to the value.

    The interval of a bounded value that does not vary leaves room for the part that so many samples cannot exclude; 0
    of a count.
    """
    low, high = (float(np.clip(end, *limits)) for end in ends)
    low, high = min(low, value), max(high, value)
    widest = limits[1] - limits[0]
    if samples and np.isfinite(widest) and high - low <= ROUNDING * widest:
        room = least_room(samples) * widest
        low, high = max(limits[0], value - room), min(limits[1], value + room)
    return low, high


def _small_strata(strata: Integers) -> tuple[float, float]:
    """Shrinkage of draws of clusters (a stratum of m by sqrt((m - 1) / m)), and Student's t over z."""
    clusters, kinds = len(strata), len(np.unique(strata))
    if clusters <= kinds:
        return 1.0, 1.0
    student = float(stdtrit(clusters - kinds, (1 + LEVEL) / 2))
    return float(np.sqrt(clusters / (clusters - kinds))), student / Z


def _spread(column: Floats) -> float:
    return float(column.std(ddof=1)) if len(column) > 1 else 0.0


def _bound(models: Floats, higher: bool) -> float:
    return float(np.quantile(models, 1 - LEVEL if higher else LEVEL))


def cross_fitted(sizes: Sizes, strata: Integers, times: Times, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The sizes without the bias of noise, (m,), and their standard errors along the value's own order, (m,).

    A size is the mean sum along the other half's order: below 0 by chance where groups are alike, nan where too many
    halves have no number. `strata`: (n,) of the clusters, each halved by itself; `times`: (b, n) of bootstrap
    replicates.
    """
    halves = _halves(strata, rng)
    some, others = sizes.counts(halves), sizes.counts(1 - halves)
    both = np.concatenate([sizes.along(some, others), sizes.along(others, some)])
    lost = np.isnan(both).mean(axis=0) > MOST_UNDEFINED_HALVES
    known = np.where(np.isnan(both), 0.0, both).sum(axis=0) / np.maximum(1, (~np.isnan(both)).sum(axis=0))
    whole = sizes.counts(np.ones((1, len(strata)), np.float32))
    fixed = sizes.along(whole, sizes.counts(times))
    spread = [_spread(column[~np.isnan(column)]) for column in fixed.T]
    return np.where(lost, np.nan, known), np.array(spread)


def _halves(strata: Integers, rng: np.random.Generator) -> Times:
    """(`SPLITS`, n) 1 for the clusters of the first half of each stratum, else 0; the odd one falls either way."""
    halves = np.empty((SPLITS, len(strata)), np.float32)
    sizes = np.bincount(strata)
    start = np.cumsum(sizes) - sizes
    for half in halves:
        order = np.lexsort((rng.random(len(strata)), strata))
        place = np.arange(len(strata)) - np.repeat(start, sizes)
        odd = rng.integers(0, 2, len(sizes))
        half[order] = place < np.repeat((sizes + odd) // 2, sizes)
    return halves
