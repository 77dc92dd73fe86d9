"""Uncertainties of the scores of rows, computed when the rows are shown: those of thousands of rows take seconds."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustment
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.by_result import ByResult
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.uncertainty.scores import chances_of, many_score_draws, turned, uncertainties_of
from fairspace.submissions.uncertainty.uncertainty import Uncertainty

if TYPE_CHECKING:
    from fairspace.submissions.results.row import Row


@dataclass(frozen=True)
class _Errors:
    """Uncertainty by score, and the chances of what thresholds decide."""

    scores: Mapping[str, Uncertainty]
    chances: Mapping[str, float]


MANY = 500
"""With more rows, one request computes at a time; those that wait find the errors in the cache."""
_COMPUTING = threading.Lock()
_KEPT: ByResult[_Errors] = ByResult()


def with_errors(rows: Sequence[Row], standard: str, changed: Adjustment = AS_RELEASED) -> list[Row]:
    """The rows of a board with the errors and chances of their scores, those that keep draws; the others as they are.

    Args:
        rows: of one benchmark.
        standard: under which they were scored.
        changed: what a reader changed about it.
    """
    results = [row.result for row in rows if row.result is not None and row.result.draws is not None]
    with _COMPUTING if len(results) > MANY else nullcontext():
        _compute([result for result in results if _KEPT.get(result) is None], standard, changed)
    return [_with(row, None if row.result is None else _KEPT.get(row.result)) for row in rows]


def _compute(results: Sequence[Result], standard: str, changed: Adjustment) -> None:
    if not results:
        return
    bench = find_benchmark(results[0].benchmark)
    chosen = find_standard(bench, standard)
    limits = bench.scoring(chosen, changed).limits
    pairs = [(result.scored, result.draws) for result in results if result.draws is not None]
    for result, draws in zip(results, many_score_draws(bench, pairs, chosen, changed), strict=True):
        true_scores = turned(bench, result.scored, draws)
        uncertainties = uncertainties_of(result.scored, true_scores, bench.logarithmic, limits)
        _KEPT.put(result, _Errors(uncertainties, chances_of(bench, true_scores, result.scored, chosen, changed)))


def _with(row: Row, errors: _Errors | None) -> Row:
    if errors is None:
        return row
    scores = {
        name: replace(value, uncertainty=errors.scores[name]) if name in errors.scores else value
        for name, value in row.scores.items()
    }
    return replace(row, scores=scores, chances=errors.chances)
