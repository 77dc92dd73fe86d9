"""Uncertainties of the scores of rows: made with the result where it was scored, else when the rows are shown.

Those of thousands of rows take seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.by_result import ByResult
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row, row_with
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.uncertainty.score_draws import Drawn, many_score_draws
from fairspace.submissions.uncertainty.scores import chances_of, uncertainties_of
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.values import Value, number_of


@dataclass(frozen=True)
class Errors:
    """Uncertainty by score, and the chances of what thresholds decide."""

    scores: Mapping[str, Uncertainty]
    chances: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        scores = {name: error.to_json() for name, error in self.scores.items()}
        return {"scores": scores, "chances": dict(self.chances)}


def errors_of(scores: Mapping[str, Value], chances: Mapping[str, float]) -> Errors:
    """The errors that scores came with."""
    return Errors({name: value.uncertainty for name, value in scores.items() if value.uncertainty is not None}, chances)


def keep_errors(result: Result, errors: Errors) -> None:
    """Let `with_errors` show these errors of a result, and compute nothing."""
    _KEPT.put(result, errors)


MANY = 500
"""With more rows, one request computes at a time; those that wait find the errors in the cache."""
_COMPUTING = threading.Lock()
_KEPT: ByResult[Errors] = ByResult()


def with_errors(rows: Sequence[Row], standard: str) -> list[Row]:
    """The rows of a board with the errors and chances of their scores, those that keep draws; the others as they are.

    Args:
        rows: of one benchmark.
        standard: under which they were scored.
    """
    results = [row.result for row in rows if row.result is not None and row.result.draws is not None]
    with _COMPUTING if len(results) > MANY else nullcontext():
        _compute([result for result in results if _KEPT.get(result) is None], standard)
    return [_with(row, None if row.result is None else _KEPT.get(row.result)) for row in rows]


def _compute(results: Sequence[Result], standard: str) -> None:
    if not results:
        return
    bench = find_benchmark(results[0].benchmark)
    chosen = find_standard(bench, standard)
    drawn = [Drawn(result.scored, result.values, result.draws) for result in results if result.draws is not None]
    for result, draws in zip(results, many_score_draws(bench, drawn, chosen), strict=True):
        table = bench.table_of(result.scored, chosen)
        uncertainties = uncertainties_of(result.scored, result.values, draws, table)
        _KEPT.put(result, Errors(uncertainties, chances_of(bench, draws, result.scored, chosen, AS_RELEASED)))


def _with(row: Row, errors: Errors | None) -> Row:
    return row if errors is None else row_with(row, scores=_Sure(row.scores, errors.scores), chances=errors.chances)


class _Sure(Mapping[str, Value]):
    """Scores with their errors; of thousands of rows, few are looked at.

    Args:
        scores: by name.
        errors: of some of them.
    """

    __slots__ = ("_errors", "_scores")

    def __init__(self, scores: Mapping[str, Value], errors: Mapping[str, Uncertainty]) -> None:
        self._scores, self._errors = scores, errors

    def __getitem__(self, name: str) -> Value:
        value, error = self._scores[name], self._errors.get(name)
        if error is None:
            return value
        sure = object.__new__(Value)  # both were checked already
        vars(sure).update(vars(value), uncertainty=error)
        return sure

    def number(self, name: str) -> float | None:
        """As `number_of`."""
        return number_of(self._scores, name)

    def __contains__(self, name: object) -> bool:
        return name in self._scores

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)
