"""The rows of logged results under each standard, without ranks; each is made once."""

from __future__ import annotations

from dataclasses import replace

from fairspace.leaderboard_space.log_state import Entry
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.names import owner_of
from fairspace.submissions.results.board import logged_row
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row, row_with
from fairspace.submissions.results.row_errors import keep_errors

OWN_RUN = "run by us, not re-run"
PUBLISHED_ANSWERS = "answers published by the paper's authors, scored by us"


def _is_published(result: Result) -> bool:
    """Whether the answers are to prompts of the authors, which only they have asked."""
    revision = result.signature.get("dataset_revision", "")
    return any(revision in task.named_in for task in benchmark(result.benchmark).tasks)


class LoggedRows:
    """Rows by entry and standard."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Row]] = {}
        """Entry -> standard -> row."""

    def of(self, logged: Entry, standard: str) -> Row:
        """The row of a result under a standard."""
        row = self._rows.get(logged.entry, {}).get(standard)
        if row is None:
            accounts = tuple(filter(None, (logged.user, logged.organisation)))
            owner = owner_of(str(logged.result.meta.get("model", "")), accounts)
            own = "" if not logged.own else PUBLISHED_ANSWERS if _is_published(logged.result) else OWN_RUN
            row = replace(logged_row(logged.result, standard), submitter=logged.user, owner=owner, own=own)
            self._rows.setdefault(logged.entry, {})[standard] = row
            errors, result = logged.errors.get(standard), row.result
            if errors is not None and result is not None and result.draws is not None:
                keep_errors(result, errors)
        if logged.verified or logged.released:
            return row_with(row, verified=logged.verified is not None, released=logged.released is not None)
        return row
