"""A row's fields as visitors get them: submitted text made plain, numbers without the noise of binary fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from fairspace.leaderboard_space.boards.words import PROVENANCES, provenance_of
from fairspace.leaderboard_space.log_state import Entry
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_fields import ROW_FIELDS
from fairspace.submissions.values import Value

SUBMITTED: Mapping[str, Callable[[Entry], str]] = {
    "by": lambda entry: plain(entry.organisation or entry.user),
    "since": lambda entry: entry.time,
}
"""Field -> how it is read from the log's entry of a row that was scored here."""


def visitor_fields(row: Row, names: Iterable[str], entry: Entry | None = None) -> dict[str, Any]:
    """Some of a row's fields as JSON data.

    Args:
        row: of a board.
        names: of `ROW_FIELDS`, of `SUBMITTED`, or `figures`: the evidence for the figures, in words.
        entry: what the log says of the row; without it the fields of `SUBMITTED` are ''.
    """
    return {name: _value(row, name, entry) for name in names}


def _value(row: Row, name: str, entry: Entry | None) -> Any:
    if name == "figures":
        return PROVENANCES[provenance_of(row)]
    if name == "ranked":
        return ranked_number(row)
    if name in SUBMITTED:
        return "" if entry is None else SUBMITTED[name](entry)
    value = ROW_FIELDS[name].of(row)
    if isinstance(value, list):
        return [plain(part) if isinstance(part, str) else part for part in value]
    return plain(value) if isinstance(value, str) else value


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
