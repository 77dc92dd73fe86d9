"""The bootstrap: values of counts, and their uncertainty from seeded resamples of clusters within strata.

A `CountTable` says what each cluster (an image, a query, a pair, a row) adds to counts. A `Family` computes values from
counts with a leading axis: those of the whole sample are the measured values, those of a resample one bootstrap
replicate each, so that every formula is written once. Clusters that are missing in a submission are included: one draw
means the same clusters for every model, and differences between models are on common items.

Sizes (sums of gaps, largest gaps, absolute values) are never below 0 and biased upwards. A size of counts x is the
largest of many signed sums, size(x) = max over orders o of of(x, o). Its low end is *cross-fitted* (Andrews, Kitagawa
and McCloskey, Inference on Winners, QJE 139, 2024, on split samples): one half of the clusters gives the order, the
other half the numbers, so the estimate is at most the true size on average. It is the mean over `SPLITS` random halves,
each used both ways; the interval reaches from 1.96 errors below it to 1.96 errors above the value. The error of a size
is the largest of three: over the bootstrap replicates; over fair models of the same size (replicates near the floor
vary too little); and of the sum along the value's own order.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.intervals import (
    LEVEL,
    Ends,
    Method,
    Uncertainty,
    interval,
    least_room,
    percentile_interval,
    share_interval,
    size_interval,
    spread,
    z_of,
)

Times = NDArray[np.float32]
"""(b, n): how often each of n clusters is in each of b resamples."""
Counts = Mapping[str, Floats]
"""Counts of the blocks of a table by name, (b, *shape) each."""


@dataclass(frozen=True)
class Block:
    """Counts of one kind.

    Args:
        summands: What each cluster adds: a sparse matrix (cells, n), or a full one (n, cells).
        shape: Shape of the cells.
    """

    summands: Any
    shape: tuple[int, ...]

    def drawn(self, times: Times, by_cluster: Times | None = None) -> Floats:
        """(b, n) -> (b, *shape) the counts of resamples; `by_cluster`: the transposed times, in rows of clusters."""
        if isinstance(self.summands, np.ndarray):
            counts = times.astype(np.float64) @ self.summands
        else:
            counts = np.asarray((self.summands @ (times.T if by_cluster is None else by_cluster)).T, np.float64)
        return counts.reshape(len(times), *self.shape)

    def whole(self) -> Floats:
        """(*shape) the counts of the sample itself, summed in pairs: a sum of equal numbers is their multiple."""
        if isinstance(self.summands, np.ndarray):
            return np.asarray(np.ascontiguousarray(self.summands.T).sum(axis=1).reshape(self.shape))
        return np.asarray(self.drawn(np.ones((1, self.clusters), np.float32))[0])

    @property
    def clusters(self) -> int:
        """The number n of clusters."""
        return int(self.summands.shape[0 if isinstance(self.summands, np.ndarray) else 1])


def tally(
    codes: Integers,
    *shape: int,
    weights: Floats | None = None,
    cluster: Integers | None = None,
    clusters: int | None = None,
) -> Block:
    """The block that counts rows by cell.

    Args:
        codes: (rows,) flat place of each row's cell in the shape; below 0 for an uncounted row.
        shape: Shape of the cells.
        weights: (rows,) weight of each row; 1 if left out.
        cluster: (rows,) cluster of each row; each row is one if left out.
        clusters: Number of clusters; as many as the rows have if left out.
    """
    from scipy.sparse import csr_array  # a fifth of a second, which checking does not need

    used = np.flatnonzero(codes >= 0)
    data = np.ones(len(used), np.float32) if weights is None else weights[used].astype(np.float64)
    places = np.arange(len(codes)) if cluster is None else cluster
    size, columns = int(places.max(initial=-1)) + 1 if clusters is None else clusters, places[used]
    return Block(csr_array((data, (codes[used], columns)), shape=(math.prod(shape), size)), shape)


def sums(added: NDArray[Any]) -> Block:
    """The block of the sums of (n, ...) numbers that the clusters add."""
    return Block(added.reshape(len(added), -1).astype(np.float64), added.shape[1:])


def each(clusters: int) -> Block:
    """The block that counts every cluster by itself, for values that are no function of sums."""
    return tally(np.arange(clusters), clusters)


def totals(blocks: Mapping[str, Block]) -> Counts:
    """The counts of all clusters together, of the shape of each block."""
    return {name: block.whole() for name, block in blocks.items()}


@dataclass(frozen=True)
class CountTable:
    """Clusters of a sample, and what each of them adds to the counts.

    Args:
        task: Seed of the draws: two tables of one task and one number of clusters get the same draws.
        unit: Name of a cluster, for people.
        strata: (n,) stratum of each cluster, from 0; each stratum is resampled with its own size.
        blocks: Counts by name.
    """

    task: str
    unit: str
    strata: Integers
    blocks: Mapping[str, Block]

    def drawn(self, times: Times) -> Counts:
        """The counts of resamples, with a leading axis."""
        by_cluster = np.ascontiguousarray(times.T)
        return {name: block.drawn(times, by_cluster) for name, block in self.blocks.items()}

    def whole(self) -> Counts:
        """The counts of the sample itself, with a leading axis of 1."""
        return {name: counts[None] for name, counts in totals(self.blocks).items()}


@dataclass(frozen=True)
class Quantity:
    """A value, and what is known of its sampling error.

    Args:
        name: Name of the value.
        method: Method of its interval: `size` for a family of sizes, `exact` for a share of answers, or how the draws
            are used (BCa falls back to percentile where it is undefined).
        limits: Smallest and largest possible number.
        biased: Whether it is biased at small n (largest gaps, divergences, norms); then it has a debiased estimate.
        higher: Whether it is better when higher: 95 % of the fair models are above its `fair_high`.
        tested: Whether its ideal is 0 and its interval holds 0 unless the value is above `fair_high`.
        answers: Most independent answers of a share; infinite for all valid ones.
        independent: Samples that vary by themselves, where clusters hold many or none; the clusters if left out.
        count: Whether its limits are caps of a count; one that does not vary keeps a single point, as nothing bounds
            others.
        correction: Standard error that a bias correction leaves. Its draws are moved to have the value as mean, and
            spread by this error, which the values of one draw share.
        note: Limitation of its interval; '' for none.
    """

    name: str
    method: Method = "bca"
    limits: Ends = (-math.inf, math.inf)
    biased: bool = False
    higher: bool = False
    tested: bool = False
    answers: float = math.inf
    independent: float | None = None
    count: bool = False
    correction: float | None = None
    note: str = ""


Fair = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class Family:
    """Values that are computed together from a table's counts.

    Args:
        quantities: (m) values, in the order of `of`.
        of: Counts with a leading axis -> (b, m) values, nan where undefined. A family of sizes also takes the counts
            that say the order of groups (the same ones if left out): sums of gaps in this order, at most the size.
            Either may have one row for all of the other's.
        fair: (generator, r) -> (r, m) values of r perfectly fair models at this n, nan for a value without such a
            model; None without any.
    """

    quantities: Sequence[Quantity]
    of: Callable[..., Floats]
    fair: Fair | None = None

    @property
    def sizes(self) -> bool:
        """Whether the values are sizes."""
        return bool(self.quantities) and self.quantities[0].method == "size"


Sample = tuple[CountTable, Sequence[Family]]
"""A table and the values of its counts."""


def quantities_of(families: Sequence[Family]) -> list[Quantity]:
    """(m) the quantities of all families."""
    return [quantity for family in families for quantity in family.quantities]


def names_of(families: Sequence[Family]) -> list[str]:
    """(m) names of all values."""
    return [quantity.name for quantity in quantities_of(families)]


def values_of(families: Sequence[Family], counts: Counts) -> Floats:
    """(b, m) values of all families, nan where undefined."""
    return np.concatenate([family.of(counts) for family in families], axis=1)


def whole(table: CountTable, families: Sequence[Family]) -> tuple[Counts, dict[str, float]]:
    """The counts of the sample itself, and name -> the value of these, nan where undefined."""
    counts = totals(table.blocks)
    values = values_of(families, {name: block[None] for name, block in counts.items()})[0]
    return counts, dict(zip(names_of(families), values.tolist(), strict=True))


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


@dataclass(frozen=True)
class Estimate:
    """The values of a table.

    Args:
        value: Name -> number, nan where undefined.
        uncertainty: Name -> uncertainty, of those with a number and enough draws with one.
        draws: (r, m) values of the resamples in the order of the names, nan where one has no number.
    """

    value: Mapping[str, float]
    uncertainty: Mapping[str, Uncertainty]
    draws: Floats

    def columns(self) -> Iterator[tuple[str, Floats]]:
        """Each name with its (r,) draws."""
        return zip(self.value, self.draws.T, strict=True)


def estimate(
    table: CountTable,
    families: Sequence[Family],
    resamples: int,
    answered: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    seed: int = SEED,
    level: float = LEVEL,
) -> Estimate:
    """The values of a table's counts, their uncertainty, and their joint draws.

    Args:
        table: The clusters and their counts.
        families: The values.
        resamples: Number of draws, 1 at least.
        answered: Name -> valid and expected answers, all if absent; only valid ones bound what a value leaves open.
        seed: Seed of all draws.
        level: Coverage of the intervals.
    """
    _, value = whole(table, families)
    draws = draw(table, families, resamples, seed)
    return Estimate(value, uncertainties(table, families, draws, answered, seed, level), draws)


def draw(table: CountTable, families: Sequence[Family], resamples: int, seed: int = SEED) -> Floats:
    """(resamples, m) values of resampled clusters, nan where a resample has no number."""
    drawn = [values_of(families, table.drawn(times)) for times in _times(table, resamples, seed)]
    quantities = quantities_of(families)
    draws = np.concatenate(drawn) if drawn else np.empty((0, len(quantities)))
    if any(quantity.correction is not None for quantity in quantities):
        value = values_of(families, table.whole())[0]
        shared = np.random.default_rng([seed, 3, *_words(table.task)]).standard_normal(len(draws))
        for place, quantity in enumerate(quantities):
            if quantity.correction is not None and np.isfinite(draws[:, place]).any():
                moved = draws[:, place] + value[place] - np.nanmean(draws[:, place])
                draws[:, place] = np.clip(moved + quantity.correction * shared, *quantity.limits)
    return draws


def _times(table: CountTable, resamples: int, seed: int) -> Iterator[Times]:
    order = np.argsort(table.strata, kind="stable")
    sizes = np.bincount(table.strata)
    size = np.repeat(sizes, sizes).astype(np.float32)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    n = len(order)
    for number, first in enumerate(range(0, resamples, _CHUNK)):
        rows = min(_CHUNK, resamples - first)
        rng = np.random.default_rng([seed, *_words(table.task), number])
        # a float below 1 times a size may round to the size itself
        place = np.minimum((rng.random((rows, n), np.float32) * size).astype(np.int64), size.astype(np.int64) - 1)
        place += start + np.arange(rows)[:, None] * n
        times = np.empty((rows, n), np.float32)
        times[:, order] = np.bincount(place.ravel(), minlength=rows * n).reshape(rows, n)
        yield times


def _words(task: str) -> list[int]:
    return list(hashlib.sha256(task.encode()).digest()[:8])


def jackknife(table: CountTable, families: Sequence[Family], seed: int = SEED) -> Floats:
    """(g, m) values without one group of clusters each, nan for families without a BCa interval.

    Every group of clusters has its share of every stratum.
    """
    groups = _groups(table.strata, seed)
    times = np.ones((int(groups.max(initial=-1)) + 1, len(groups)), np.float32)
    times[groups, np.arange(len(groups))] = 0
    used = [any(quantity.method == "bca" for quantity in family.quantities) for family in families]
    counts = table.drawn(times) if any(used) else {}
    parts = zip(families, used, strict=True)
    values = [f.of(counts) if it else np.full((len(times), len(f.quantities)), np.nan) for f, it in parts]
    return np.concatenate(values, axis=1)


def _groups(strata: Integers, seed: int) -> Integers:
    rng = np.random.default_rng([seed, 1])
    shuffled = np.lexsort((rng.random(len(strata)), strata))
    groups = np.empty(len(strata), np.int64)
    groups[shuffled] = np.arange(len(strata)) % min(GROUPS, len(strata))
    return groups


def uncertainties(
    table: CountTable,
    families: Sequence[Family],
    draws: Floats,
    answered: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    seed: int = SEED,
    level: float = LEVEL,
) -> dict[str, Uncertainty]:
    """The uncertainty of each value that has a number and enough draws (r, m) with one; arguments as of `estimate`."""
    fitted = _fitted(table, families, min(FIXED, len(draws)), seed)
    value, without = values_of(families, table.whole())[0], jackknife(table, families, seed)
    columns = zip(value.tolist(), draws.T, without.T, fair_models(table, families, len(draws), seed).T, strict=True)
    sure = {}
    for quantity, (number, *drawn) in zip(quantities_of(families), columns, strict=True):
        name = quantity.name
        about = _uncertainty(table, quantity, number, drawn, fitted.get(name), answered.get(name), level)
        if about is not None:
            sure[name] = about
    return sure


def fair_models(table: CountTable, families: Sequence[Family], models: int, seed: int = SEED) -> Floats:
    """(models, m) values of fair models, nan without any."""
    rng = np.random.default_rng([seed, 2, *_words(table.task)])
    values = np.full((models, sum(len(family.quantities) for family in families)), np.nan)
    place = 0
    for family in families:
        if family.fair is not None:
            drawn = family.fair(rng, models)
            values[: len(drawn), place : place + len(family.quantities)] = drawn
        place += len(family.quantities)
    return values


def _uncertainty(
    table: CountTable,
    quantity: Quantity,
    value: float,
    columns: Sequence[Floats],
    fitted: tuple[float, float] | None,
    answered: tuple[float, float] | None,
    level: float,
) -> Uncertainty | None:
    """The uncertainty of one value, None without a number or enough draws with one.

    An interval that a debiased estimate moves off the value is extended to it, and is never a single point.

    Args:
        table: The clusters.
        quantity: The value's method and limits.
        value: Number of the whole sample.
        columns: Draws, jackknife values and fair models, (r,), (g,) and (r,).
        fitted: Cross-fitted estimate of a size, and the error along its own order.
        answered: Valid and expected answers.
        level: Coverage of the interval.
    """
    draws, without, models = columns
    (wider, few), clusters = _small_strata(table.strata, level), len(table.strata)
    replicates, models = draws[~np.isnan(draws)], models[~np.isnan(models)]
    undefined = len(draws) - len(replicates)
    if np.isnan(value) or not len(replicates) or undefined > MOST_UNDEFINED * len(draws):
        return None
    replicates = replicates.mean() + wider * (replicates - replicates.mean())
    low, high = quantity.limits
    fair_high = float(np.quantile(models, 1 - level if quantity.higher else level)) if models.size else None
    error, method = max(spread(replicates), spread(models)), quantity.method
    debiased = 2 * value - float(replicates.mean()) if quantity.biased else None
    share = method == "exact"
    most = quantity.answers if share else math.inf
    valid, expected = answered or ((most, most) if math.isfinite(most) else (clusters, clusters))
    # one answer of a cluster, or its part of many
    independent = clusters if quantity.independent is None else quantity.independent
    room = min(independent, valid * min(1.0, clusters / max(1, expected)))
    if fitted is not None:
        debiased, along = fitted
        ends = size_interval(value, debiased, few * max(error, along), level)
        debiased = max(debiased, 0.0) if debiased == debiased else None
    elif share:
        varied = spread(replicates)
        effective = min(most, valid) if varied or math.isfinite(most) else room
        ends = share_interval(value, varied, effective, clusters, level)
    else:
        ends, method = interval(method, value, replicates, without, level)
        if quantity.tested and fair_high is not None and value <= fair_high:
            ends = (min(ends[0], 0.0), ends[1])
    shown = _shown(ends, value, (low, high), 0 if quantity.count else room, level)
    percentile = percentile_interval(replicates, level)
    return Uncertainty(
        unit=table.unit,
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
        note=quantity.note,
    )


def _shown(ends: Ends, value: float, limits: Ends, samples: float, level: float) -> Ends:
    """An interval cut at the value's limits and extended to the value.

    The interval of a bounded value that does not vary leaves room for the part that so many samples cannot exclude; 0
    of a count.
    """
    low, high = (float(np.clip(end, *limits)) for end in ends)
    low, high = min(low, value), max(high, value)
    widest = limits[1] - limits[0]
    if samples and np.isfinite(widest) and high - low <= ROUNDING * widest:
        room = least_room(samples, level) * widest
        low, high = max(limits[0], value - room), min(limits[1], value + room)
    return low, high


def _small_strata(strata: Integers, level: float) -> tuple[float, float]:
    """Shrinkage of draws of clusters (a stratum of m by sqrt((m - 1) / m)), and Student's t over z."""
    from scipy.special import stdtrit

    clusters, kinds = len(strata), len(np.unique(strata))
    if clusters <= kinds:
        return 1.0, 1.0
    student = float(stdtrit(clusters - kinds, (1 + level) / 2))
    return float(np.sqrt(clusters / (clusters - kinds))), student / z_of(level)


def _fitted(table: CountTable, families: Sequence[Family], resamples: int, seed: int) -> dict[str, tuple[float, float]]:
    """Size -> its cross-fitted estimate, and the error along its own order."""
    sizes = [family for family in families if family.sizes]
    if not sizes:
        return {}
    rng = np.random.default_rng([seed, 4, *_words(table.task)])
    times = np.concatenate([*_times(table, resamples, seed)])
    names = names_of(sizes)
    estimates, errors = (column.tolist() for column in cross_fitted(table, sizes, times, rng))
    return dict(zip(names, zip(estimates, errors, strict=True), strict=True))


def cross_fitted(
    table: CountTable, sizes: Sequence[Family], times: Times, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The sizes without the bias of noise, (m,), and their standard errors along the value's own order, (m,).

    A size is the mean sum along the other half's order: below 0 by chance where groups are alike, nan where too many
    halves have no number. Each stratum is halved by itself; `times`: (b, n) of bootstrap replicates.
    """

    def along(counts: Counts, order: Counts) -> Floats:
        return np.concatenate([family.of(counts, order) for family in sizes], axis=1)

    halves = _halves(table.strata, rng)
    first, second = table.drawn(halves), table.drawn(1 - halves)
    both = np.concatenate([along(second, first), along(first, second)])
    lost = np.isnan(both).mean(axis=0) > MOST_UNDEFINED_HALVES
    means = np.where(np.isnan(both), 0.0, both).sum(axis=0) / np.maximum(1, (~np.isnan(both)).sum(axis=0))
    fixed = along(table.drawn(times), table.whole())
    errors = [spread(column[~np.isnan(column)]) for column in fixed.T]
    return np.where(lost, np.nan, means), np.array(errors)


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
