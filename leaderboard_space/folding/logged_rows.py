"""The rows of logged results under each standard, without ranks; each is made once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fairspace.leaderboard_space.folding.packed_values import Alike, PackedValues
from fairspace.leaderboard_space.log_state import Entry
from fairspace.submissions.checking.names import owner_of
from fairspace.submissions.results.board import logged_row
from fairspace.submissions.results.row import Row, row_with
from fairspace.submissions.results.row_errors import keep_errors


class LoggedRows:
    """Rows by entry and standard."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Row]] = {}
        """Entry -> standard -> row."""
        self._alike = Alike()

    def has(self, logged: Entry, standard: str) -> bool:
        """Whether a row was made already."""
        return standard in self.kept.get(logged.entry, {})

    def of(self, logged: Entry, standard: str) -> Row:
        """The row of a result under a standard."""
        row = self.kept.get(logged.entry, {}).get(standard)
        if row is None:
            accounts = tuple(filter(None, (logged.user, logged.organisation)))
            owner = owner_of(str(logged.result.meta.get("model", "")), accounts)
            row = self._packed(replace(logged_row(logged.result, standard), submitter=logged.user, owner=owner))
            self.put(logged, {standard: row})
        return row_with(row, verified=True) if logged.verified else row

    def put(self, logged: Entry, rows: Mapping[str, Row]) -> None:
        """Keep rows that `of` made, by standard; their errors are those that were logged with the result."""
        self.kept.setdefault(logged.entry, {}).update(rows)
        for standard, row in rows.items():
            errors, result = logged.errors.get(standard), row.result
            if errors is not None and result is not None and result.draws is not None:
                keep_errors(result, errors)

    def _packed(self, row: Row) -> Row:
        scores = PackedValues([value.to_json() for value in row.scores.values()], self._alike)
        if row.result is None:
            return row
        return replace(row, scores=scores, result=replace(row.result, scored=replace(row.result.scored, scores=scores)))
