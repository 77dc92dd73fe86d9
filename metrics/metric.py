"""The `evaluate` side of every metric: its description and its columns.

A metric on the Hub can import flat siblings only, so each metric folder links to this one file. It stands apart from
`columns.py` because formulas import that one, and a formula needs no `evaluate`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from typing import Any, ClassVar

import datasets
import evaluate

from .columns import CITATION, PAPER, MetricInputError, check_lengths

COLUMNS = frozenset(
    (
        "concepts",
        "embeddings",
        "female_competence",
        "female_emotions",
        "female_matched",
        "female_positive",
        "female_sentences",
        "female_stereoscopic",
        "female_subjects",
        "female_valence",
        "female_warmth",
        "genders",
        "groups",
        "higher_status",
        "instances",
        "kinds",
        "levels",
        "main_character",
        "male_competence",
        "male_emotions",
        "male_matched",
        "male_positive",
        "male_sentences",
        "male_stereoscopic",
        "male_subjects",
        "male_valence",
        "male_warmth",
        "names",
        "occupations",
        "offers",
        "predictions",
        "prompts",
        "references",
        "relations",
        "roles",
        "sets",
        "statistics",
        "steps",
    )
)
"""The columns of all metrics. `evaluate.combine` gives each metric those of the others, which it passes over."""


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
    checks with coded errors: here of arguments and lengths, in `_compute` of the content.
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
    def _compute(self, *args: Any, **columns: Any) -> dict[str, Any]:
        """The result for all rows: each column by its name, and the settings."""

    def compute(self, *, predictions: Any = None, **arguments: Any) -> Any:
        """Measure the columns of this call, or those that were added before it.

        A column that only another metric has is passed over, because `evaluate.combine` gives every metric all columns.
        MetricInputError METRIC_ARGUMENT for any other argument that the metric lacks, METRIC_LENGTH for a column that
        is absent or of another length, and the metric's own codes for the content.
        """
        arguments["predictions"] = predictions
        self._check(arguments)
        columns: dict[str, Any] = {name: arguments.pop(name, None) for name in self.about.columns}
        waiting = self.writer is not None or self.num_process > 1
        if waiting and all(column is None for column in columns.values()):
            return super().compute(**arguments)
        check_lengths(**columns)
        return super().compute(**columns, **arguments) if waiting else self._compute(**columns, **arguments)

    def add_batch(self, *, predictions: Any = None, **columns: Any) -> None:
        """Add rows for a later `compute()`. MetricInputError METRIC_ARGUMENT or METRIC_LENGTH, as there."""
        if "predictions" in self.about.columns or predictions is not None:
            columns["predictions"] = predictions
        self._check(columns, settings=False)
        batch: dict[str, Any] = {name: columns.get(name) for name in self.about.columns}
        check_lengths(**batch)
        super().add_batch(**batch)

    def add(self, *, prediction: Any = None, reference: Any = None, **row: Any) -> None:
        """Add one row, as `add_batch`."""
        columns = {name: [value] for name, value in row.items()}
        for name, value in (("predictions", prediction), ("references", reference)):
            columns |= {name: [value]} if name in self.about.columns or value is not None else {}
        self.add_batch(**columns)

    def _check(self, arguments: dict[str, Any], *, settings: bool = True) -> None:
        """Refuse arguments that the metric does not take; columns of other metrics are left out."""
        taken = {*self.about.columns}
        if settings:
            parameters = signature(self._compute).parameters.values()
            taken |= {part.name for part in parameters if part.kind is not part.VAR_KEYWORD}
        for name in [name for name in arguments if name not in taken]:
            if name in COLUMNS and settings:
                del arguments[name]
                continue
            close = get_close_matches(name, taken, n=1)
            raise MetricInputError(
                "METRIC_ARGUMENT",
                f"{self.name} has no argument {name!r}{f' (did you mean {close[0]!r}?)' if close else ''}; it takes "
                f"{', '.join(sorted(taken))}. (evaluate.combine gives every setting to every metric: combine metrics "
                "that take the same settings.)",
            )


def _feature(kind: str) -> Any:
    return datasets.Sequence(datasets.Value("float64")) if kind == "vector" else datasets.Value(kind)
