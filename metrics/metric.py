"""The `evaluate` side of every metric: its description and its columns.

A metric on the Hub can import flat siblings only, so each metric folder links to this one file. It stands apart from
`columns.py` because formulas import that one, and a formula needs no `evaluate`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import datasets
import evaluate

from .columns import CITATION, PAPER


@dataclass(frozen=True)
class About:
    """What a metric says of itself.

    Args:
        description: what is measured, in which range, and which value is ideal.
        inputs: the arguments, what is returned, and examples that a test runs.
        columns: the kind of each column: `string`, `float64`, `int64`, or `vector` for a list of numbers.
        citation: BibTeX of the paper.
        urls: of the paper.
    """

    description: str
    inputs: str
    columns: Mapping[str, str]
    citation: str = CITATION
    urls: tuple[str, ...] = (PAPER,)


class ColumnMetric(evaluate.Metric, ABC):
    """A metric of columns that Arrow holds. Abstract, so that `evaluate` passes over it in a metric's module."""

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


class DirectMetric(ColumnMetric, ABC):
    """A metric that takes the columns of one call as they are, and checks them itself."""

    def compute(self, *, predictions: Any = None, **columns: Any) -> Any:
        """Measure columns given at once directly, without Arrow; after `add` or `add_batch`, what was added."""
        if predictions is not None and self.writer is None and self.num_process == 1:
            return self._compute(predictions=predictions, **columns)
        return super().compute(predictions=predictions, **columns)


def _feature(kind: str) -> Any:
    return datasets.Sequence(datasets.Value("float64")) if kind == "vector" else datasets.Value(kind)
