"""The state that the events of the log give: submissions with their outcomes, and the rows that were scored here.

Events are folded one by one, so every process that reads the same log has the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fairspace.leaderboard_space.events import Event
from fairspace.leaderboard_space.shared import Shared
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.results.result import Result

Outcome = Literal["waiting", "scored", "refused", "failed"]


@dataclass(frozen=True)
class Submission:
    """A submitted file.

    Args:
        id: 20 hex digits, of the user and the file's content.
        user: who submitted it; '' where nobody signs in.
        organisation: on whose behalf, '' for the user's own.
        sha256: of the file.
        size: of the file, in bytes.
        accepted: when, as `Event.time`.
        attempt: from 1; a further one follows an error of this software.
        outcome: how it ended.
        ended: when; '' while it waits.
        result: key of its result.
        entry: of the row on the board.
        benchmark: of the result.
        same: whether the same result was on the board before.
        faults: why it was refused.
        reason: why it failed.
        clock: reading of the clock when it was accepted; `accepted` never runs backwards, this may.
        failed: readings of the clock for the earlier attempts that failed.
        tries: how often scoring was started; 0 where the log does not say.
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
    """A maintainer's mark on a row: who, when and why."""

    by: str
    time: str
    reason: str


@dataclass(frozen=True)
class Entry:
    """A row that was scored here, as the log has it.

    Args:
        entry: of the row.
        key: of its result.
        benchmark: of its result.
        time: of the event.
        user: who submitted it, '' if nobody signed in.
        organisation: on whose behalf.
        sha256: of the result's file.
        result: without scores and evidence.
        withdrawn: why it is not on the board, None if it is.
        verified: the maintainers ran the model again; None if they did not.
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


@dataclass
class LogState:
    """The result of folding the events of the log up to `number`."""

    number: int = 0
    submissions: dict[str, Submission] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    baselines: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """Baseline -> its newest entry."""
    shared: Shared = field(default_factory=Shared)

    def fold(self, event: Event) -> None:
        """Apply the next event. A Python error if this software does not write such an event."""
        _FOLDS[event.kind](self, event)
        self.number = event.number


def baseline_of(result: Result) -> tuple[str, str, str] | None:
    """The baseline of a result: benchmark, name, seed; the same for all versions of this software. None for a model."""
    name, generation = result.meta.get("baseline"), result.meta.get("generation")
    seed = generation.get("seed") if isinstance(generation, Mapping) else None
    return (result.benchmark, str(name), str(seed)) if name else None


def _accepted(folded: LogState, event: Event) -> None:
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


def _ended(folded: LogState, event: Event, outcome: Outcome, **fields: Any) -> None:
    """End the attempt that the event is about; the end of an earlier attempt changes nothing."""
    waiting = folded.submissions[event.body["id"]]
    if waiting.attempt == event.body["attempt"] and waiting.outcome == "waiting":
        tries = event.body.get("tries", 0)
        ended = replace(waiting, outcome=outcome, ended=event.time, tries=tries, **fields)
        folded.submissions[waiting.id] = ended


def _scored(folded: LogState, event: Event) -> None:
    body = event.body
    benchmark = folded.entries[body["entry"]].benchmark
    _ended(folded, event, "scored", result=body["key"], entry=body["entry"], same=body["same"], benchmark=benchmark)


def _refused(folded: LogState, event: Event) -> None:
    _ended(folded, event, "refused", faults=tuple(Fault(**fault) for fault in event.body["faults"]))


def _failed(folded: LogState, event: Event) -> None:
    _ended(folded, event, "failed", reason=event.body["reason"])


def _result(folded: LogState, event: Event) -> None:
    body = event.body
    if body["entry"] not in folded.entries:
        logged = Entry(
            body["entry"],
            body["key"],
            benchmark(body["result"]["benchmark"]).name,
            event.time,
            body["user"],
            body["organisation"],
            body["sha256"],
            folded.shared.result(body["result"]),
        )
        folded.entries[logged.entry] = logged
        baseline = baseline_of(logged.result)
        if baseline is not None:
            folded.baselines[baseline] = logged.entry


def _marked(folded: LogState, event: Event) -> None:
    body = event.body
    logged = folded.entries[body["entry"]]
    mark = Mark(body["by"], event.time, body["reason"])
    if event.kind == "verified":
        folded.entries[logged.entry] = replace(logged, verified=mark)
    else:
        folded.entries[logged.entry] = replace(logged, withdrawn=mark if event.kind == "withdrawn" else None)


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
