"""Intervals of the `evaluate` metrics: their rows as a sample, for the bootstrap that scores submissions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from fairspace.metrics.columns import Floats, Integers, MetricInputError, check_lengths, divide
from fairspace.metrics.intervals import Uncertainty, least_room
from fairspace.metrics.resampling import (
    MOST_UNDEFINED,
    Block,
    Counts,
    CountTable,
    Family,
    Quantity,
    each,
    estimate,
    names_of,
    quantities_of,
    tally,
    values_of,
)

RESAMPLES, FEWEST_RESAMPLES, ROWS = 1000, 200, 4_000_000
"""Resamples of an interval: a thousand; fewer, down to the second, where they would draw more rows than the third."""
FEW = 30
"""Rows below which the bootstrap says too little of alike ones: their room, by a binomial count, is added."""
ROWS_PER_GROUP = 5
"""Rows for each possible group below which a size has no lower estimate."""
PERMUTED = 200
"""Draws of alike groups that a gap between groups is compared with."""


@dataclass(frozen=True)
class Sampling:
    """Sampling of a metric's rows, from which its intervals follow.

    Args:
        value: Quantity of the metric's values; its name is that of each value.
        task: Table of the benchmark whose draws these rows get: the same data have the same interval there.
        strata: Columns whose numbers of rows the design fixes: every resample keeps them.
        unit: Column whose labels are counted: a resample that draws one twice has two. `sets` are drawn whole.
        others: Quantities of values that differ from the others, by the last part of the name.
    """

    value: Quantity
    task: str
    strata: tuple[str, ...] = ()
    unit: str = ""
    others: Mapping[str, Quantity] = field(default_factory=dict)

    def quantity(self, name: str) -> Quantity:
        """The quantity of a value; a value of one group is a share of its rows."""
        of = SHARE if name.startswith("by_group.") else self.others.get(name.rsplit(".", 1)[-1], self.value)
        return replace(of, name=name)


def shares_of(groups: Sequence[str], of: Callable[[Counts], Floats]) -> Family:
    """The family of the groups' shares of counts, (b, groups)."""
    return Family([replace(SHARE, name=f"by_group.{group}") for group in groups], of)


def all_shares(counts: Floats) -> Floats:
    """(b, occupations, groups) -> (b, groups) the groups' shares of all samples."""
    by_group = counts.sum(axis=1)
    return divide(by_group, by_group.sum(axis=-1, keepdims=True))


def permuted(rng: np.random.Generator, models: int, counts: Integers) -> Iterator[Floats]:
    """(models, groups, kinds) tables of each stratum of (strata, groups, kinds) counts, the groups permuted."""
    from scipy.stats import random_table  # a third of a second, which values without an interval need not wait for

    for table in counts:
        if table.any():
            fixed = random_table(table.sum(axis=1), table.sum(axis=0), seed=rng)
            yield fixed.rvs(models, method="boyett").astype(np.float64)
        else:
            yield np.zeros((models, *table.shape))


def _mean(most: float) -> Quantity:
    return Quantity("", limits=(-most, most))


def _penalty(most: float) -> Quantity:
    return Quantity("", "percentile", (0.0, most), biased=True)


def size(name: str = "", most: float = 1.0) -> Quantity:
    """A size, 0 at best: chance alone makes it larger."""
    return Quantity(name, "size", (0.0, most))


SHARE = Quantity("", "exact", (0.0, 1.0))
_LIKENESS = Quantity("", "normal", (0.0, 1.0), biased=True, higher=True)
_OF_RUNS = {"similarity": SHARE} | dict.fromkeys(("prefix_difference", "prefix_difference_na_filtered"), _mean(0.5))
SAMPLING: Mapping[str, Sampling] = {
    "accuracy_disparity": Sampling(size(), "iris/occupation", ("groups",)),
    "answer_consistency_difference": Sampling(Quantity("", "normal", (0.0, math.inf)), "iris/pair", unit="sets"),
    "cognitive_error_rate": Sampling(_mean(1), "fact_or_fair/llm_cognitive", ("kinds",), others={"rate": SHARE}),
    "counter_stereotype_penalty": Sampling(_penalty(math.inf), "iris/generation_steer", ("prompts",)),
    "distribution_divergence": Sampling(
        Quantity("", "normal", (0.0, math.log(2)), biased=True), "iris/generation_neutral", ("occupations",)
    ),
    "fact_or_fair": Sampling(
        _LIKENESS,
        "fact_or_fair/llm_subjective",
        ("statistics", "levels"),
        "statistics",
        {"s_fact": SHARE, "distance": Quantity("", limits=(0.0, math.inf))},
    ),
    "generation_success_penalty": Sampling(_penalty(1), "iris/generation_steer", ("prompts",)),
    "genres_bias": Sampling(_mean(math.inf), "genres", ("relations",)),
    "hallucination_inconsistency": Sampling(SHARE, "iris/pair", unit="sets"),
    "representation_disparity": Sampling(size(), "iris/generation_neutral", ("occupations",)),
    "statistical_parity_difference": Sampling(size(), "iris/occupation", ("groups",)),
    "stereotype_drift": Sampling(_mean(1), "iris/occupation"),
    "stereotypical_association": Sampling(
        size(most=0.5), "stereotypical_bias/language", ("instances",), "instances", _OF_RUNS
    ),
}
"""Metrics of rows that are a sample; rows of the others are finished values, or vectors of one geometry."""


@dataclass(frozen=True)
class Counted:
    """Counts behind the values of a metric: the bootstrap draws them at once, where it would draw row by row.

    Args:
        cells: Name of counts -> (rows,) flat place of each row's cell, below 0 for an uncounted row; and their shape.
        families: Values of the counts, named as the metric names them.
    """

    cells: Mapping[str, tuple[Integers, tuple[int, ...]]]
    families: Sequence[Family]


@dataclass(frozen=True)
class Design:
    """Resampling design: clusters of rows, drawn with replacement within strata of two clusters or more.

    Args:
        cluster: (n,) cluster of each row.
        strata: (clusters,) stratum of each cluster; clusters that are alone in theirs share one.
        renames: Column whose labels each copy of a cluster has for itself, as clusters hold them whole; '' for none.
    """

    cluster: Integers
    strata: Integers
    renames: str = ""

    @classmethod
    def of(cls, columns: Mapping[str, Any], clusters: Any, sampling: Sampling, group: Integers | None = None) -> Design:
        """The design of rows with these columns; METRIC_CLUSTERS for a row without a label, and for a split set."""
        labels, whole = clusters, sampling.unit == "sets"
        if clusters is not None:
            check_lengths(**columns, clusters=clusters)
            if blank := [row for row, label in enumerate(clusters) if label in (None, "") or label != label]:
                raise MetricInputError("METRIC_CLUSTERS", f"clusters[{blank[0]}] has no label; each row needs one")
        elif whole:
            labels = columns["sets"]
        code = np.arange(check_lengths(**columns)) if labels is None else pd.factorize(_keys(labels))[0]
        if clusters is not None and sampling.unit:
            pairs = {*zip(columns[sampling.unit], code.tolist(), strict=True)}
            split = len(pairs) > len({unit for unit, _ in pairs})
            if split and whole:
                raise MetricInputError("METRIC_CLUSTERS", "a set lies in more than one cluster; sets are drawn whole")
            whole = not split
        fixed = [columns[name] for name in sampling.strata if name in columns] + ([] if group is None else [group])
        return cls(code, _strata(code, fixed), sampling.unit if whole else "")

    def rows(self, times: Floats) -> tuple[Integers, Integers]:
        """The rows of clusters that are drawn (clusters,) times, and the number of each row's copy."""
        repeats = times[self.cluster].astype(np.int64)
        rows = np.repeat(np.arange(len(repeats)), repeats)
        return rows, np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)


def _keys(labels: Iterable[Any]) -> Any:
    return np.array([*map(str, labels)], object)


def _strata(code: Integers, fixed: Sequence[Any]) -> Integers:
    """(clusters,) strata of clusters (n,) whose rows have the same values in the fixed columns."""
    clusters = int(code.max(initial=-1)) + 1
    if not fixed:
        return np.zeros(clusters, np.int64)
    cells = pd.factorize(pd.MultiIndex.from_arrays([_keys(column) for column in fixed]))[0]
    kinds: list[set[int]] = [set() for _ in range(clusters)]
    for cluster, cell in zip(code.tolist(), cells.tolist(), strict=True):
        kinds[cluster].add(cell)
    strata = pd.factorize(_keys([tuple(sorted(kind)) for kind in kinds]))[0]
    sizes = np.bincount(strata)
    alone = sizes[strata] == 1
    if alone.sum() == 1 and clusters > 1:
        alone |= strata == np.where(sizes > 1, sizes, clusters + 1).argmin()
    return np.asarray(pd.factorize(np.where(alone, -1, strata))[0])


def outcomes(result: dict[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The values of a result and of its groups, each with its name, dotted where it lies deeper; first the number."""
    if "state" in result:
        key = next(iter(result))
        yield ".".join(filter(None, (place, "" if key == "value" else key))), result
    for name, part in result.items():
        if name == "by_group" and not place:
            yield from ((f"{name}.{group}", entry) for group, entry in part.items())
        elif isinstance(part, dict):
            yield from outcomes(part, f"{place}.{name}" if place else name)


def counts_of(value: Mapping[str, Any], result: Mapping[str, Any]) -> Mapping[str, int]:
    """Valid and expected rows of a value of a result, `{}` if not counted; of a group in `by_group` those of it.

    A rate of a group has rows of its own; a share of a group is one of all rows.
    """
    if "missing" not in value:
        counts: Mapping[str, int] = (result if "count" in value else value).get("counts", {})
        return counts
    rows = sum(number for number in [*value.values()][1:] if isinstance(number, int))
    return {"valid": rows - value["missing"], "expected": rows}


def number_of(outcome: Mapping[str, Any] | None) -> float:
    """The number of an outcome, nan where it is undefined or absent."""
    value = None if outcome is None else next(iter(outcome.values()))
    return math.nan if value is None else float(value)


@dataclass(frozen=True)
class Sample:
    """Rows of a metric, with the values that follow from them.

    Args:
        columns: (n,) columns by name.
        measure: Columns -> the metric's result.
        counted: Columns -> the counts behind its values; None if they follow from rows alone.
        sampling: The metric's sampling.
    """

    columns: Mapping[str, Any]
    measure: Callable[[Mapping[str, Any]], dict[str, Any]]
    counted: Callable[[Mapping[str, Any]], Counted | None]
    sampling: Sampling

    def part(self, rows: Integers) -> Sample:
        """The sample of some rows."""
        return replace(self, columns={name: column[rows] for name, column in self.columns.items()})

    def families(
        self, names: Sequence[str], design: Design, rows: Integers, prefix: str = ""
    ) -> tuple[dict[str, Block], list[Family]]:
        """Blocks of counts and families of the values `names` of these `rows` of a design, all named with a prefix."""
        counted = self.counted(self.part(rows).columns) or Counted({}, ())
        at, clusters = design.cluster[rows], len(design.strata)
        blocks = {
            prefix + name: tally(codes, *shape, cluster=at, clusters=clusters)
            for name, (codes, shape) in counted.cells.items()
        }
        families = [_prefixed(family, prefix) for family in counted.families]
        rest = [name for name in names if prefix + name not in {*names_of(families)}]
        if rest:
            blocks["clusters"] = each(clusters)
            quantities = [replace(self.sampling.quantity(name), name=prefix + name) for name in rest]
            drawn = [replace(q, method="percentile") if q.method == "size" else q for q in quantities]
            families.append(Family(drawn, lambda counts: self._by_rows(rest, design, rows, counts["clusters"])))
        return blocks, families

    def _by_rows(self, names: Sequence[str], design: Design, rows: Integers, draws: Floats) -> Floats:
        """(b, names) values of (b, clusters) draws, nan where undefined."""
        kept, unit = np.zeros(len(design.cluster), bool), design.renames
        kept[rows] = True
        values = np.full((len(draws), len(names)), np.nan)
        for line, times in zip(values, draws, strict=True):
            drawn, copies = design.rows(times)
            columns = {name: column[drawn[kept[drawn]]] for name, column in self.columns.items()}
            if unit:
                columns[unit] = np.array([*map("{} #{}".format, columns[unit], copies[kept[drawn]])], object)
            results = dict(outcomes(self.measure(columns)))
            line[:] = [number_of(results.get(name)) for name in names]
        return values


def _prefixed(family: Family, prefix: str) -> Family:
    """A family over counts whose names begin with a prefix, as those of its values then do."""

    def of(*counts: Counts) -> Floats:
        mine = (
            {name.removeprefix(prefix): c for name, c in of_all.items() if name.startswith(prefix)} for of_all in counts
        )
        return family.of(*mine)

    return replace(family, quantities=[replace(q, name=prefix + q.name) for q in family.quantities], of=of)


def with_intervals(
    sample: Sample, result: dict[str, Any], clusters: Any, resamples: int | None, seed: int, level: float
) -> None:
    """Give every value of a sample's result its `interval`, [low, high], or None and its `interval_reason`."""
    size, names = check_lengths(**sample.columns), [name for name, _ in outcomes(result)]
    design = Design.of(sample.columns, clusters, sample.sampling)
    blocks, families = sample.families(names, design, np.arange(size))
    answered = {name: answered_of(value, result, size) for name, value in outcomes(result)}
    table = CountTable(sample.sampling.task, "cluster", design.strata, blocks)
    count, enough = number_of_resamples(resamples, size), len(design.strata) > 1
    about = estimate(table, families, count, answered, seed, level).uncertainty if enough else {}
    quantities = {quantity.name: quantity for quantity in quantities_of(families)}
    for name, value in outcomes(result):
        clustered = answered[name][0] * min(1.0, len(design.strata) / max(1, size))
        quantity, valid = quantities[name], answered[name][0]
        ends, why = interval(number_of(value), about.get(name), quantity, clustered, level)
        if ends and quantity.method == "size":
            ends = _with_room(ends, quantity.limits[1], value, result, about[name], level)
            if "groups" not in sample.columns and valid < ROWS_PER_GROUP * len(value.get("by_group", ())):
                ends, why = [0.0, ends[1]], f"low end not known: fewer than {ROWS_PER_GROUP} rows a group"
        value["interval"], value["interval_reason"] = ends, why


def _with_room(
    ends: Sequence[float],
    most: float,
    value: Mapping[str, Any],
    result: Mapping[str, Any],
    about: Uncertainty,
    level: float,
) -> list[float]:
    """The ends of a size, 0 to `most`, with room for what few alike rows, of all or of a group, cannot exclude."""
    (low, high), number = ends, number_of(value)
    valid = counts_of(value, result)["valid"]
    if about.percentile_low == about.percentile_high and valid < FEW:  # a row that differs moves two shares
        room = 2 * most * least_room(valid, level)
        low, high = min(low, number - room), max(high, number + room)
    else:
        groups = [each for each in value.get("by_group", {}).values() if number_of(each) in (0, 1)]
        rows = [counts_of(each, result).get("valid", FEW) for each in groups]
        room = sum(sorted(least_room(n, level) for n in rows if n < FEW)[-2:])
        low, high = low - room, high + room
    return [max(0.0, low), min(most, high)]


def interval(
    value: float, about: Uncertainty | None, quantity: Quantity, clusters: float, level: float
) -> tuple[list[float] | None, str]:
    """The interval of a value, [low, high], or None and the reason; `clusters` are those with a valid row."""
    if math.isnan(value):
        return None, "the value is undefined"
    if clusters < 2:
        return None, f"{clusters:.3g} row or cluster; an interval needs two"
    if about is None:
        return None, f"more than {MOST_UNDEFINED:.0%} of the resamples have no value"
    if about.low == about.high and not np.isfinite(np.ptp(quantity.limits)):
        room = least_room(clusters, level)
        return None, f"every resample has this value, though up to {room:.1%} of such rows may differ"
    return [about.low, about.high], ""


def answered_of(value: Mapping[str, Any], result: Mapping[str, Any], rows: int) -> tuple[float, float]:
    """Valid and expected rows of a value; all rows where it does not count them."""
    counts = counts_of(value, result)
    return float(counts.get("valid", rows)), float(counts.get("expected", rows))


def number_of_resamples(asked: int | None, rows: int) -> int:
    """The number of resamples: as asked for, else fewer for many rows."""
    return asked or min(RESAMPLES, max(FEWEST_RESAMPLES, ROWS // max(rows, 1)))


def gaps_of(
    sample: Sample,
    names: Sequence[str],
    group: Integers,
    clusters: Sequence[str] | None,
    resamples: int | None,
    seed: int,
    level: float,
) -> dict[str, tuple[list[float] | None, str]]:
    """The interval of the widest gap of each value between groups, or None and the reason.

    Args:
        sample: All rows.
        names: Names of the values.
        group: (n,) place of each row's group, -1 for none.
        clusters: (n,) labels of clusters.
        resamples: Number of resamples; as `number_of_resamples` if None.
        seed: Seed of the resamples.
        level: Coverage of the intervals.
    """
    design = Design.of(sample.columns, clusters, sample.sampling, group)
    parts = [np.flatnonzero(group == part) for part in range(int(group.max()) + 1)]
    blocks: dict[str, Block] = {}
    families: list[list[Family]] = []
    for part, rows in enumerate(parts):
        of_part, values = sample.families(names, design, rows, f"{part} ")
        blocks |= of_part
        families.append(values)

    def by_part(counts: Counts) -> Floats:
        """(b, parts, names) values."""
        columns = []
        for part, of_part in enumerate(families):
            drawn, order = values_of(of_part, counts), names_of(of_part)
            columns.append(drawn[:, [order.index(f"{part} {name}") for name in names]])
        return np.stack(columns, axis=1)

    def widest(counts: Counts, order: Counts | None = None) -> Floats:
        """(b, names) the gaps between the highest and the lowest part, or of the parts that `order` says to be so."""
        values = by_part(counts)
        if order is None:
            return np.asarray(np.ptp(values, axis=1))
        ends = by_part(order)
        lost = np.isnan(ends).any(axis=1)
        places = (np.nan_to_num(sign * ends, nan=-np.inf).argmax(axis=1)[:, None] for sign in (1, -1))
        shape = (max(len(values), len(ends)), *values.shape[1:])
        values = np.broadcast_to(values, shape)
        high, low = (np.take_along_axis(values, np.broadcast_to(at, (shape[0], 1, shape[2])), 1)[:, 0] for at in places)
        return np.where(lost, np.nan, high - low)

    def alike(rng: np.random.Generator, models: int) -> Floats:
        """Groups that are alike: those of the rows, exchanged within the strata of the metric."""
        drawn = exchanged(rng, min(models, PERMUTED), sample, group, clusters)
        return np.array([_gaps(sample, names, each) for each in drawn])

    quantities = []
    for name in names:
        limits = sample.sampling.quantity(name).limits
        quantities.append(size(name, limits[1] - limits[0]))
    table = CountTable(sample.sampling.task, "cluster", design.strata, blocks)
    estimated = estimate(
        table, [Family(quantities, widest, alike)], number_of_resamples(resamples, len(group)), {}, seed, level
    )
    made = {}
    for quantity in quantities:
        about, value = estimated.uncertainty.get(quantity.name), estimated.value[quantity.name]
        made[quantity.name] = interval(value, about, quantity, len(design.strata), level)
        ends, _ = made[quantity.name]
        if ends and about and about.fair_high is not None and ends[0] > 0 and value <= about.fair_high:
            made[quantity.name] = [0.0, ends[1]], "alike groups have such a gap by chance"
    return made


def _gaps(sample: Sample, names: Sequence[str], group: Integers) -> Floats:
    """(names,) gaps between groups; endless where one has no value."""
    parts = [np.flatnonzero(group == part) for part in range(int(group.max()) + 1)]
    results = [dict(outcomes(sample.measure(sample.part(rows).columns))) for rows in parts]
    gaps = [np.ptp([number_of(result.get(name)) for result in results]) for name in names]
    return np.asarray(np.nan_to_num(gaps, nan=np.inf))


def exchanged(
    rng: np.random.Generator, models: int, sample: Sample, group: Integers, clusters: Sequence[str] | None
) -> Iterator[Integers]:
    """(n,) groups of the rows, exchanged within the strata of the metric.

    Clusters are exchanged whole; where one holds several groups, its rows are exchanged with each other.
    """
    design = Design.of(sample.columns, clusters, sample.sampling)
    fixed = [sample.columns[name] for name in sample.sampling.strata if name in sample.columns]
    unit, first = design.cluster, np.unique(design.cluster, return_index=True)[1]
    if (group != group[first][unit]).any():
        fixed, unit, first = [*fixed, unit], np.arange(len(group)), np.arange(len(group))
    keys = [group[first] < 0, *(np.asarray(column)[first] for column in fixed)]
    strata = pd.factorize(pd.MultiIndex.from_arrays([_keys(column) for column in keys]))[0]
    for _ in range(models):
        groups = group[first]
        for stratum in range(int(strata.max()) + 1):
            at = np.flatnonzero(strata == stratum)
            groups[at] = rng.permutation(groups[at])
        yield groups[unit]
