"""The leading values of a result, with their three numbers and the digits to show them with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.results.three_numbers import ThreeNumbers, state_of, three_numbers
from fairspace.submissions.uncertainty.scores import WITHOUT
from fairspace.submissions.values import Value


def first_values(result: Result) -> dict[str, Value]:
    """The leading values, then the benchmark's chosen ones, or all its scores, the ranking one included.

    Scores of a partial run are estimates from the sample.
    """
    bench, scores = benchmark(result.benchmark), result.scored.shown
    names = (
        *bench.reporting.leading(result.scored, result.standard),
        *(bench.reporting.headline or scores),
        result.scored.ranking,
    )
    return {name: scores.get(name, value) for name, value in named(result, names).items()}


def named(result: Result, names: Collection[str]) -> dict[str, Value]:
    """Raw values and scores of these names; of a name that both have, the raw value."""
    known = {**result.scored.shown, **result.values}
    return {name: known[name] for name in names if name in known}


def limits_of(result: Result, name: str) -> tuple[float, float]:
    """The smallest and largest possible number of a score; infinite where it has no such end."""
    bench = benchmark(result.benchmark)
    return bench.table_of(result.scored, find_standard(bench, result.standard)).limits.get(name, WITHOUT)


def numbers_of(result: Result, value: Value) -> ThreeNumbers:
    """The three numbers of a value of a result."""
    ideal = benchmark(result.benchmark).ideal(value.name, result.standard)
    return three_numbers(value, ideal, digits, values=result.values)


def lines_of(result: Result, values: Mapping[str, Value]) -> list[tuple[str, ...]]:
    """Values as texts: name, number or state, interval, chance of fair models, and notes."""
    threes = [(name, numbers_of(result, value)) for name, value in values.items()]
    return [(name, n.value_text, n.interval_text, n.chance_text, "; ".join(n.notes)) for name, n in threes]


def value_row(result: Result, name: str, value: Value) -> dict[str, Any]:
    """A value as a row of `Result.to_frame`, which documents the columns."""
    three, about = numbers_of(result, value), value.uncertainty
    ideal = benchmark(result.benchmark).ideal(name, result.standard)
    low, high = three.interval or (None, None)
    return {
        "name": name,
        "kind": "raw value" if name in result.values else "score",
        "value": value.value,
        "interval_low": low,
        "interval_high": high,
        "chance": None if about is None or ideal is None else about.fair,
        "chance_end": None if about is None or ideal is None else about.fair_high,
        "no_bias_shown": three.biased is False,
        "missing": three.missing_text,
        "if_missing_low": value.low,
        "if_missing_high": value.high,
        "valid": value.valid,
        "expected": value.expected,
        "ideal": None if ideal is None else ideal.number,
        "bad_direction": None if ideal is None else ideal.worse,
        "state": state_of(value),
        "reason": value.reason,
    }
