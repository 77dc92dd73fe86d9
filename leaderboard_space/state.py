"""What the log comes to: which submissions there are and what became of them, and the rows of every board.

The state is a fold over the events, so it is the same however often and wherever it is made again. Rows are made from
what the `result` events carry; the files of results hold the evidence on top of that.
"""

from __future__ import annotations

import gc
import hashlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from fairspace.leaderboard_space.adjusted_boards import AdjustedBoards
from fairspace.leaderboard_space.events import Draft, Event
from fairspace.leaderboard_space.shared import Shared
from fairspace.leaderboard_space.storage import Storage, StorageError, result_path
from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustment
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.reading.strict_json import parse
from fairspace.submissions.results.board import check_adjustment, entry, logged_row, published_rows, ranked
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.tiers import tiered

Outcome = Literal["waiting", "scored", "refused", "failed"]


@dataclass(frozen=True)
class Submission:
    """A file that somebody handed in.

    Args:
        id: 20 hex digits, of the user and the file's content.
        user: who did; '' where nobody signs in.
        organisation: in whose name, '' if in their own.
        sha256: of the file.
        size: of the file, in bytes.
        accepted: when, as `Event.time`.
        attempt: from 1; another one where the one before failed through a fault of ours.
        outcome: what became of it.
        ended: when; '' while it waits.
        result: key of the result it led to.
        entry: of the row on the board.
        benchmark: of the result.
        same: whether that result was there before.
        faults: why it was refused.
        reason: why it failed.
        clock: what the clock said when it was accepted; unlike `accepted` it comes back after it was wrong.
        failed: of the attempts before that failed, what the clock said when they were accepted.
        tries: how often the attempt that ended was begun; 0 where the log does not say.
    """

    id: str
    user: str
    organisation: str
    sha256: str
    size: int
    accepted: str
    attempt: int = 1
    outcome: Outcome = "waiting"
    ended: str = ""
    result: str = ""
    entry: str = ""
    benchmark: str = ""
    same: bool = False
    faults: tuple[Fault, ...] = ()
    reason: str = ""
    clock: str = ""
    failed: tuple[str, ...] = ()
    tries: int = 0


@dataclass(frozen=True)
class Mark:
    """What a maintainer said of a row: who, when and why."""

    by: str
    time: str
    reason: str


@dataclass(frozen=True)
class Entry:
    """What the log says of one row that was scored here.

    Args:
        entry: of the row.
        key: of its result.
        benchmark: of its result.
        time: when it came to be.
        user: who handed it in, '' if nobody signed in.
        organisation: in whose name.
        sha256: of the result's file.
        result: without scores and evidence.
        withdrawn: why it is not on the board, None if it is.
        verified: that the maintainers ran it again, None if they did not.
    """

    entry: str
    key: str
    benchmark: str
    time: str
    user: str
    organisation: str
    sha256: str
    result: Result
    withdrawn: Mark | None = None
    verified: Mark | None = None


def submission_id(user: str, sha256: str) -> str:
    """What a submission is called: the same for the same file of the same user."""
    return hashlib.sha256(f"{user}\0{sha256}".encode()).hexdigest()[:20]


def result_key(result: Result) -> str:
    """What a result is called: sha256 of the submission's digest, the standard, model and model revision."""
    parts = (result.signature.get("submission", ""), result.standard)
    meta = (str(result.meta.get("model", "")), str(result.meta.get("revision", "")))
    return hashlib.sha256("\0".join((*parts, *meta)).encode()).hexdigest()


def result_draft(result: Result, user: str = "", organisation: str = "") -> tuple[Draft, dict[str, bytes]]:
    """The event that puts a result on the board, and the file that belongs to it. UsageError: unknown benchmark."""
    key = result_key(result)
    content = result.dumps().encode()
    data = {name: part for name, part in result.to_json().items() if name in _KEPT}
    data["values"] = [_logged(value) for value in data["values"]]
    body = {
        "key": key,
        "entry": entry(result),
        "user": user,
        "organisation": organisation,
        "sha256": hashlib.sha256(content).hexdigest(),
        "result": data,
    }
    return Draft("result", f"result:{key}", body), {result_path(result.benchmark, key): content}


def add_result(storage: Storage, result: Result) -> Event:
    """Put a result on the board that nobody handed in; again, it changes nothing. Errors: as `Storage.append`."""
    draft, files = result_draft(result)
    return storage.append([draft], files)[0]


_KEPT = ("benchmark", "standard", "meta", "signature", "run", "values", "draws", "variants", "counts")
_IN_FILES = ("evidence", "uncertainty")
"""Of a value: what the file of its result holds, and the log does not, but for `_DECIDING` of its evidence."""
_DECIDING = ("cohort",)
"""Evidence that a score is made from: GENRES' total is a distance from the cohort of the judge's family."""


def _logged(value: Mapping[str, Any]) -> dict[str, Any]:
    deciding = {name: part for name, part in value.get("evidence", {}).items() if name in _DECIDING}
    kept = {name: part for name, part in value.items() if name not in _IN_FILES}
    return {**kept, "evidence": deciding} if deciding else kept


def baseline_of(result: Result) -> tuple[str, str, str] | None:
    """Which baseline a result is of, whatever version of this software answered: benchmark, name, seed. None if not."""
    name, generation = result.meta.get("baseline"), result.meta.get("generation")
    seed = generation.get("seed") if isinstance(generation, Mapping) else None
    return (result.benchmark, str(name), str(seed)) if name else None


_MANY = 100_000


@contextmanager
def _undisturbed(many: bool) -> Iterator[None]:
    """Make many objects that stay: none is looked at for garbage meanwhile, nor whenever the collector runs later."""
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


@dataclass
class _Folded:
    """The events that were folded so far."""

    number: int = 0
    submissions: dict[str, Submission] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    baselines: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """Of each baseline the entry that came last."""
    shared: Shared = field(default_factory=Shared)


class State:
    """The state of a store, kept up to date. Safe for several threads; what it gives never changes afterwards.

    Args:
        storage: of the log.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._lock = threading.RLock()
        self._folded = _Folded()
        self._rows: dict[tuple[str, str], Row] = {}
        self._boards: dict[tuple[str, str], tuple[Row, ...]] = {}
        self._versions: dict[str, int] = {}
        self.adjusted = AdjustedBoards(self.board)

    def refresh(self) -> int:
        """Fold what was appended since, by whomever; the number of the last event. Errors: as `Storage.events`."""
        with self._lock, _undisturbed(self._folded.number == 0):
            for event in self.storage.events(self._folded.number):
                self._fold(event)
                if event.kind in ("result", "withdrawn", "restored", "verified"):
                    changed = self._folded.entries[event.body["entry"]].benchmark
                    self._boards = {about: rows for about, rows in self._boards.items() if about[0] != changed}
                    self._versions = {**self._versions, changed: event.number}
            return self._folded.number

    def _fold(self, event: Event) -> None:
        try:
            _FOLDS[event.kind](self._folded, event)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            where = f"event {event.number} of the log"
            what = f"no {event.kind} event of ours says this ({type(error).__name__}: {error})"
            mend = "put the log back from a backup; or update this software, if a newer one wrote the log"
            raise StorageError("STORE_CORRUPT", where, what, "what this software writes", mend) from error
        self._folded.number = event.number

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

    def board(
        self, benchmark: str, standard: str = "inaugural", adjustment: Adjustment = AS_RELEASED
    ) -> tuple[Row, ...]:
        """The rows of a board without the withdrawn ones; see `fairspace.submissions.results.board.board`.

        UsageError: unknown benchmark or standard, or an adjustment that does not fit it. SpaceError ADJUSTED_BUSY:
        many adjusted boards are asked for at once; the released ones wait for none of them.
        """
        changed = check_adjustment(benchmark, standard, adjustment)
        if changed != AS_RELEASED:
            return self.adjusted.of(benchmark, standard, changed)
        about = (benchmark, standard)
        found = self._boards.get(about)
        if found is not None:
            return found
        with self._lock:
            rows: list[Row] = list(published_rows(benchmark, standard))
            shown = list(self._shown(benchmark))
            with _undisturbed(not any((own.entry, standard) in self._rows for own in shown)):
                rows += [self._row(own, standard) for own in shown]
            self._boards[about] = tuple(tiered(ranked(rows, benchmark), benchmark, standard))
            return self._boards[about]

    def full(self, entry: str) -> Result | None:
        """The result behind a row with its evidence, under its own standard; None for no such row.

        StorageError STORE_MISSING, and STORE_CORRUPT if the file is not the one that the log speaks of.
        """
        own = self.entry(entry)
        if own is None:
            return None
        path = result_path(own.benchmark, own.key)
        content = self.storage.read(path)
        if hashlib.sha256(content).hexdigest() != own.sha256:
            expected, mend = f"a file with the sha256 {own.sha256}", "put the file back from a backup"
            raise StorageError("STORE_CORRUPT", path, "other content than the log speaks of", expected, mend)
        return Result.from_json(parse(content.decode(), _DEPTH))

    def snapshot(self) -> bytes:
        """Every board under every standard as canonical JSON: two states of one log give the same bytes."""
        boards = {
            f"{name}/{standard}": [_told(row) for row in self.board(name, standard)]
            for name in NAMES
            for standard in benchmark(name).standards
        }
        return orjson.dumps(boards, option=orjson.OPT_SORT_KEYS)

    def _shown(self, benchmark: str) -> Iterable[Entry]:
        """What the board shows; of a baseline that several versions of this software scored, the newest."""
        newest = self._folded.baselines
        for own in self._folded.entries.values():
            if own.benchmark == benchmark and not own.withdrawn:
                baseline = baseline_of(own.result)
                if baseline is None or newest[baseline] == own.entry:
                    yield own

    def _row(self, own: Entry, standard: str) -> Row:
        row = self._rows.get((own.entry, standard))
        if row is None:
            row = self._rows[own.entry, standard] = logged_row(own.result, standard)
        return replace(row, visibility="rerun by maintainers") if own.verified else row


_DEPTH = 16


def _told(row: Row) -> dict[str, Any]:
    """A row as JSON data."""
    scores = [value.to_json() for value in row.scores.values()]
    about = (row.entry, row.model, row.organisation, row.provenance, row.visibility, row.cohort)
    return {"about": about, "rank": row.rank, "ranked": row.ranked, "unranked": row.unranked, "scores": scores}


def _accepted(folded: _Folded, event: Event) -> None:
    body = event.body
    before = folded.submissions.get(body["id"])
    folded.submissions[body["id"]] = Submission(
        body["id"],
        body["user"],
        body["organisation"],
        body["sha256"],
        body["size"],
        event.time,
        body["attempt"],
        clock=body.get("clock", event.time),
        failed=(*before.failed, before.clock) if before is not None else (),
    )


def _ended(folded: _Folded, event: Event, outcome: Outcome, **found: Any) -> None:
    """The end of the attempt that the event is about; an earlier attempt's end changes nothing."""
    waiting = folded.submissions[event.body["id"]]
    if waiting.attempt == event.body["attempt"] and waiting.outcome == "waiting":
        tries = event.body.get("tries", 0)
        ended = replace(waiting, outcome=outcome, ended=event.time, tries=tries, **found)
        folded.submissions[waiting.id] = ended


def _scored(folded: _Folded, event: Event) -> None:
    body = event.body
    benchmark = folded.entries[body["entry"]].benchmark
    _ended(folded, event, "scored", result=body["key"], entry=body["entry"], same=body["same"], benchmark=benchmark)


def _refused(folded: _Folded, event: Event) -> None:
    _ended(folded, event, "refused", faults=tuple(Fault(**fault) for fault in event.body["faults"]))


def _failed(folded: _Folded, event: Event) -> None:
    _ended(folded, event, "failed", reason=event.body["reason"])


def _result(folded: _Folded, event: Event) -> None:
    body = event.body
    if body["entry"] not in folded.entries:
        own = Entry(
            body["entry"],
            body["key"],
            benchmark(body["result"]["benchmark"]).name,
            event.time,
            body["user"],
            body["organisation"],
            body["sha256"],
            folded.shared.result(body["result"]),
        )
        folded.entries[own.entry] = own
        baseline = baseline_of(own.result)
        if baseline is not None:
            folded.baselines[baseline] = own.entry


def _marked(folded: _Folded, event: Event) -> None:
    body = event.body
    own = folded.entries[body["entry"]]
    mark = Mark(body["by"], event.time, body["reason"])
    if event.kind == "verified":
        folded.entries[own.entry] = replace(own, verified=mark)
    else:
        folded.entries[own.entry] = replace(own, withdrawn=mark if event.kind == "withdrawn" else None)


_FOLDS = {
    "accepted": _accepted,
    "result": _result,
    "scored": _scored,
    "refused": _refused,
    "failed": _failed,
    "withdrawn": _marked,
    "restored": _marked,
    "verified": _marked,
}
