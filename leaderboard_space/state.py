"""The state of a store: the submissions, and the rows of every board.

Rows are made from the `result` events of the log; the files of results also hold the evidence.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from fairspace.leaderboard_space.boards.board_cache import Board
from fairspace.leaderboard_space.boards.snapshots import Snapshots
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import Event
from fairspace.leaderboard_space.keeping_out import Shown, without_ranks
from fairspace.leaderboard_space.log_state import Entry, LogState, Submission, baseline_of
from fairspace.leaderboard_space.logged_rows import LoggedRows
from fairspace.leaderboard_space.storage import Storage, StorageError, result_path, submission_path
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.board import published_rows, ranked
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.tiers import tiered


class State:
    """The state of a store, kept up to date. Safe for several threads; what it gives never changes afterwards.

    Args:
        storage: of the log.
        key: of the maintainers' signatures, as `signing.signing_key` gives it; without one none is checked.
        pace: as in `Snapshots`.
    """

    def __init__(self, storage: Storage, key: bytes = b"", pace: float = 0.0) -> None:
        self.storage = storage
        self.key = key
        self._lock = threading.RLock()
        self._folded = LogState(key=key)
        self._rows = LoggedRows()
        self._shown: dict[str, tuple[int, Shown]] = {}
        """Benchmark -> last event, and the rows as of then: every standard has the same."""
        self.snapshots = Snapshots(self._board, pace)

    def refresh(self) -> int:
        """Fold what was appended since, by whomever; the number of the last event. Errors: as `Storage.events`."""
        with self._lock:
            for event in self.storage.events(self._folded.number):
                self._fold(event)
                entry = self._folded.entries.get(str(event.body.get("entry")))
                if entry is not None and event.kind in _MOVE_RANKS:
                    self.snapshots.change(entry.benchmark, event.number)
            return self._folded.number

    def _fold(self, event: Event) -> None:
        try:
            self._folded.fold(event)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            where = f"event {event.number} of the log"
            what = f"no {event.kind} event of ours says this ({type(error).__name__}: {error})"
            mend = "put the log back from a backup; or update this software, if a newer one wrote the log"
            raise StorageError("STORE_CORRUPT", where, what, "what this software writes", mend) from error

    @property
    def number(self) -> int:
        """Of the last event that was folded."""
        return self._folded.number

    def version(self, benchmark: str = "") -> int:
        """As `Snapshots.version`."""
        return self.snapshots.version(benchmark)

    @property
    def forged(self) -> tuple[int, ...]:
        """Numbers of `verified` events that are not the maintainers'."""
        return tuple(self._folded.forged)

    def submission(self, name: str) -> Submission | None:
        """The submission of that id."""
        return self._folded.submissions.get(name)

    @contextmanager
    def submitted_file(self, submission: Submission) -> Iterator[Path]:
        """The file of a submission while the context lasts. StorageError STORE_PRUNED, STORE_MISSING."""
        path = submission_path(submission.sha256)
        if submission.pruned:
            what = f"its file was removed on {submission.pruned[:10]}, after it was {submission.outcome}"
            mend = "hand the same file in again"
            raise StorageError("STORE_PRUNED", f"submission {submission.id}", what, "a file that is kept", mend)
        with self.storage.local(path) as file:
            yield file

    def submissions(self) -> list[Submission]:
        """All, in the order in which they were first accepted."""
        with self._lock:
            return list(self._folded.submissions.values())

    def entry(self, name: str) -> Entry | None:
        """What the log says of a row, withdrawn or not."""
        return self._folded.entries.get(name)

    def entries(self) -> list[Entry]:
        """Of all rows that were scored here, in the order in which they came to be."""
        with self._lock:
            return list(self._folded.entries.values())

    def is_revoked(self, token: str, user: str, made: str) -> bool:
        """Whether a token was revoked: by its id, or as one that its user had made until then."""
        revoked = self._folded.revoked
        return token in revoked or made <= revoked.get(f"user:{user}", "")

    def revocations(self, by: str, since: str) -> int:
        """How often a user revoked tokens since then."""
        return sum(time > since for time in self._folded.revocations.get(by, ()))

    def withdrawn(self, benchmark: str) -> list[Entry]:
        """The rows that were taken off a benchmark's board, the last one first."""
        with self._lock:
            withdrawn = list(self._folded.withdrawn.items())
        return [self._folded.entries[name] for name, where in reversed(withdrawn) if where == benchmark]

    def withdrawn_attempts(self, entry: str) -> list[Entry]:
        """Withdrawn rows of the same model and account as a row."""
        models = self._folded.attempts.models
        logged, key = self.entry(entry), models.get(entry)
        if logged is None or key is None:
            return []
        return [other for other in self.withdrawn(logged.benchmark) if models.get(other.entry) == key]

    def mendings(self) -> list[str]:
        """What was mended in the log, in words."""
        with self._lock:
            return list(self._folded.mendings)

    def board(self, benchmark: str, standard: str = "") -> Board:
        """The rows of a board without the withdrawn ones; see `fairspace.submissions.results.board.board`.

        UsageError: unknown benchmark or standard.
        """
        return self.snapshots.rows(benchmark, standard or find_benchmark(benchmark).default)

    def row(self, benchmark: str, standard: str, entry: str) -> Row | None:
        """A row of a board, also one that has come since its last snapshot; None for none."""
        row = self.board(benchmark, standard).by_entry.get(entry)
        if row is None and self.snapshots.renew(benchmark):
            row = self.board(benchmark, standard).by_entry.get(entry)
        return row

    def find_row(self, benchmark: str, standard: str, entry: str) -> Row:
        """As `row`. SpaceError UNKNOWN_ENTRY for none, which says why one that was withdrawn is not there."""
        if (row := self.row(benchmark, standard, entry)) is not None:
            return row
        where, problem, mend = f"{benchmark}/{plain(entry)[:40]}", "no such row", "look it up on the board, at /"
        logged = self.entry(entry)
        if logged is not None and logged.benchmark == benchmark and (mark := logged.withdrawn) is not None:
            problem = f"it was withdrawn on {mark.time[:10]}: {mark.reason}"
            mend = f"see /model/{benchmark}/{entry}"
        raise SpaceError("UNKNOWN_ENTRY", where, problem, "a row on the board", mend)

    def _board(self, benchmark: str, standard: str) -> Board:
        """The rows of a released board as the log has them now."""
        shown = self._shown_now(benchmark)
        rows: list[Row] = list(published_rows(benchmark, standard))
        rows += [self._rows.of(logged, standard) for logged in shown.entries]
        rows = without_ranks(rows, self._folded.attempts, shown)
        return Board(tiered(ranked(rows, benchmark, standard), benchmark, standard))

    def full(self, entry: str) -> Result | None:
        """The result behind a row with its evidence, under its own standard; None for no such row.

        StorageError STORE_MISSING, and STORE_CORRUPT if the file is not the one that the log speaks of.
        """
        logged = self.entry(entry)
        if logged is None:
            return None
        path = result_path(logged.benchmark, logged.key)
        content = self.storage.read(path)
        if hashlib.sha256(content).hexdigest() != logged.sha256:
            expected, mend = f"a file with the sha256 {logged.sha256}", "put the file back from a backup"
            raise StorageError("STORE_CORRUPT", path, "other content than the log speaks of", expected, mend)
        return Result.from_json(orjson.loads(content))

    def snapshot(self) -> bytes:
        """Every board under every standard as canonical JSON: two states of one log give the same bytes."""
        boards = {
            f"{name}/{standard}": [_row_data(row) for row in self.board(name, standard)]
            for name in NAMES
            for standard in find_benchmark(name).standards
        }
        return orjson.dumps(boards, option=orjson.OPT_SORT_KEYS)

    def _shown_now(self, benchmark: str) -> Shown:
        with self._lock:
            number, shown = self._shown.get(benchmark, (-1, None))
            if shown is None or number != self._folded.number:
                shown = Shown.of(self._folded, list(self._on_board(benchmark)))
                self._shown[benchmark] = (self._folded.number, shown)
            return shown

    def _on_board(self, benchmark: str) -> Iterable[Entry]:
        """What the board shows; of a baseline that several versions of this software scored, the newest."""
        newest = self._folded.baselines
        for logged in self._folded.entries.values():
            if logged.benchmark == benchmark and not logged.withdrawn:
                baseline = baseline_of(logged.result)
                if baseline is None or newest[baseline] == logged.entry:
                    yield logged


_MOVE_RANKS = ("result", "withdrawn", "restored", "verified", "unverified", "released")
"""Kinds of events that change a board."""


def _row_data(row: Row) -> dict[str, Any]:
    """A row as JSON data."""
    scores = [value.to_json() for value in row.scores.values()]
    about = (row.entry, row.model, row.organisation, row.provenance, row.row_class, row.visibility, row.cohort)
    return {"about": about, "rank": row.rank, "ranked": row.ranked, "unranked": row.unranked, "scores": scores}
