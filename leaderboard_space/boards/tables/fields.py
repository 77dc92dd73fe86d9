"""A row's fields as visitors get them: submitted text made plain, printed numbers with their printed digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fairspace.leaderboard_space.boards.tables.exact import ranked_number
from fairspace.leaderboard_space.boards.telling import PROVENANCES, provenance_of
from fairspace.leaderboard_space.log_state import Entry
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_fields import ROW_FIELDS

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
