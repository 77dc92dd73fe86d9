"""The errors of the scores of rows: made when the rows are shown, because a board's thousands take seconds."""

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
class _Sure:
    """Uncertainty by score, and the chances of what thresholds decide."""

    scores: Mapping[str, Uncertainty]
    chances: Mapping[str, float]


MANY = 500
"""Errors of more rows are made for one who asks at a time; who comes meanwhile finds them made."""
_MAKING = threading.Lock()
_KEPT: ByResult[_Sure] = ByResult()


def with_errors(rows: Sequence[Row], standard: str, changed: Adjustment = AS_RELEASED) -> list[Row]:
    """The rows of a board with the errors and chances of their scores, those that keep draws; the others as they are.

    Args:
        rows: of one benchmark.
        standard: under which they were scored.
        changed: what a reader changed about it.
    """
    results = [row.result for row in rows if row.result is not None and row.result.draws is not None]
    with _MAKING if len(results) > MANY else nullcontext():
        _make([one for one in results if _KEPT.get(one) is None], standard, changed)
    return [_with(row, None if row.result is None else _KEPT.get(row.result)) for row in rows]


def _make(results: Sequence[Result], standard: str, changed: Adjustment) -> None:
    if not results:
        return
    bench = find_benchmark(results[0].benchmark)
    chosen = find_standard(bench, standard)
    limits = bench.scoring(chosen, changed).limits
    pairs = [(one.scored, one.draws) for one in results if one.draws is not None]
    for one, drawn in zip(results, many_score_draws(bench, pairs, chosen, changed), strict=True):
        found = turned(bench, one.scored, drawn)
        _KEPT.put(
            one,
            _Sure(
                uncertainties_of(one.scored, found, bench.logarithmic, limits),
                chances_of(bench, found, one.scored, chosen, changed),
            ),
        )


def _with(row: Row, sure: _Sure | None) -> Row:
    if sure is None:
        return row
    scores = {
        name: replace(value, uncertainty=sure.scores[name]) if name in sure.scores else value
        for name, value in row.scores.items()
    }
    return replace(row, scores=scores, chances=sure.chances)
