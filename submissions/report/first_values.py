"""The values of a result that a reader looks at first, with their three numbers and the digits to show them with."""

from __future__ import annotations

from collections.abc import Collection

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.plotting import number
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.results.three_numbers import ThreeNumbers, three_numbers
from fairspace.submissions.uncertainty.scores import WITHOUT
from fairspace.submissions.values import Value

DIGITS, DIGITS_FROM_TEN = 4, 2
"""Decimals of a number below 10, and of others."""


def first_values(result: Result) -> dict[str, Value]:
    """The leading values, then what the benchmark names first, or all its scores; that which ranks go by among them.

    Of a run of a part of the benchmark a score is what the sample estimates.
    """
    bench, scores = benchmark(result.benchmark), result.scored.shown
    names = (*bench.leading(result.scored, result.standard), *(bench.headline or scores), result.scored.ranking)
    return {name: scores.get(name, value) for name, value in named(result, names).items()}


def named(result: Result, names: Collection[str]) -> dict[str, Value]:
    """Raw values and scores of these names, those that the result has; of a name that both have, the raw value."""
    known = {**result.scored.shown, **result.values}
    return {name: known[name] for name in names if name in known}


def digits(value: float) -> str:
    """A number with as many decimals as tables show, and a true minus sign."""
    return number(value, DIGITS if abs(value) < 10 else DIGITS_FROM_TEN)


def limits_of(result: Result, name: str) -> tuple[float, float]:
    """The smallest and the largest number that a score can be; infinite where it has no such end."""
    bench = benchmark(result.benchmark)
    return bench.table_of(result.scored, find_standard(bench, result.standard)).limits.get(name, WITHOUT)


def numbers_of(result: Result, value: Value) -> ThreeNumbers:
    """The three numbers of a value of a result."""
    ideal = benchmark(result.benchmark).ideal(value.name, result.standard)
    return three_numbers(value, ideal, digits, values=result.values)
