"""The state of a store: the submissions, and the rows of every board.

Rows are made from the `result` events of the log; the files of results also hold the evidence.
"""

from __future__ import annotations

import gc
import hashlib
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import orjson

from fairspace.leaderboard_space.adjusted_boards import AdjustedBoards
from fairspace.leaderboard_space.events import Event
from fairspace.leaderboard_space.log_state import Entry, LogState, Submission, baseline_of
from fairspace.leaderboard_space.storage import Storage, StorageError, result_path
from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustment
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.reading.strict_json import parse
from fairspace.submissions.results.board import check_adjustment, logged_row, published_rows, ranked
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.tiers import tiered

_MANY = 100_000


@contextmanager
def _pause_collector(many: bool) -> Iterator[None]:
    """Pause garbage collection during a bulk load, then freeze what was loaded."""
    if not many or not gc.isenabled():
        yield
        return
    before = gc.get_count()[0]
    gc.disable()
    try:
        yield
        if gc.get_count()[0] - before > _MANY:
            gc.freeze()
    finally:
        gc.enable()


class State:
    """The state of a store, kept up to date. Safe for several threads; what it gives never changes afterwards.

    Args:
        storage: of the log.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._lock = threading.RLock()
        self._folded = LogState()
        self._rows: dict[tuple[str, str], Row] = {}
        self._boards: dict[tuple[str, str], tuple[Row, ...]] = {}
        self._versions: dict[str, int] = {}
        self.adjusted = AdjustedBoards(self.board)

    def refresh(self) -> int:
        """Fold what was appended since, by whomever; the number of the last event. Errors: as `Storage.events`."""
        with self._lock, _pause_collector(self._folded.number == 0):
            for event in self.storage.events(self._folded.number):
                self._fold(event)
                if event.kind in ("result", "withdrawn", "restored", "verified"):
                    changed = self._folded.entries[event.body["entry"]].benchmark
                    self._boards = {about: rows for about, rows in self._boards.items() if about[0] != changed}
                    self._versions = {**self._versions, changed: event.number}
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
        """The number of the last event that changed a benchmark's boards, or any if none is named.

        What is made of the boards after asking is of this version or a later one.
        """
        versions = self._versions
        return versions.get(benchmark, 0) if benchmark else max(versions.values(), default=0)

    def submission(self, name: str) -> Submission | None:
        """The submission of that id."""
        return self._folded.submissions.get(name)

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

    def board(self, benchmark: str, standard: str = "", adjustment: Adjustment = AS_RELEASED) -> tuple[Row, ...]:
        """The rows of a board without the withdrawn ones; see `fairspace.submissions.results.board.board`.

        UsageError: unknown benchmark or standard, or an adjustment that does not fit it. SpaceError ADJUSTED_BUSY:
        many adjusted boards are asked for at once; the released ones wait for none of them.
        """
        standard = standard or find_benchmark(benchmark).default
        changed = check_adjustment(benchmark, standard, adjustment)
        if changed != AS_RELEASED:
            return self.adjusted.of(benchmark, standard, changed)
        about = (benchmark, standard)
        kept = self._boards.get(about)
        if kept is not None:
            return kept
        with self._lock:
            rows: list[Row] = list(published_rows(benchmark, standard))
            shown = list(self._shown(benchmark))
            with _pause_collector(not any((logged.entry, standard) in self._rows for logged in shown)):
                rows += [self._row(logged, standard) for logged in shown]
            self._boards[about] = tuple(tiered(ranked(rows, benchmark), benchmark, standard))
            return self._boards[about]

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
        return Result.from_json(parse(content.decode(), _DEPTH))

    def snapshot(self) -> bytes:
        """Every board under every standard as canonical JSON: two states of one log give the same bytes."""
        boards = {
            f"{name}/{standard}": [_row_data(row) for row in self.board(name, standard)]
            for name in NAMES
            for standard in find_benchmark(name).standards
        }
        return orjson.dumps(boards, option=orjson.OPT_SORT_KEYS)

    def _shown(self, benchmark: str) -> Iterable[Entry]:
        """What the board shows; of a baseline that several versions of this software scored, the newest."""
        newest = self._folded.baselines
        for logged in self._folded.entries.values():
            if logged.benchmark == benchmark and not logged.withdrawn:
                baseline = baseline_of(logged.result)
                if baseline is None or newest[baseline] == logged.entry:
                    yield logged

    def _row(self, logged: Entry, standard: str) -> Row:
        row = self._rows.get((logged.entry, standard))
        if row is None:
            row = self._rows[logged.entry, standard] = logged_row(logged.result, standard)
        return replace(row, visibility="rerun by maintainers") if logged.verified else row


_DEPTH = 16


def _row_data(row: Row) -> dict[str, Any]:
    """A row as JSON data."""
    scores = [value.to_json() for value in row.scores.values()]
    about = (row.entry, row.model, row.organisation, row.provenance, row.visibility, row.cohort)
    return {"about": about, "rank": row.rank, "ranked": row.ranked, "unranked": row.unranked, "scores": scores}
