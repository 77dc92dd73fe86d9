"""The state of a store: submissions, and every board's rows, made from the log's `result` events."""

from __future__ import annotations

import gc
import hashlib
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import orjson

from fairspace.leaderboard_space import reasons
from fairspace.leaderboard_space.errors import UNREADABLE, SpaceError, StorageError
from fairspace.leaderboard_space.events import OF_ROWS, SIGNATURE, Event, Kind, is_forged, result_path, submission_path
from fairspace.leaderboard_space.logged import (
    LoggedRow,
    LoggedSubmission,
    Mark,
    Outcome,
    Wish,
    baseline_of,
    board_values,
    join_errors,
    logged_result,
    logged_values,
    scored_by_event,
    unpacked,
)
from fairspace.leaderboard_space.storage import Storage
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.results.board import UNSCORABLE_BY, logged_row, published_rows, unscored_row
from fairspace.submissions.results.draws import Draws
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row, ranked, row_with
from fairspace.submissions.results.tiers import has_draws, tiered
from fairspace.submissions.values import Value
from fairspace.submissions.version import VERSION


@dataclass
class LogState:
    """The state after folding the events of the log up to `number`."""

    number: int = 0
    time: str = ""
    submissions: dict[str, LoggedSubmission] = field(default_factory=dict)
    entries: dict[str, LoggedRow] = field(default_factory=dict)
    baselines: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """Baseline -> its newest entry."""
    lost: set[int] = field(default_factory=set)
    """Numbers of lost events; later events that depend on them are ignored."""
    revoked: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Id of a token, or `user:` and a user's name -> number and time of the event that revoked it, or all before."""
    revocations: dict[str, list[str]] = field(default_factory=dict)
    """User -> times of their revocations."""
    mendings: list[str] = field(default_factory=list)
    """Repairs of the log, in words."""
    same: reasons.SameAnswers = field(default_factory=reasons.SameAnswers)
    attempts: reasons.Attempts = field(default_factory=reasons.Attempts)
    withdrawn: dict[str, str] = field(default_factory=dict)
    """Withdrawn entry -> its benchmark, in the order of the withdrawals."""
    wanted: dict[str, Wish] = field(default_factory=dict)
    """Model in small letters -> who asked us to run it."""
    key: bytes = b""
    """Key of the maintainers' signatures; empty if they cannot be checked."""
    signs: bool = False
    """Whether an earlier event has the maintainers' signature: from then on, unsigned ones verify nothing."""
    forged: list[int] = field(default_factory=list)
    """Numbers of `verified` events without the maintainers' signature; they verify nothing."""
    read: Callable[[str], Mapping[str, Value]] = lambda entry: {}
    """Reads all values of an entry, of which newer logs have some."""
    keeps_rows: bool = True
    """Whether scores, errors, draws and values are kept; a process that shows no boards needs none."""

    def fold(self, event: Event) -> None:
        """Apply the next event. A Python error if this software does not write such an event."""
        _FOLDS[event.kind](self, event)
        self.number, self.time = event.number, event.time


def _accepted(folded: LogState, event: Event) -> None:
    body = event.body
    before = folded.submissions.get(body["id"])
    about = {name: body[name] for name in ("id", "user", "organisation", "sha256", "size", "attempt")}
    failed = () if before is None else before.failed if before.ours else (*before.failed, before.clock)
    clock = body.get("clock", event.time)
    more = {"clock": clock, "failed": failed, "name": body.get("name", "")}
    folded.submissions[body["id"]] = LoggedSubmission(**about, accepted=event.time, **more)


_RESULT_LOST = "Its result was lost when the log was damaged; submit it again."


def _ended(folded: LogState, event: Event, outcome: Outcome, **fields: Any) -> None:
    """End the event's attempt; the end of an earlier attempt changes nothing."""
    if folded.lost and event.body["id"] not in folded.submissions:
        return
    waiting = folded.submissions[event.body["id"]]
    if waiting.attempt == event.body["attempt"] and waiting.outcome == "waiting":
        tries = event.body.get("tries", 0)
        ended = replace(waiting, outcome=outcome, ended=event.time, tries=tries, **fields)
        folded.submissions[waiting.id] = ended


def _scored(folded: LogState, event: Event) -> None:
    body = event.body
    if folded.lost and body["entry"] not in folded.entries:
        _ended(folded, event, "failed", reason=_RESULT_LOST, ours=True)
        return
    benchmark = folded.entries[body["entry"]].benchmark
    _ended(folded, event, "scored", result=body["key"], entry=body["entry"], same=body["same"], benchmark=benchmark)


def _refused(folded: LogState, event: Event) -> None:
    _ended(folded, event, "refused", faults=tuple(Fault(**fault) for fault in event.body["faults"]))


def _failed(folded: LogState, event: Event) -> None:
    _ended(folded, event, "failed", reason=event.body["reason"], ours=event.body.get("ours", False))


def _ours(result: Result, body: Mapping[str, Any]) -> Result:
    """The result; one that a user submitted is no baseline, whatever it calls itself."""
    if not body["user"] or body.get("own") or "baseline" not in result.meta:
        return result
    return replace(result, meta={name: part for name, part in result.meta.items() if name != "baseline"})


def _result(folded: LogState, event: Event) -> None:
    body = event.body
    if (entry := body["entry"]) not in folded.entries:
        data, rest = body["result"], None if "values" in body["result"] and folded.keeps_rows else folded.read
        if not folded.keeps_rows:
            data = {name: part for name, part in data.items() if name != "draws"}
        content = unpacked(body) if folded.keeps_rows else b""
        values = logged_values(content, None if rest is None else partial(rest, entry))
        logged = LoggedRow(
            entry,
            body["key"],
            find_benchmark(body["result"]["benchmark"]).name,
            event.time,
            body["user"],
            body["organisation"],
            body["sha256"],
            _ours(logged_result(data, values), body),
            own=body.get("own", False),
            packed=content,
            is_scored=body.get("scored_by") == VERSION,
            tasks=tuple(body["tasks"]) if "tasks" in body else None,
        )
        folded.entries[logged.entry] = logged
        folded.same.add(logged.entry, logged.result, body.get("identity", {}))
        answers = folded.same.first.get(logged.entry, logged.entry)
        folded.attempts.add(logged.entry, logged.result, logged.user, logged.organisation, answers)
        baseline = baseline_of(logged.result)
        if baseline is not None:
            folded.baselines[baseline] = logged.entry


def _marked(folded: LogState, event: Event) -> None:
    body = event.body
    if folded.lost and body["entry"] not in folded.entries:
        return
    logged = folded.entries[body["entry"]]
    mark = Mark(body["by"], event.time, body["reason"], body.get("evidence", {}), SIGNATURE in body)
    if event.kind == "verified" and (is_forged(body, folded.key) or (folded.signs and not mark.is_signed)):
        folded.forged.append(event.number)
    elif event.kind in ("verified", "unverified"):
        folded.entries[logged.entry] = replace(logged, verified=mark if event.kind == "verified" else None)
        folded.signs = folded.signs or (bool(folded.key) and mark.is_signed)
    elif event.kind == "released":
        folded.entries[logged.entry] = replace(logged, released=mark)
    else:
        folded.withdrawn.pop(logged.entry, None)
        if event.kind == "withdrawn":
            folded.withdrawn[logged.entry] = logged.benchmark
        folded.entries[logged.entry] = replace(logged, withdrawn=mark if event.kind == "withdrawn" else None)


def _lost(folded: LogState, event: Event) -> None:
    folded.lost.add(event.number)


def _mended(folded: LogState, event: Event) -> None:
    if event.body["lost"]:
        numbers = ", ".join(map(str, event.body["lost"]))
        folded.mendings.append(f"the log was mended at {event.time}; lost: event {numbers}")


def _pruned(folded: LogState, event: Event) -> None:
    removed = set(event.body["sha256"])
    for submission in list(folded.submissions.values()):
        if submission.sha256 in removed:
            folded.submissions[submission.id] = replace(submission, pruned=event.time)


def _revoked(folded: LogState, event: Event) -> None:
    name = event.body["token"] or f"user:{event.body['user']}"
    folded.revoked[name] = event.number, event.time
    folded.revocations.setdefault(event.body["by"], []).append(event.time)


def _wanted(folded: LogState, event: Event) -> None:
    body, key = event.body, event.body["model"].casefold()
    wish = folded.wanted.get(key) or Wish(body["model"], event.time)
    if event.kind == "struck":
        folded.wanted[key] = replace(wish, state="struck", reason=body["reason"])
    else:
        folded.wanted[key] = replace(wish, askers={**wish.askers, body["user"].casefold(): body["benchmark"]})


_FOLDS: dict[Kind, Callable[[LogState, Event], None]] = {
    **dict.fromkeys(OF_ROWS, _marked),
    **{"accepted": _accepted, "result": _result, "scored": _scored, "refused": _refused, "failed": _failed},
    **{"lost": _lost, "mended": _mended, "pruned": _pruned, "revoked": _revoked, "wanted": _wanted, "struck": _wanted},
}


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
        self.is_between = False
        """Whether boards are made anew, and those of before are shown meanwhile."""
        self._lock, self._making = threading.RLock(), threading.RLock()
        self._measured = lru_cache(_MEASURED)(self._read_measured)
        self._folded = LogState(key=key, keeps_rows=rows, read=lambda entry: self._measured(entry)[0])
        self._rows: dict[tuple[str, str], Row] = {}
        self._shown: dict[str, tuple[int, reasons.ShownRows]] = {}
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
        marked = {entry for name in NAMES for entry in reasons.imitations(self._shown_now(name).entries)}
        standing = (logged for logged in self.entries() if not logged.withdrawn and logged.entry not in marked)
        return sorted({reasons.who(logged)[1] for logged in standing if logged.user != user})

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

    def board(self, benchmark: str, standard: str = "", *, newest: bool = False) -> Board:
        """The rows of a board without the withdrawn ones; see `results.board.board`. UsageError: unknown board.

        While `is_between`, it is that of before if another thread makes a newer one, unless the `newest` is needed.
        """
        board = benchmark, standard or find_benchmark(benchmark).default
        before = self._boards.get(board)
        if not self._making.acquire(blocking=newest or before is None or not self.is_between):
            assert before is not None
            return before[1]
        try:
            version, rows = self._boards.get(board, (-1, None))
            now = self.version(benchmark)
            if rows is None or version != now:
                rows = self._board(*board)
                rows.version = now
                self._boards[board] = now, rows
            return rows
        finally:
            self._making.release()

    def piece(self, key: Hashable, marks: Hashable, make: Callable[[], Made]) -> Made:
        """A piece of a page, made again only if the `marks` that it depends on have changed."""
        before = self._pieces.get(key)
        if before is None or before[0] != marks:
            before = self._pieces[key] = marks, make()
        made: Made = before[1]
        return made

    def find_row(self, benchmark: str, standard: str, entry: str) -> Row:
        """A row of a board, even if it has just been added to the log.

        SpaceError UNKNOWN_ENTRY for an unknown or withdrawn row, with the reason.
        """
        row = self.board(benchmark, standard).by_entry.get(entry)
        if row is None:
            self.refresh()
            row = self.board(benchmark, standard, newest=True).by_entry.get(entry)
        if row is not None:
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
            rows = reasons.without_ranks(rows, self._folded.attempts, shown)
            return Board(tiered(ranked(rows, benchmark, standard), benchmark, standard))

    def unplaced(self, logged: LoggedRow, standard: str) -> Row:
        """The row of a log entry, with its reasons for no rank, and without one: no board is made for it."""
        shown = self._shown_now(logged.benchmark)
        [row] = reasons.without_ranks([self.row_of(logged, standard)], self._folded.attempts, shown)
        return row

    def row_of(self, logged: LoggedRow, standard: str) -> Row:
        """The row of a log entry under a standard, without a rank; withdrawn rows, too."""
        row = self._rows.get((logged.entry, standard))
        if row is None:
            owner = reasons.proved_owner(logged)
            label = "" if not logged.own else PUBLISHED_ANSWERS if _is_published(logged.result) else OWN_RUN
            row, is_lasting = self._scored(logged, standard)
            row = row_with(row, submitter=logged.user, owner=owner, own=label)
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

    def _shown_now(self, benchmark: str) -> reasons.ShownRows:
        with self._lock:
            number, shown = self._shown.get(benchmark, (-1, None))
            folded = self._folded
            if shown is None or number != folded.number:
                shown = reasons.ShownRows.of(
                    list(self._on_board(benchmark)), folded.same, folded.attempts, folded.entries
                )
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
    version: int
    """The event as of which it is the board of a state."""

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
