"""Uncertainties of the scores of rows: made with the result where it was scored, else on display."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.results.draws import Drawn, chances_of, many_score_draws, uncertainties_of
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row, row_with
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.values import Value


@dataclass(frozen=True)
class Errors:
    """Uncertainty by score, and chances of crossing thresholds."""

    scores: Mapping[str, Uncertainty]
    chances: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        scores = {name: error.to_json() for name, error in self.scores.items()}
        return {"scores": scores, "chances": dict(self.chances)}


def errors_of(scores: Mapping[str, Value], chances: Mapping[str, float]) -> Errors:
    """The uncertainties that scores already have, with their chances."""
    return Errors({name: value.uncertainty for name, value in scores.items() if value.uncertainty is not None}, chances)


def keep_errors(result: Result, errors: Errors) -> None:
    """Keep the errors of a result for `with_errors`, which joins them to its scores when these are shown."""
    result.derived["errors"] = errors


def with_errors(rows: Sequence[Row], standard: str) -> list[Row]:
    """The rows of a board with errors and chances of their scores, where results keep draws."""
    results = [row.result for row in rows if row.result is not None and row.result.draws is not None]
    _compute([result for result in results if "errors" not in result.derived], standard)
    return [_with_errors(row) for row in rows]


def _with_errors(row: Row) -> Row:
    errors = None if row.result is None else row.result.derived.get("errors")
    if row.result is None or errors is None:
        return row
    scores = {
        name: replace(value, uncertainty=errors.scores.get(name, value.uncertainty))
        for name, value in row.result.scored.scores.items()
    }
    return row_with(row, scores=scores, chances=errors.chances)


def _compute(results: Sequence[Result], standard: str) -> None:
    if not results:
        return
    bench = find_benchmark(results[0].benchmark)
    rules = find_standard(bench, standard)
    drawn = [Drawn(result.scored, result.values, result.draws) for result in results if result.draws is not None]
    for result, draws in zip(results, many_score_draws(bench, drawn, rules), strict=True):
        table = bench.table_of(result.scored, rules)
        uncertainties = uncertainties_of(result.scored, result.values, draws, table)
        keep_errors(result, Errors(uncertainties, chances_of(bench, draws, result.scored, rules, AS_RELEASED)))
