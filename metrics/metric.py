"""The `evaluate` side of every metric: its description, its columns and its intervals.

A metric on the Hub can import flat siblings only, so each metric folder links to this one file. It stands apart from
`columns.py` because formulas import that one, and a formula needs no `evaluate`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import signature
from typing import Any, ClassVar

import datasets
import evaluate
import numpy as np
import pandas as pd
from scipy import stats

from fairspace.metrics.columns import CITATION, PAPER, Floats, Integers, MetricInputError, check_lengths

_NAMES = """
concepts embeddings female_competence female_emotions female_matched female_positive female_sentences
female_stereoscopic female_subjects female_valence female_warmth genders groups higher_status instances kinds
levels main_character male_competence male_emotions male_matched male_positive male_sentences male_stereoscopic
male_subjects male_valence male_warmth names occupations offers predictions prompts references relations roles
sets statistics steps
"""
COLUMNS = frozenset(_NAMES.split())
"""The columns of all metrics. `evaluate.combine` gives each metric those of the others, which it passes over."""
FAIRLEARN = {
    "y_true": "references",
    "y_pred": "predictions",
    "sensitive_features": "groups",
    "control_features": "by= of fairspace.measure",
    "sample_weight": "clusters=; rows have no weights",
}
"""Argument of fairlearn -> the nearest here."""
RESAMPLING = ("confidence", "clusters", "resamples", "seed")
RESAMPLES, FEWEST_RESAMPLES, ROWS = 1000, 200, 4_000_000
"""Resamples of an interval: a thousand; fewer, down to the second, where they would draw more rows than the third."""
ROWS_PER_GROUP = 5
"""Rows for each possible group below which chance alone gives most of a disparity: its low end is not known."""


@dataclass(frozen=True)
class Sampling:
    """Sampling of a metric's rows, from which its intervals follow.

    Args:
        kind: Kind of the value. `mean` errs to both sides, `clipped` is a mean cut off at 0, `share` a share of rows.
            Chance makes a `size` larger, such as a gap; `divergence` is the square of one, `likeness` 1 less that.
        most: Largest value; the least is 0, of a mean `-most`.
        strata: Columns whose numbers of rows the design fixes: every resample keeps them.
        unit: Column whose labels are counted: a resample that draws one twice has two. `sets` are drawn whole.
        kinds: Kinds of values that differ from the others, by name.
    """

    kind: str
    most: float = 1
    strata: tuple[str, ...] = ()
    unit: str = ""
    kinds: tuple[tuple[str, str], ...] = ()


_OF_RUNS = (("similarity", "share"), ("prefix_difference", "mean"), ("prefix_difference_na_filtered", "mean"))
SAMPLING: Mapping[str, Sampling] = {
    "accuracy_disparity": Sampling("size", strata=("groups",)),
    "answer_consistency_difference": Sampling("mean", math.inf, unit="sets"),
    "cognitive_error_rate": Sampling("mean", strata=("kinds",), kinds=(("rate", "share"),)),
    "counter_stereotype_penalty": Sampling("clipped", math.inf, ("prompts",)),
    "distribution_divergence": Sampling("divergence", math.log(2), ("occupations",)),
    "fact_or_fair": Sampling(
        "likeness", 1, ("statistics", "levels"), "statistics", (("s_fact", "share"), ("distance", "mean"))
    ),
    "generation_success_penalty": Sampling("clipped", strata=("prompts",)),
    "genres_bias": Sampling("mean", math.inf, ("relations",)),
    "hallucination_inconsistency": Sampling("share", unit="sets"),
    "representation_disparity": Sampling("size", strata=("occupations",)),
    "statistical_parity_difference": Sampling("size", strata=("groups",)),
    "stereotype_drift": Sampling("mean"),
    "stereotypical_association": Sampling("size", 0.5, ("instances",), "instances", _OF_RUNS),
}
"""Metrics of rows that are a sample; rows of the others are finished values, or vectors of one geometry."""


@dataclass(frozen=True)
class Part:
    """Numbers of a part of a design: clusters, strata with one of them, and clusters for each row, 1 at most."""

    clusters: float
    strata: int
    each: float

    @property
    def freedom(self) -> float:
        """Clusters less strata: the degrees of freedom of a variance."""
        return max(1.0, self.clusters - self.strata)


@dataclass(frozen=True)
class Design:
    """Resampling design: clusters of rows, drawn with replacement within strata of two clusters or more.

    Args:
        order: Rows, cluster by cluster.
        sizes: Number of rows of each cluster.
        strata: Clusters of each stratum; those that are alone in theirs share one.
        renames: Whether clusters hold the labels of the unit whole, so that each copy has labels of its own.
    """

    order: Integers
    sizes: Integers
    strata: Sequence[Integers]
    renames: bool

    def part(self, rows: Any) -> Part:
        """The part of the design with these (n,) marked rows."""
        holding = np.add.reduceat(rows[self.order], np.cumsum(self.sizes) - self.sizes) > 0
        clusters = int(holding.sum())
        strata = sum(bool(holding[each].any()) for each in self.strata)
        return Part(clusters, strata, clusters / max(1, int(rows.sum())))

    @classmethod
    def of(cls, columns: Mapping[str, Any], clusters: Any, sampling: Sampling, group: Integers | None) -> Design:
        """The design of rows with these columns; METRIC_CLUSTERS for a row without a label, and for a split set."""
        size, whole = check_lengths(**columns), sampling.unit == "sets"
        if clusters is not None:
            check_lengths(**columns, clusters=clusters)
            if blank := [row for row, label in enumerate(clusters) if label in (None, "") or label != label]:
                raise MetricInputError("METRIC_CLUSTERS", f"clusters[{blank[0]}] has no label; each row needs one")
        labels = clusters if clusters is not None else columns["sets"] if whole else np.arange(size)
        code = np.unique(np.array(words(labels), str), return_inverse=True)[1]
        if clusters is not None and sampling.unit:
            pairs = {*zip(columns[sampling.unit], code.tolist(), strict=True)}
            split = len(pairs) > len({unit for unit, _ in pairs})
            if split and whole:
                raise MetricInputError("METRIC_CLUSTERS", "a set lies in more than one cluster; sets are drawn whole")
            whole = not split
        order, sizes = np.argsort(code, kind="stable"), np.bincount(code)
        fixed = [columns[name] for name in sampling.strata if name in columns] + ([] if group is None else [group])
        keys: dict[Any, list[int]] = {}
        for cluster, rows in zip(range(len(sizes)), np.split(order, np.cumsum(sizes)[:-1]), strict=False):
            keys.setdefault(frozenset(zip(*(column[rows] for column in fixed), strict=True)), []).append(cluster)
        strata = sorted(keys.values(), key=len)
        alone = [each[0] for each in strata if len(each) == 1]
        strata = [alone, *strata[len(alone) :]] if len(alone) > 1 else strata
        if len(alone) == 1 and len(strata) > 1:
            strata[:2] = [strata[0] + strata[1]]
        return cls(order, sizes, [np.array(each) for each in strata], whole)

    def draw(self, count: int, seed: int) -> Iterator[tuple[Integers, Integers]]:
        """Rows of each resample, and the number of the drawn cluster that each is from."""
        random, starts = np.random.default_rng(seed), np.cumsum(self.sizes) - self.sizes
        for _ in range(count):
            drawn = np.concatenate([each[random.integers(0, len(each), len(each))] for each in self.strata])
            lengths = self.sizes[drawn]
            copies = np.repeat(np.arange(len(drawn)), lengths)
            within = np.arange(len(copies)) - (np.cumsum(lengths) - lengths)[copies]
            yield self.order[starts[drawn][copies] + within], copies


@dataclass(frozen=True)
class About:
    """A metric's description of itself.

    Args:
        description: Measured quantity, its range and its ideal value.
        inputs: Arguments, returned value, and examples that a test runs.
        columns: Kind of each column: `string`, `float64`, `int64`, or `vector` for a list of numbers.
        citation: BibTeX of the paper.
        urls: Addresses of the paper.
    """

    description: str
    inputs: str
    columns: Mapping[str, str]
    citation: str = CITATION
    urls: tuple[str, ...] = (PAPER,)


class ColumnMetric(evaluate.Metric, ABC):
    """A metric of columns. Abstract, so that `evaluate` passes over it in a metric's module.

    Columns of one call are taken as they are; those of `add` and `add_batch` go through Arrow. Both meet the same
    checks with coded errors: here of arguments and lengths, in `_measure` of the content.
    """

    about: ClassVar[About]

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=self.about.description,
            citation=self.about.citation,
            inputs_description=self.about.inputs,
            features=datasets.Features({name: _feature(kind) for name, kind in self.about.columns.items()}),
            reference_urls=list(self.about.urls),
        )

    @abstractmethod
    def _measure(self, *args: Any, **columns: Any) -> dict[str, Any]:
        """The result for all rows: each column by its name, and the settings."""

    def compute(self, *, predictions: Any = None, **arguments: Any) -> Any:
        """Measure the columns of this call, or those that were added before it.

        A column that only another metric has is passed over, because `evaluate.combine` gives every metric all columns.

        Args:
            predictions: A column, as `arguments` has the others, and the metric's settings.
            arguments: Also `confidence`, such as .95, for an interval of each value; `clusters`, a label for each row,
                where rows with one label are drawn together; `resamples` and `seed`.

        Returns:
            The metric's result. With `confidence`, every value has an `interval`, [low, high], or None and an
            `interval_reason`.

        Errors:
            MetricInputError METRIC_ARGUMENT for an argument that the metric lacks, METRIC_LENGTH for a column that is
            absent or of another length, METRIC_CONFIDENCE and METRIC_CLUSTERS, and the metric's own for the content.
        """
        arguments["predictions"] = predictions
        self.check(arguments)
        columns: dict[str, Any] = {name: cells(arguments.pop(name, None)) for name in self.about.columns}
        waiting = self.writer is not None or self.num_process > 1
        if waiting and all(column is None for column in columns.values()):
            return super().compute(**arguments)
        check_lengths(**columns)
        return super().compute(**columns, **arguments) if waiting else self._compute(**columns, **arguments)

    def _compute(self, confidence: float | None = None, clusters: Any = None, **arguments: Any) -> dict[str, Any]:
        drawing, clusters = {"resamples", "seed"} - {*signature(self._measure).parameters}, cells(clusters)
        settings = {name: arguments.pop(name) for name in drawing & {*arguments}}
        return self.resample(arguments, confidence, clusters, **settings)[0][0]

    def resample(
        self,
        arguments: Mapping[str, Any],
        confidence: float | None,
        clusters: Sequence[Any] | None = None,
        group: Integers | None = None,
        resamples: int | None = None,
        seed: int = 0,
    ) -> tuple[list[dict[str, Any]], list[dict[str, Floats]], Design | None]:
        """Results of all rows and of each group, with intervals from the same resamples.

        `confidence`, `clusters`, `resamples` and `seed` are those of `compute`; `group` has the place of each row's
        group.

        Returns:     Results; resampled values of each by name, nan where undefined; the design, None without intervals.
        """
        if confidence is None and group is None:
            return [self._measure(**arguments)], [{}], None
        sampling = SAMPLING.get(self.name)
        if confidence is not None and sampling is None:
            raise MetricInputError(
                "METRIC_CONFIDENCE",
                f"{self.name} takes no confidence: its rows are no sample, but finished values or vectors of one "
                "geometry, whose `interval` comes without it. Leave confidence out, or None",
            )
        if confidence is not None and (not isinstance(confidence, float) or not 0 < confidence < 1):
            raise MetricInputError("METRIC_CONFIDENCE", f"confidence is {confidence!r}; expected a level such as 0.95")
        rowwise = (*self.about.columns, *(sampling.strata if sampling else ()), "others")
        columns = {name: objects(arguments[name]) for name in rowwise if arguments.get(name) is not None}
        parts = range(1 if group is None else group.max(initial=-1) + 2)

        def results(rows: Integers, drawn: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
            for part in parts:
                chosen = slice(None) if part == 0 or group is None else group[rows] == part - 1
                yield self._measure(**{**arguments, **{name: column[chosen] for name, column in drawn.items()}})

        measured = list(results(np.arange(check_lengths(**columns)), columns))
        arguments = {**arguments, **({"compared": measured[0]["class"]} if "class" in measured[0] else {})}
        if confidence is None or sampling is None:
            return measured, [{} for _ in measured], None
        design, size = Design.of(columns, clusters, sampling, group), check_lengths(**columns)
        kept: list[dict[str, list[float]]] = [{name: [] for name, _ in outcomes(result)} for result in measured]
        count = resamples or min(RESAMPLES, max(FEWEST_RESAMPLES, ROWS // max(size, 1)))
        for rows, copies in design.draw(count if len(design.sizes) > 1 else 0, seed):
            drawn = {name: column[rows] for name, column in columns.items()}
            if design.renames:
                drawn[sampling.unit] = objects(map("{} #{}".format, drawn[sampling.unit], copies))
            for result, lists in zip(results(rows, drawn), kept, strict=True):
                values = dict(outcomes(result))
                for name, numbers in lists.items():
                    numbers.append(number_of(values.get(name)))
        draws = [{name: np.array(numbers) for name, numbers in lists.items()} for lists in kept]
        labels = 0 if "groups" in columns else len(arguments.get("groups") or ())
        for place, (result, arrays) in enumerate(zip(measured, draws, strict=True)):
            part = design.part(np.ones(size, bool) if group is None or place == 0 else group == place - 1)
            for name, value in outcomes(result):
                valid = float(counts_of(value, result).get("valid", part.clusters / part.each))
                kind = dict(sampling.kinds).get(name.rsplit(".", 1)[-1], sampling.kind)
                kind = "share" if name.startswith("by_group.") else kind
                compared = value.get("by_group", {}).values() if "groups" in sampling.strata else ()
                alike = [counts_of(each, result)["valid"] for each in compared if number_of(each) in (0, 1)]
                fixed = [room((1 - confidence) / 2, each * part.each) for each in alike]
                of = replace(part, clusters=valid * part.each)
                ends, why = interval(number_of(value), arrays[name], kind, sampling.most, confidence, of, fixed)
                if ends and kind != "share" and valid < ROWS_PER_GROUP * labels * len(value.get("by_occupation", "1")):
                    ends, why = [0.0, ends[1]], f"low end not known: fewer than {ROWS_PER_GROUP} rows a group"
                value["interval"], value["interval_reason"] = ends, why
        return measured, draws, design

    def add_batch(self, *, predictions: Any = None, **columns: Any) -> None:
        """Add rows for a later `compute()`. MetricInputError METRIC_ARGUMENT or METRIC_LENGTH, as there."""
        if "predictions" in self.about.columns or predictions is not None:
            columns["predictions"] = predictions
        self.check(columns, settings=False)
        batch: dict[str, Any] = {name: cells(columns.get(name)) for name in self.about.columns}
        check_lengths(**batch)
        super().add_batch(**batch)

    def add(self, *, prediction: Any = None, reference: Any = None, **row: Any) -> None:
        """Add one row, as `add_batch`."""
        columns = {name: [value] for name, value in row.items()}
        for name, value in (("predictions", prediction), ("references", reference)):
            columns |= {name: [value]} if name in self.about.columns or value is not None else {}
        self.add_batch(**columns)

    def check(self, arguments: dict[str, Any], *, settings: bool = True, combined: bool = True) -> None:
        """Refuse arguments that the metric does not take; columns of other metrics are left out if `combined`."""
        taken = {*self.about.columns}
        if settings:
            parameters = signature(self._measure).parameters.values()
            taken |= {part.name for part in parameters if part.kind is not part.VAR_KEYWORD}
        for name in [name for name in arguments if name not in taken and not (settings and name in RESAMPLING)]:
            if name in COLUMNS and settings and combined:
                del arguments[name]
                continue
            close = get_close_matches(name, taken, n=1)
            hint = FAIRLEARN.get(name, repr(close[0]) if close else "")
            raise MetricInputError(
                "METRIC_ARGUMENT",
                f"{self.name} has no argument {name!r}{f' (did you mean {hint}?)' if hint else ''}; it takes "
                f"{', '.join(sorted(taken))}, and {', '.join(RESAMPLING)}. (evaluate.combine gives every setting to "
                "every metric: combine metrics that take the same settings.)",
            )


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


def room(tail: float, clusters: float) -> float:
    """Largest part of all that may differ, though none of so many clusters does: Clopper-Pearson's end, exactly."""
    return float(1 - tail ** (1 / max(1, clusters)))


def counts_of(value: Mapping[str, Any], result: Mapping[str, Any]) -> Mapping[str, int]:
    """Valid and expected rows of a value of a result, `{}` if not counted; of a group in `by_group` those of it.

    A rate of a group has rows of its own; a share of a group is one of all rows.
    """
    if "missing" not in value:
        counts: Mapping[str, int] = (result if "count" in value else value).get("counts", {})
        return counts
    rows = sum(number for number in [*value.values()][1:] if isinstance(number, int))
    return {"valid": rows - value["missing"], "expected": rows}


def interval(
    value: float,
    draws: Floats,
    kind: str,
    most: float,
    confidence: float,
    part: Part,
    fixed: Sequence[float] = (),
) -> tuple[list[float] | None, str]:
    """The confidence interval of a value, [low, high], or None and the reason.

    A size near 0 is |x| with normal noise: its mean square exceeds that of the truth by the variance of x, of which |x|
    keeps 1 - 2 / pi at least. Resamples have the noise twice: a bias that falls with the root of the rows is 1 +
    sqrt(2) times their shift, and that of a divergence, a square, is their shift.

    `value` and its (r,) resampled `draws` are nan where undefined; `kind` and `most` are those of `Sampling`. Few
    clusters of the `part` with a valid row widen the interval. What no resample varies keeps the `room` of its rows:
    the value, or `fixed`, the room of each compared group without spread; a gap has two of them at most.
    """
    known, tail, clusters = draws[~np.isnan(draws)], (1 - confidence) / 2, part.clusters
    if math.isnan(value):
        return None, "the value is undefined"
    if clusters < 2:
        return None, f"{clusters:.3g} row or cluster; an interval needs two"
    if len(known) < 0.8 * len(draws):
        return None, f"{len(draws) - len(known)} of {len(draws)} resamples have no value"
    same, least = bool(np.ptp(known) < 1e-12), -most if kind == "mean" else 0.0
    if same and math.isinf(most):
        return None, f"every resample has this value, though up to {room(tail, clusters):.1%} of such rows may differ"
    wider, reach = math.sqrt(clusters / part.freedom), float(stats.t.ppf(1 - tail, part.freedom))
    stretch, error = wider * reach, float(known.std()) * wider * reach
    shift = float(known.mean()) - value
    if kind == "share":
        rows = (
            clusters
            if same
            else min(clusters / part.each, value * (1 - value) * (stats.norm.ppf(1 - tail) / error) ** 2)
        )
        right, wrong = value * rows, (1 - value) * rows
        low = stats.beta.ppf(tail, right, wrong + 1) if value > 0 else 0.0
        high = stats.beta.ppf(1 - tail, right + 1, wrong) if value < 1 else 1.0
    elif same:  # a row that differs moves two shares
        low, high = value - 2 * most * room(tail, clusters), value + 2 * most * room(tail, clusters)
    elif kind == "clipped":
        ends = np.quantile(known, [tail, 1 - tail]) - value
        low, high = value + ends * stretch / stats.norm.ppf(1 - tail)
    elif kind == "mean":
        low, high = value - shift - error, value - shift + error
    else:
        away, drawn = (1 - value, 1 - known) if kind == "likeness" else (value, known)
        excess, power = max(0.0, float(drawn.mean()) - away), 1 if kind == "size" else 2
        root, roots = abs(away) ** (1 / power), np.abs(drawn) ** (1 / power)
        unfolded, spread = float((roots**2).mean()) - root**2, float(roots.var())
        upper = root + stretch * math.sqrt(min(max(unfolded, spread), spread / (1 - 2 / math.pi)))
        low = away - (excess + error if power == 2 else (1 + math.sqrt(2)) * excess + upper - root)
        low, high = (1 - upper**2, 1 - low) if kind == "likeness" else (low, upper**power)
    open_ends = sum(sorted(fixed)[-2:])
    most = 1.0 if kind == "share" else most
    return [float(np.clip(end, least, most)) for end in (low - open_ends, high + open_ends)], ""


def number_of(outcome: Mapping[str, Any] | None) -> float:
    """The number of an outcome, nan where it is undefined or absent."""
    value = None if outcome is None else next(iter(outcome.values()))
    return math.nan if value is None else float(value)


def objects(column: Iterable[Any]) -> Any:
    """A column as an array of its objects, (n,)."""
    entries = list(column)
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def cells(column: Any) -> Any:
    """A column as a list, whatever its index, with None for missing cells: None, NaN, NaT and pd.NA."""
    if column is None or isinstance(column, str) or not hasattr(column, "__len__"):
        return column
    entries = objects(column)
    entries[pd.isna(entries)] = None
    return entries.tolist()


def words(column: Iterable[Any], apart: bool = True) -> list[str]:
    """Labels as texts, '' where missing: whole numbers without point; `apart`: 1 and '1' stay two labels."""
    keys = [_key(cell) for cell in cells([*column])]
    if not apart:
        return [text for _, text in keys]
    names: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for kind, text in sorted({*keys}, key=lambda key: (key[0] != "text", key)):
        name = text
        while name in taken:
            name += f" ({kind})"
        taken.add(name)
        names[kind, text] = name
    return [names[key] for key in keys]


def _key(cell: Any) -> tuple[str, str]:
    """Type and text of a label; numbers are of one type, whatever their column made of them."""
    if cell is None or isinstance(cell, str):
        return "text", cell or ""
    if isinstance(cell, int | float | np.number) and not isinstance(cell, bool):
        return "number", str(int(cell)) if float(cell).is_integer() else str(cell)
    return type(cell).__name__.rstrip("_"), str(cell)


def _feature(kind: str) -> Any:
    return datasets.Sequence(datasets.Value("float64")) if kind == "vector" else datasets.Value(kind)
