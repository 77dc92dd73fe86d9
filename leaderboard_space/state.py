"""The state of a store: submissions, and every board's rows, made from the log's `result` events."""

from __future__ import annotations

import gc
import hashlib
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import orjson

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import OF_ROWS, Event
from fairspace.leaderboard_space.log_state import (
    Attempts,
    LoggedRow,
    LoggedSubmission,
    LogState,
    SameAnswers,
    Wish,
    baseline_of,
)
from fairspace.leaderboard_space.logged import board_values, join_errors, scored_by_event
from fairspace.leaderboard_space.storage import UNREADABLE, Storage, StorageError, result_path, submission_path
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.names import owner_of, skeleton
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.results.board import (
    UNSCORABLE_BY,
    logged_row,
    published_rows,
    unscored_row,
)
from fairspace.submissions.results.draws import Draws
from fairspace.submissions.results.known_answers import COPY
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import TO_CHECK, UNRANKED, Row, keep_out, ranked, row_with
from fairspace.submissions.results.tiers import has_draws, tiered
from fairspace.submissions.values import Value

Made = TypeVar("Made")
_UNLIKE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Python's errors of data that this version does not write."""


class State:
    """The state of a store, kept up to date. Safe for several threads; returned values never change.

    Without a `key` (see `signing_key`) no signature is checked. Without `rows` it takes a third of the memory, and
    boards are made from the files of the results.
    """

    def __init__(self, storage: Storage, key: bytes = b"", *, rows: bool = True) -> None:
        self.storage = storage
        self.key = key
        self._lock, self._making = threading.RLock(), threading.RLock()
        self._measured = lru_cache(_MEASURED)(self._read_measured)
        self._folded = LogState(key=key, keeps_rows=rows, read=lambda entry: self._measured(entry)[0])
        self._rows: dict[tuple[str, str], Row] = {}
        self._shown: dict[str, tuple[int, ShownRows]] = {}
        """Benchmark -> last event and its rows, shared by all standards."""
        self._versions: dict[str, int] = {}
        """Benchmark -> the last event that changed its boards."""
        self._boards: dict[tuple[str, str], tuple[int, Board]] = {}
        self._pieces: dict[Hashable, tuple[Hashable, Any]] = {}

    def refresh(self) -> int:
        """Fold the newly appended events and return the number of the last one. Errors: as `Storage.events`."""
        with self._lock, _uncollected():
            for event in self.storage.events(self._folded.number):
                self._fold(event)
                entry = self._folded.entries.get(str(event.body.get("entry")))
                if entry is not None and event.kind in ("result", *OF_ROWS):
                    self._versions[entry.benchmark] = event.number
            return self._folded.number

    def _fold(self, event: Event) -> None:
        try:
            self._folded.fold(event)
        except _UNLIKE as error:
            where = f"event {event.number} of the log"
            what = f"no {event.kind} event of ours says this ({type(error).__name__}: {error})"
            mend = "put the log back from a backup; or update this software, if a newer one wrote the log"
            raise StorageError("STORE_CORRUPT", where, what, "what this software writes", mend) from error

    @property
    def number(self) -> int:
        """The number of the last folded event."""
        return self._folded.number

    @property
    def last(self) -> tuple[int, str]:
        """Number and time of the last folded event; 0 and '' for an empty log."""
        return self._folded.number, self._folded.time

    def version(self, benchmark: str = "") -> int:
        """The last event that changed the boards of a benchmark, or any board."""
        versions = self._versions
        return versions.get(benchmark, 0) if benchmark else max(versions.values(), default=0)

    @property
    def forged(self) -> tuple[int, ...]:
        """Numbers of `verified` events without the maintainers' signature."""
        return tuple(self._folded.forged)

    def submission(self, name: str) -> LoggedSubmission | None:
        """The submission of that id."""
        return self._folded.submissions.get(name)

    @contextmanager
    def submitted_file(self, submission: LoggedSubmission) -> Iterator[Path]:
        """The file of a submission while the context lasts. StorageError STORE_PRUNED, STORE_MISSING."""
        path = submission_path(submission.sha256)
        if submission.pruned:
            what = f"its file was removed on {submission.pruned[:10]}, after it was {submission.outcome}"
            mend = "submit the same file again"
            raise StorageError("STORE_PRUNED", f"submission {submission.id}", what, "a file that is kept", mend)
        with self.storage.local(path) as file:
            yield file

    def submissions(self) -> list[LoggedSubmission]:
        """All submissions, in the order of their first acceptance."""
        with self._lock:
            return list(self._folded.submissions.values())

    def entry(self, name: str) -> LoggedRow | None:
        """A row in the log, withdrawn or not."""
        return self._folded.entries.get(name)

    def entries(self) -> list[LoggedRow]:
        """All rows that were scored here, in the order of the log."""
        with self._lock:
            return list(self._folded.entries.values())

    def models_of_others(self, user: str) -> list[str]:
        """Models of standing rows that others handed in or we ran, without those that imitate a name themselves."""
        marked = {entry for name in NAMES for entry in imitations(self._shown_now(name).entries)}
        standing = (logged for logged in self.entries() if not logged.withdrawn and logged.entry not in marked)
        return sorted({_who(logged)[1] for logged in standing if logged.user != user})

    def is_revoked(self, token: str, user: str, made: str, after: int | None = None) -> bool:
        """Whether a token was revoked: by its id, or with all earlier tokens of its user.

        A token made `after` an event is earlier than those that follow, whatever the clock said; older ones have none.
        """
        revoked = self._folded.revoked
        number, time = revoked.get(f"user:{user}", (0, ""))
        return token in revoked or (made <= time if after is None else after < number)

    def revocations(self, by: str, since: str) -> int:
        """Number of revocations by a user since a time."""
        return sum(time > since for time in self._folded.revocations.get(by, ()))

    def wanted(self) -> dict[str, Wish]:
        """Model in small letters -> who asked us to run it, in the order of the log."""
        with self._lock:
            entries = [entry for entry in self._folded.entries.values() if not entry.withdrawn]
            ran = {str(entry.result.meta.get("model")).casefold() for entry in entries if entry.own or entry.verified}
            wanted = self._folded.wanted.items()
            return {key: replace(each, state="on the board") if key in ran else each for key, each in wanted}

    def withdrawn(self, benchmark: str) -> list[LoggedRow]:
        """The withdrawn rows of a benchmark, the last one first."""
        with self._lock:
            withdrawn = list(self._folded.withdrawn.items())
        return [self._folded.entries[name] for name, where in reversed(withdrawn) if where == benchmark]

    def withdrawn_attempts(self, entry: str) -> list[LoggedRow]:
        """Withdrawn rows of the same model and account as a row."""
        models = self._folded.attempts.models
        logged, key = self.entry(entry), models.get(entry)
        if logged is None or key is None:
            return []
        return [other for other in self.withdrawn(logged.benchmark) if models.get(other.entry) == key]

    def mendings(self) -> list[str]:
        """Repairs of the log, in words."""
        with self._lock:
            return list(self._folded.mendings)

    @property
    def lost(self) -> int:
        """Number of events that the log says it lost."""
        return len(self._folded.lost)

    def board(self, benchmark: str, standard: str = "") -> Board:
        """The rows of a board without the withdrawn ones; see `results.board.board`. UsageError: unknown board."""
        board, now = (benchmark, standard or find_benchmark(benchmark).default), self.version(benchmark)
        with self._making:
            version, rows = self._boards.get(board, (-1, None))
            if rows is None or version != now:
                now, rows = self.version(benchmark), self._board(*board)
                self._boards[board] = now, rows
            return rows

    def piece(self, key: Hashable, marks: Hashable, make: Callable[[], Made]) -> Made:
        """A piece of a page, made again only if the `marks` that it depends on have changed."""
        before = self._pieces.get(key)
        if before is None or before[0] != marks:
            before = self._pieces[key] = marks, make()
        made: Made = before[1]
        return made

    def row(self, benchmark: str, standard: str, entry: str) -> Row | None:
        """A row of a board, even if it has just been added to the log; None for an unknown one."""
        if entry not in self.board(benchmark, standard).by_entry:
            self.refresh()
        return self.board(benchmark, standard).by_entry.get(entry)

    def find_row(self, benchmark: str, standard: str, entry: str) -> Row:
        """A row as `row` gives it. SpaceError UNKNOWN_ENTRY for an unknown or withdrawn row, with the reason."""
        if (row := self.row(benchmark, standard, entry)) is not None:
            return row
        where, problem, mend = f"{benchmark}/{plain(entry)[:40]}", "no such row", "look it up on the board, at /"
        logged = self.entry(entry)
        if logged is not None and logged.benchmark == benchmark and (mark := logged.withdrawn) is not None:
            problem = f"it was withdrawn on {mark.time[:10]}: {mark.reason}"
            mend = f"see /model/{benchmark}/{entry}"
        raise SpaceError("UNKNOWN_ENTRY", where, problem, "a row on the board", mend)

    def _board(self, benchmark: str, standard: str) -> Board:
        shown = self._shown_now(benchmark)
        rows: list[Row] = list(published_rows(benchmark, standard))
        with _uncollected():
            rows += [self.row_of(logged, standard) for logged in shown.entries]
            rows = without_ranks(rows, self._folded.attempts, shown)
            return Board(tiered(ranked(rows, benchmark, standard), benchmark, standard))

    def unplaced(self, logged: LoggedRow, standard: str) -> Row:
        """The row of a log entry, with its reasons for no rank, and without one: no board is made for it."""
        shown = self._shown_now(logged.benchmark)
        [row] = without_ranks([self.row_of(logged, standard)], self._folded.attempts, shown)
        return row

    def row_of(self, logged: LoggedRow, standard: str) -> Row:
        """The row of a log entry under a standard, without a rank; withdrawn rows, too."""
        row = self._rows.get((logged.entry, standard))
        if row is None:
            owner = _owner(logged)
            own = "" if not logged.own else PUBLISHED_ANSWERS if _is_published(logged.result) else OWN_RUN
            row, is_lasting = self._scored(logged, standard)
            row = row_with(row, submitter=logged.user, owner=owner, own=own)
            if row.result is not None and has_draws(row):
                join_errors(row.result, logged.packed)
            if is_lasting:
                self._rows[logged.entry, standard] = row
        if logged.verified or logged.released:
            return row_with(row, verified=logged.verified is not None, released=logged.released is not None)
        return row

    def _scored(self, logged: LoggedRow, standard: str) -> tuple[Row, bool]:
        """The row with the scores of the log, or else of its file; and whether a later try would give the same."""
        try:
            result = scored_by_event(logged.result, logged.packed, standard) if logged.is_scored else None
            if result is None and logged.tasks is not None:  # a log with all values has the draws, too
                result = replace(logged.result, draws=self._measured(logged.entry)[1])
        except (StorageError, UsageError, *UNSCORABLE_BY):
            return unscored_row(logged.result, standard, logged.tasks or ()), False
        return logged_row(result or logged.result, standard, logged.tasks), True

    def _read_measured(self, entry: str) -> tuple[Mapping[str, Value], Draws | None]:
        full = self.readable(entry)
        return ({}, None) if full is None else (board_values(full), full.draws)

    def full(self, entry: str) -> Result | None:
        """The result behind a row with its evidence, under its own standard; None for an unknown row.

        StorageError STORE_MISSING; STORE_CORRUPT if the file does not match the log; STORE_UNREADABLE, see `readable`.
        """
        logged = self.entry(entry)
        if logged is None:
            return None
        path = result_path(logged.benchmark, logged.key)
        content = self.storage.read(path)
        if hashlib.sha256(content).hexdigest() != logged.sha256:
            expected, mend = f"a file with the sha256 {logged.sha256}", "put the file back from a backup"
            raise StorageError("STORE_CORRUPT", path, "other content than the log speaks of", expected, mend)
        try:
            return Result.from_json(orjson.loads(content))
        except (UsageError, *_UNLIKE) as error:
            expected, mend = "a result of this version", "update this software: a newer one may have written it"
            raise StorageError(UNREADABLE, path, UNSHOWN, expected, mend) from error

    def readable(self, entry: str) -> Result | None:
        """As `full`, but None for a result that this version of fairspace cannot read; the board shows its row."""
        try:
            return self.full(entry)
        except StorageError as error:
            if error.code != UNREADABLE:
                raise
            return None

    def snapshot(self) -> bytes:
        """Every board under every standard as canonical JSON: two states of one log give the same bytes."""
        boards = {
            f"{name}/{standard}": [_row_data(row) for row in self.board(name, standard)]
            for name in NAMES
            for standard in find_benchmark(name).standards
        }
        return orjson.dumps(boards, option=orjson.OPT_SORT_KEYS)

    def _shown_now(self, benchmark: str) -> ShownRows:
        with self._lock:
            number, shown = self._shown.get(benchmark, (-1, None))
            if shown is None or number != self._folded.number:
                shown = ShownRows.of(self._folded, list(self._on_board(benchmark)))
                self._shown[benchmark] = (self._folded.number, shown)
            return shown

    def _on_board(self, benchmark: str) -> Iterable[LoggedRow]:
        """The entries of the board; of each baseline only the newest."""
        newest = self._folded.baselines
        for logged in self._folded.entries.values():
            if logged.benchmark == benchmark and not logged.withdrawn:
                baseline = baseline_of(logged.result)
                if baseline is None or newest[baseline] == logged.entry:
                    yield logged


@contextmanager
def _uncollected() -> Iterator[None]:
    """A context without collections of garbage in cycles: rows and events make none, and it takes half their time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _row_data(row: Row) -> dict[str, Any]:
    scores = [value.to_json() for value in row.scores.values()]
    about = (row.entry, row.model, row.organisation, row.provenance, row.row_class, row.visibility, row.cohort)
    return {"about": about, "rank": row.rank, "ranked": row.ranked, "unranked": row.unranked, "scores": scores}


UNSHOWN = "this version of fairspace cannot show its evidence, which another wrote"
_MEASURED = 16
"""Results whose raw values are kept after their file was read."""
OWN_RUN = "run by us once"
PUBLISHED_ANSWERS = "answers published by the paper's authors, scored by us"


def _is_published(result: Result) -> bool:
    """Whether the answers to the authors' prompts were imported, and not asked for by a run of fairspace."""
    revision = result.signature.get("dataset_revision", "")
    return not result.run and any(revision in task.named_in for task in find_benchmark(result.benchmark).tasks)


@dataclass(frozen=True)
class ShownRows:
    """A benchmark's rows that were scored here, under every standard; `reasons`: entry -> why it has no rank."""

    entries: Sequence[LoggedRow]
    baselines: Mapping[str, str]
    reasons: Mapping[str, str]

    @classmethod
    def of(cls, folded: LogState, entries: Sequence[LoggedRow]) -> ShownRows:
        """Entries with their copied baselines and the reasons why they have no rank."""
        marks = baseline_copies(folded.same, entries)
        reasons = too_alike(folded.same, entries) | reposts(folded, entries)
        reasons |= earlier_attempts(folded.attempts, entries) | imitations(entries)
        words = {name: mark if mark.startswith(COPY) else f"{mark}. {TO_CHECK}" for name, mark in marks.items()}
        return cls(entries, marks, reasons | copies(folded.same, entries) | words)


def without_ranks(rows: Sequence[Row], attempts: Attempts, shown: ShownRows) -> list[Row]:
    """The rows of a board; a submission has a rank only if it was verified or released, and is no copy."""
    kept = []
    for row in rows:
        reason = shown.reasons.get(row.entry, "")
        if mark := shown.baselines.get(row.entry, ""):
            row = row_with(row, copy_of=mark)
        elif row.row_class == "submitted" and not row.released:
            reason = f"{UNRANKED}; {reason}" if reason else UNRANKED
        row = keep_out(row, reason) if reason else row
        if number := attempts.of_model.get(row.entry):
            row = row_with(row, attempt=number, account_attempt=attempts.of_account[row.entry])
        kept.append(row)
    return kept


def earlier_attempts(attempts: Attempts, shown: Iterable[LoggedRow]) -> dict[str, str]:
    """Entry -> why it has no rank: its account tried again with the model. A verified row keeps its rank."""
    tried = [logged for logged in shown if logged.entry in attempts.models and not logged.verified]
    newest = {attempts.models[logged.entry]: logged.entry for logged in tried}
    entries = {logged.entry: newest[attempts.models[logged.entry]] for logged in tried}
    return {
        entry: f"an earlier attempt at this model; its newest is row {last}"
        for entry, last in entries.items()
        if entry != last
    }


def baseline_copies(same: SameAnswers, shown: Iterable[LoggedRow]) -> dict[str, str]:
    """Entry -> the bundled baselines that its answers are or look like; without verified or released entries."""
    firsts = {logged.entry: same.first.get(logged.entry, "") for logged in shown if not _is_vouched(logged)}
    return {entry: same.baselines[first] for entry, first in firsts.items() if first in same.baselines}


def copies(same: SameAnswers, shown: Iterable[LoggedRow]) -> dict[str, str]:
    """Entry -> why it has no rank: it has the answers of another row on the board.

    Of rows with the same answers the first released one keeps its rank, or the verified one. If its account submits
    the answers again under the same model name, that is the same row, and the newest keeps the rank.
    """
    groups: dict[str, list[LoggedRow]] = {}
    for logged in shown:
        if (first := same.first.get(logged.entry)) is not None:
            groups.setdefault(first, []).append(logged)
    reasons: dict[str, str] = {}
    for members in groups.values():
        verified = [logged for logged in members if logged.verified]
        ranked = [logged for logged in members if logged.released] or members
        kept = verified[0] if verified else [logged for logged in ranked if _who(logged) == _who(ranked[0])][-1]
        others = (logged.entry for logged in members if logged is not kept)
        reasons |= dict.fromkeys(others, f"the same answers as row {kept.entry}")
    return reasons


def too_alike(same: SameAnswers, shown: Sequence[LoggedRow]) -> dict[str, str]:
    """Entry -> why a maintainer must look: its answers are more like another row's than usual for two models.

    Exempt are verified and released rows, rows of the same account and model, and rows alike to one off the board.
    """
    by_entry = {logged.entry: logged for logged in shown}
    reasons = {}
    for logged in shown:
        alike = same.alike.get(logged.entry)
        if alike is None or _is_vouched(logged):
            continue
        other = by_entry.get(alike.entry)
        if other is not None and _who(other) != _who(logged):
            reasons[logged.entry] = (
                f"its answers are more like those of row {alike.entry} than two models' are by nature "
                f"(kappa {alike.kappa:.2f})"
            )
    return reasons


def imitations(shown: Sequence[LoggedRow]) -> dict[str, str]:
    """Entry -> why a maintainer must look: its name looks like that of a row of ours, a verified or a proved owner's.

    Of two proved owners' rows neither is marked, nor is what a maintainer released.
    """
    firm = {_who(logged)[1]: "a row that is verified or ours" for logged in shown if logged.own or logged.verified}
    proved = {logged.entry: _who(logged)[1] for logged in shown if _owner(logged)}
    words = dict.fromkeys(proved.values(), "whose proved owner is on this board") | firm
    names, reasons = {skeleton(name): name for name in (*proved.values(), *firm)}, {}
    for logged in shown:
        model = _who(logged)[1]
        name = names.get(skeleton(model), model)
        is_marked = name.casefold() != model.casefold() and (name in firm or logged.entry not in proved)
        if is_marked and not logged.own and not _is_vouched(logged):
            reasons[logged.entry] = f"its name looks like {plain(name)}, {words[name]}"
    return reasons


def reposts(folded: LogState, shown: Sequence[LoggedRow]) -> dict[str, str]:
    """Entry -> why a maintainer must look: it has the answers of a withdrawn row of another account or model."""
    firsts = {logged.entry: folded.entries[folded.same.first.get(logged.entry, logged.entry)] for logged in shown}
    return {
        logged.entry: f"the answers of row {first.entry}, which was withdrawn"
        for logged in shown
        if (first := firsts[logged.entry]).withdrawn and not _is_vouched(logged) and _who(first) != _who(logged)
    }


def _is_vouched(logged: LoggedRow) -> bool:
    return logged.verified is not None or logged.released is not None


def _owner(logged: LoggedRow) -> str:
    return owner_of(_who(logged)[1], filter(None, (logged.user, logged.organisation)))


def _who(logged: LoggedRow) -> tuple[str, str]:
    return logged.user, str(logged.result.meta.get("model", ""))


MOST = 96
"""Values kept by a board, the last ones; addresses of pages decide on some of them."""


class Board(tuple[Row, ...]):
    """The rows of a board or one of its tables, in order."""

    def __new__(cls, rows: Iterable[Row]) -> Board:
        """The board of some rows."""
        board = super().__new__(cls, rows)
        board._kept = {}
        return board

    _kept: dict[Hashable, Any]

    @cached_property
    def by_entry(self) -> dict[str, Row]:
        """The rows by their entries."""
        return {row.entry: row for row in self}

    def get_or_make(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The value of a key, made once."""
        if key not in self._kept:
            value = make()
            if len(self._kept) >= MOST:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[key] = value
        made: Made = self._kept[key]
        return made
