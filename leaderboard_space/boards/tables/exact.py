"""Numbers for files and programs, without the rounding noise of binary fractions."""

from __future__ import annotations

from dataclasses import replace

from fairspace.submissions.results.row import Row
from fairspace.submissions.values import Value

DIGITS = 12
"""Significant ones of a printed number; no paper prints so many."""
LEFT = 1e-12
"""By which rounding can leave a value beside its own bounds; more would be a fault, and is not hidden."""


def exact(value: Value) -> Value:
    """The value inside its bounds, and a printed share with its printed digits: 0.9618, not 0.9618000000000001."""
    number, low, high = value.value, value.low, value.high
    if number is None:
        return value
    if "printed" in value.evidence:
        number = _printed(number)
    if low is not None and number < low <= number + LEFT:
        low = number
    if high is not None and number - LEFT <= high < number:
        high = number
    same = (number, low, high) == (value.value, value.low, value.high)
    return value if same else replace(value, value=number, low=low, high=high)


def ranked_number(row: Row) -> float | None:
    """The number that a row is ranked by, with its printed digits if it is a printed one."""
    return row.ranked if row.ranked is None or row.provenance != "published" else _printed(row.ranked)


def _printed(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
