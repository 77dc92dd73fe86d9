"""The `evaluate` side of every metric: its description, its columns and its intervals.

A metric on the Hub can import flat siblings only: publishing lays this file and those that it imports beside each. It
stands apart from `columns.py` because formulas import that one, and a formula needs no `evaluate`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from typing import Any, ClassVar

import datasets
import evaluate
import numpy as np
import pandas as pd

from fairspace.metrics.columns import CITATION, PAPER, Integers, MetricInputError, check_lengths
from fairspace.metrics.sampling import SAMPLING, Counted, Sample, gaps_of, outcomes, with_intervals

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

    def _counted(self, **arguments: Any) -> Counted | None:
        """The counts behind the values of columns and settings; None where the values follow from rows alone."""
        return None

    def resample(
        self,
        arguments: Mapping[str, Any],
        confidence: float | None,
        clusters: Sequence[Any] | None = None,
        group: Integers | None = None,
        resamples: int | None = None,
        seed: int = 0,
    ) -> tuple[list[dict[str, Any]], dict[str, tuple[list[float] | None, str]]]:
        """Results of all rows and of each group, with intervals.

        `confidence`, `clusters`, `resamples` and `seed` are those of `compute`; `group`, (n,), has the place of each
        row's group, -1 for none.

        Returns:
            Results; and of each value the interval of the widest gap between groups, or None and the reason.
        """
        if confidence is None and group is None:
            return [self._measure(**arguments)], {}
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
        settings = {name: part for name, part in arguments.items() if name not in columns}
        whole = self._measure(**settings, **columns)
        settings |= {"compared": whole["class"]} if "class" in whole else {}

        def measure(part: Mapping[str, Any]) -> dict[str, Any]:
            return self._measure(**settings, **part)

        parts = [] if group is None else [np.flatnonzero(group == place) for place in range(int(group.max()) + 1)]
        drawn = [{name: column[rows] for name, column in columns.items()} for rows in parts]
        results = [whole, *map(measure, drawn)]
        if confidence is None or sampling is None:
            return results, {}
        sample = Sample(columns, measure, lambda part: self._counted(**settings, **part), sampling)
        every = np.arange(check_lengths(**columns))
        for rows, result in zip([every, *parts], results, strict=True):
            labels = None if clusters is None else objects(clusters)[rows]
            with_intervals(sample.part(rows), result, labels, resamples, seed, confidence)
        if group is None:
            return results, {}
        names = [name for name, _ in outcomes(whole) if not name.startswith("by_group.")]
        return results, gaps_of(sample, names, group, clusters, resamples, seed, confidence)

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
