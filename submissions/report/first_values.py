"""The values of a result that a reader looks at first, with their three numbers and the digits to show them with."""

from __future__ import annotations

from collections.abc import Collection

from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.plotting import number
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.three_numbers import ThreeNumbers, three_numbers
from fairspace.submissions.values import Value

DIGITS, DIGITS_FROM_TEN = 4, 2
"""Decimals of a number below 10, and of others."""


def first_values(result: Result) -> dict[str, Value]:
    """The leading values, then what the benchmark names first, or all its scores; that which ranks go by among them."""
    bench, scores = benchmark(result.benchmark), result.scored.scores
    names = (*bench.leading(result.scored, result.standard), *(bench.headline or scores), result.scored.ranking)
    return {name: scores.get(name, value) for name, value in named(result, names).items()}


def named(result: Result, names: Collection[str]) -> dict[str, Value]:
    """Raw values and scores of these names, those that the result has; of a name that both have, the raw value."""
    known = {**result.scored.scores, **result.values}
    return {name: known[name] for name in names if name in known}


def digits(value: float) -> str:
    """A number with as many decimals as tables show, and a true minus sign."""
    return number(value, DIGITS if abs(value) < 10 else DIGITS_FROM_TEN)


def numbers_of(result: Result, value: Value) -> ThreeNumbers:
    """The three numbers of a value of a result."""
    return three_numbers(value, benchmark(result.benchmark).ideal(value.name, result.standard), digits)
