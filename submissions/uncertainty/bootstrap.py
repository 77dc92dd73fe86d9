"""The bootstrap of a design: seeded resamples of its clusters within their strata, and the uncertainty from them.

The kinds of intervals are in `intervals.py`. BCa's acceleration comes from a jackknife that leaves out a group of
clusters at a time.

Sizes are sums of gaps, largest gaps and absolute values, which are never below 0 and look larger than they are. A size
of counts x is the largest of many signed sums of the same shares, size(x) = max over orders o of along(o, x): which
groups stand above which, and which class has the largest gap. Its low end is *cross-fitted*: the order is taken from
one half of the clusters and the numbers from the other. Whatever order the one half gives, the other half's sum along
it is at most the true size on average, with groups that are exactly alike, too; so no bias has to be guessed. The mean
over `SPLITS` random halves, each used both ways, is the lower estimate; the low end is 1.96 errors below it, and the
high end 1.96 errors above the value itself, which is never biased downwards.

The error of a size is the largest of three: over the bootstrap replicates; of fair models of the same size, for
replicates near the floor vary less than the value does; and of the sum along the value's own order, which is what
remains of the value's error where a small size bends it at 0.

Sample splitting for the order and the sizes apart: Andrews, Kitagawa and McCloskey, Inference on Winners (QJE 139,
2024), section on split samples; its widths and coverage for our values are in README.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from scipy.special import stdtrit

from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Sizes, Times
from fairspace.submissions.uncertainty.intervals import (
    Z,
    interval,
    least_room,
    percentile_interval,
    share_interval,
    size_interval,
)
from fairspace.submissions.uncertainty.uncertainty import LEVEL, Uncertainty

RESAMPLES = 1_000
SEED = 0
GROUPS = 100
"""Groups of clusters that the jackknife leaves out, one at a time."""
MOST_UNDEFINED = 0.2
"""With a larger share of resamples without a number, a value has no interval."""
FIXED = 200
"""Resamples from which the error along a size's own order is reckoned."""
WIDEST_SHARE = 2
"""What a share, or a difference of two, can range over at most."""
ROUNDING = 1e-9
"""What is narrower than this part of all that a value can be is a single point."""
SPLITS = 20
"""Random halves; more change an end by less than a twentieth of an error."""
MOST_UNDEFINED_HALVES = 0.2
"""With more halves without a number, nothing is known but that a size is at least 0."""
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

    An interval about a debiased estimate may end short of the value itself; the one that is shown is extended to it,
    and never a single point.

    Args:
        design: of the values.
        draws: (resamples, m) by `draw`.
        seed: of the jackknife's groups, of the halves and of the fair models.
    """
    value = design.statistic(np.ones((1, len(design.strata)), np.float32))[0]
    without = jackknife(design, seed)
    fair = None
    if design.fair is not None:
        fair = design.fair(np.random.default_rng([seed, 2, *_words(design.task)]), len(draws))
    fitted = _fitted(design, min(FIXED, len(draws)), seed)
    intervals, (wider, few) = {}, _small_strata(design.strata)
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
        if name in fitted:
            debiased, along = fitted[name]
            ends, method = size_interval(number, debiased, few * max(error, along)), "size"
            debiased = max(debiased, 0.0) if debiased == debiased else None
        elif name in design.shares:
            ends, method = share_interval(number, error, design.shares[name], len(design.strata)), "exact"
        else:
            ends, method = interval(method, number, replicates, without[:, place])
            if name in design.tested and fair_high is not None and number <= fair_high:
                ends = (min(ends[0], 0.0), ends[1])
        shown = _shown(ends, number, (low, high), design.independent.get(name, len(design.strata)))
        percentile = percentile_interval(replicates)
        intervals[name] = Uncertainty(
            unit=design.unit,
            clusters=len(design.strata),
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


def _shown(ends: tuple[float, float], value: float, limits: tuple[float, float], samples: int) -> tuple[float, float]:
    """An interval cut at what the value can be and extended to the value; of a share it is never a single point.

    Where a share, or a difference of shares, does not vary, so many samples leave room for a part of others that all
    say the other extreme.
    """
    low, high = (float(np.clip(end, *limits)) for end in ends)
    low, high = min(low, value), max(high, value)
    widest = limits[1] - limits[0]
    if widest <= WIDEST_SHARE and high - low <= ROUNDING * widest:
        room = least_room(samples) * widest
        low, high = max(limits[0], value - room), min(limits[1], value + room)
    return low, high


def _small_strata(strata: Integers) -> tuple[float, float]:
    """By how much draws of clusters vary too little, of a stratum of m by sqrt((m - 1) / m), and Student's t over z."""
    clusters, kinds = len(strata), len(np.unique(strata))
    if clusters <= kinds:
        return 1.0, 1.0
    student = float(stdtrit(clusters - kinds, (1 + LEVEL) / 2))
    return float(np.sqrt(clusters / (clusters - kinds))), student / Z


def _spread(column: Floats) -> float:
    return float(column.std(ddof=1)) if len(column) > 1 else 0.0


def _bound(models: Floats, higher: bool) -> float:
    """What 95 % of the fair models do not go beyond on the worse side."""
    return float(np.quantile(models, 1 - LEVEL if higher else LEVEL))


def cross_fitted(sizes: Sizes, strata: Integers, times: Times, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The sizes without the bias of noise, and their errors.

    Args:
        sizes: of a design.
        strata: (n,) of its clusters; each is halved by itself.
        times: (b, n) of some bootstrap replicates.
        rng: for the halves.

    Returns:
        (m,) mean sum along the other half's order, below 0 by chance where groups are alike, nan where too many halves
        have no number; and (m,) standard error of the sum along the value's own order.
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
