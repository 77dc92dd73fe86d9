"""The state that the events of the log give: submissions with their outcomes, and the rows that were scored here.

Events are folded one by one, so every process that reads the same log has the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fairspace.leaderboard_space.attempts import Attempts
from fairspace.leaderboard_space.events import Event
from fairspace.leaderboard_space.logged_results import logged_errors, logged_result
from fairspace.leaderboard_space.same_answers import SameAnswers
from fairspace.leaderboard_space.verification.signing import SIGNATURE, is_forged
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row_errors import Errors

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
        failed: readings of the clock for the earlier attempts that failed, without those that failed because of us.
        tries: how often scoring was started; 0 where the log does not say.
        pruned: when its file was removed to make room; '' if it was not.
        ours: whether it failed because of an error of this Space; then it counts for nothing.
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
    pruned: str = ""
    ours: bool = False


@dataclass(frozen=True)
class Mark:
    """A maintainer's mark on a row.

    Args:
        by: who.
        time: when, as `Event.time`.
        reason: why.
        evidence: of a verified row what was compared, as `Outcome.to_json` of `fairspace verify-submission` has it; {}
            where the reason alone says it.
        is_signed: whether the event has the maintainers' signature.
    """

    by: str
    time: str
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    is_signed: bool = False


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
        errors: standard -> errors of the scores under it, made with the result; none in older logs.
        released: a maintainer let the row have a rank; None if nobody did.
        own: whether the maintainers scored it themselves.
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
    errors: Mapping[str, Errors] = field(default_factory=dict)
    released: Mark | None = None
    own: bool = False


@dataclass
class LogState:
    """The result of folding the events of the log up to `number`."""

    number: int = 0
    submissions: dict[str, Submission] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    baselines: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """Baseline -> its newest entry."""
    lost: set[int] = field(default_factory=set)
    """Numbers of events that were lost; what later events say of them alone is left out."""
    revoked: dict[str, str] = field(default_factory=dict)
    """Id of a token, or `user:` and the name of a user -> when it, or all of that user, were revoked."""
    revocations: dict[str, list[str]] = field(default_factory=dict)
    """User -> when they revoked something."""
    mendings: list[str] = field(default_factory=list)
    """What was mended in the log, in words."""
    same: SameAnswers = field(default_factory=SameAnswers)
    attempts: Attempts = field(default_factory=Attempts)
    withdrawn: dict[str, str] = field(default_factory=dict)
    """Withdrawn entry -> its benchmark, in the order of the withdrawals."""
    key: bytes = b""
    """Of the maintainers' signatures; empty where nobody can check them."""
    signs: bool = False
    """Whether an event before has the maintainers' signature: from then on, none verifies without."""
    forged: list[int] = field(default_factory=list)
    """Numbers of `verified` events whose signature is not the maintainers'; they verify nothing."""

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
        failed=() if before is None else before.failed if before.ours else (*before.failed, before.clock),
    )


_RESULT_LOST = "Its result was lost when the log was damaged; hand it in again."


def _ended(folded: LogState, event: Event, outcome: Outcome, **fields: Any) -> None:
    """End the attempt that the event is about; the end of an earlier attempt changes nothing."""
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
            logged_result(body["result"]),
            errors={name: logged_errors(of) for name, of in body.get("errors", {}).items()},
            own=body.get("own", False),
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
    folded.revoked[name] = event.time
    folded.revocations.setdefault(event.body["by"], []).append(event.time)


_FOLDS = {
    "accepted": _accepted,
    "result": _result,
    "scored": _scored,
    "refused": _refused,
    "failed": _failed,
    "withdrawn": _marked,
    "restored": _marked,
    "verified": _marked,
    "unverified": _marked,
    "released": _marked,
    "lost": _lost,
    "mended": _mended,
    "pruned": _pruned,
    "revoked": _revoked,
}
