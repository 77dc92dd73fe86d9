"""Actions of maintainers on a row, each an event with author and reason; evidence of a verification."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import OF_ROWS, Draft, Event, Kind, signed
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.logged import LoggedRow
from fairspace.leaderboard_space.state import State
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.consistency import Proof, TaskConsistency, broken, rests_on_judge
from fairspace.submissions.errors import plain
from fairspace.submissions.reading.canonical import canonical_json

LONGEST = 500
"""Maximum characters of a reason."""
_SIDES: tuple[tuple[Kind, ...], ...] = (("withdrawn", "restored"), ("verified", "unverified"), ("released",))
"""Kinds of events that override each other."""


def withdraw(state: State, entry: str, user: User, reason: str) -> Event:
    """Withdraw a row; a second time adds no event. Errors: as `_mark`."""
    return _mark(state, "withdrawn", entry, user, reason)


def restore(state: State, entry: str, user: User, reason: str) -> Event:
    """Restore a withdrawn row. SpaceError BAD_PARAMETER if it was not; others as `_mark`."""
    return _mark(state, "restored", entry, user, reason)


def release(state: State, entry: str, user: User, reason: str) -> Event:
    """Let a submitted row have a rank; the reason says why its score is credible. Errors: as `_mark`."""
    return _mark(state, "released", entry, user, reason)


def verify(state: State, entry: str, user: User, reason: str, evidence: Mapping[str, Any] | None = None) -> Event:
    """Mark a row as reproduced by the maintainers; the public reason says how. The state's key signs the event.

    `evidence` is the outcome of `fairspace verify-submission` with the verdict that the answers agree.

    Errors: as `_mark`; SpaceError BAD_PARAMETER too if the evidence is of another submission or verifies nothing, or
    lacks the judgements that the score rests on, or if the consistency proof is broken or missing.
    """
    evidence = dict(evidence or {})
    if (logged := state.entry(entry)) is not None:
        check_evidence(evidence, logged)
        full = state.full(entry)
        proof = evidence_proof(evidence) or (full.consistency if full is not None else {})
        if not proof or broken(proof):
            what = f"a proof that is broken in {', '.join(broken(proof))}" if proof else "no consistency proof"
            mend = "verify it with `fairspace verify-submission --sign`, which makes the proof from the submission"
            raise SpaceError("BAD_PARAMETER", f"the row {entry}", what, "a consistency proof that holds", mend)
        judged = rests_on_judge(proof, benchmark(logged.benchmark))
        if evidence and judged and not evidence.get("judgements"):
            what, expected = f"nothing of {', '.join(judged)}, on which the score rests", "the judge, asked again"
            mend = "name the judge with `fairspace verify-submission --judge`"
            raise SpaceError("BAD_PARAMETER", "the evidence", what, expected, mend)
    return _mark(state, "verified", entry, user, reason, evidence)


def unverify(state: State, entry: str, user: User, reason: str) -> Event:
    """Take a verification back. SpaceError BAD_PARAMETER if the row is not verified; others as `_mark`."""
    state.refresh()
    if (logged := state.entry(entry)) is not None and logged.verified is None:
        raise SpaceError("BAD_PARAMETER", "entry", "a row that is not verified", "a verified one", "choose another")
    return _mark(state, "unverified", entry, user, reason)


def strike(state: State, model: str, user: User, reason: str) -> Event:
    """Strike a model that users asked us to run. SpaceError UNKNOWN_ENTRY, BAD_PARAMETER; StorageError."""
    body = {"model": model, "by": user.name, "reason": _public(reason)}
    state.refresh()
    if model.casefold() not in state.wanted():
        what, mend = "a model that nobody asked for", "copy its name from /queue"
        raise SpaceError("UNKNOWN_ENTRY", plain(model)[:80], what, "one of the models on /queue", mend)
    (event,) = state.storage.append([Draft("struck", f"struck:{model.casefold()}", body)])
    state.refresh()
    return event


def _public(reason: str) -> str:
    text = plain(reason).strip()
    if not 0 < len(text) <= LONGEST:
        expected, mend = f"1 to {LONGEST} characters", "give a reason that everybody can read"
        raise SpaceError("BAD_PARAMETER", "reason", f"{len(text)} characters", expected, mend)
    return text


def _mark(
    state: State, kind: Kind, entry: str, user: User, reason: str, evidence: Mapping[str, Any] | None = None
) -> Event:
    """Append a maintainer's event unless it stands. SpaceError UNKNOWN_ENTRY, BAD_PARAMETER; StorageError."""
    text = _public(reason)
    state.refresh()
    if state.entry(entry) is None:
        mend = "choose a row that was scored here; published rows cannot be changed"
        raise SpaceError("UNKNOWN_ENTRY", "entry", repr(plain(entry)[:80]), "the entry of a row", mend)
    of_rows = (event for event in state.storage.events() if event.kind in ("result", *OF_ROWS))
    about = [event for event in of_rows if event.body["entry"] == entry]
    sides = next(pair for pair in _SIDES if kind in pair)
    standing = next((event for event in reversed(about) if event.kind in sides), None)
    logged = state.entry(entry)
    if kind == "verified" and logged is not None and logged.verified is None:
        standing = None  # what stands there is not the maintainers'
    if standing is not None and standing.kind == kind and (not evidence or standing.body.get("evidence") == evidence):
        return standing
    if kind == "restored" and standing is None:
        raise SpaceError("BAD_PARAMETER", "entry", "a row on the board", "a withdrawn one", "choose another")
    body: dict[str, Any] = {"entry": entry, "by": user.name, "reason": text}
    if kind == "verified":
        body = signed(body | ({"evidence": evidence} if evidence else {}), state.key)
    draft = Draft(kind, f"{kind}:{entry}:{about[-1].number}", body)
    (event,) = state.storage.append([draft])
    state.refresh()
    return event


MOST_BYTES = 64 << 10
"""Maximum bytes of the evidence as JSON."""
_NAMES = {
    *("how", "verdict", "reasons", "submission", "agreement", "tasks", "part", "seed", "model", "settings", "answers"),
    *("uncovered", "consistency", "judgements"),
}
_MEND = "send what `fairspace verify-submission --json` printed for this row's submission"
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_AtMostOne = Annotated[float, Field(le=1, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]


class _Agreement(BaseModel):
    """As `Agreement.to_json` of a rerun."""

    model_config = ConfigDict(extra="forbid")
    requests: _Count
    agreement: _Share
    low: _Share
    high: _Share
    repeated: _Share
    chance: _Share
    foreign: _Share
    foreign_low: _Share
    foreign_high: _Share
    kappa: _AtMostOne | None = None
    kappa_low: _AtMostOne | None = None
    kappa_high: _AtMostOne | None = None


class _Judgements(BaseModel):
    """As `JudgeOutcome.to_json`."""

    model_config = ConfigDict(extra="forbid")
    declared: str
    asked: str
    seed: str
    answers: str
    agreement: _Agreement
    tasks: dict[str, _Agreement]


class _Log(BaseModel):
    """A replayed log for pages."""

    part: dict[str, _Count]
    uncovered: list[str]
    judgements: _Judgements | None = None


class _Rerun(_Log):
    """A rerun for pages."""

    agreement: _Agreement
    tasks: dict[str, _Agreement]
    model: str
    seed: str


_SHOWN: Mapping[str, type[BaseModel]] = {"rerun": _Rerun, "log": _Log}


def check_evidence(evidence: Mapping[str, Any], logged: LoggedRow) -> None:
    """Refuse evidence that does not verify the row, with SpaceError BAD_PARAMETER; {} is accepted."""
    if not evidence:
        return
    about = logged.result.signature.get("submission", "")
    try:
        _SHOWN[evidence["how"]].model_validate(evidence)
        plain = set(evidence) <= _NAMES and len(canonical_json(evidence)) <= MOST_BYTES
        evidence_proof(evidence)
    except (TypeError, ValueError, AttributeError, KeyError):
        plain = False
    if not plain:
        raise SpaceError("BAD_PARAMETER", "the evidence", "other fields", "an outcome of a verification", _MEND)
    if evidence.get("submission") != about:
        what = f"a verification of the submission {str(evidence.get('submission'))[:16]}"
        raise SpaceError("BAD_PARAMETER", "the evidence", what, f"one of {about[:16]}", _MEND)
    if evidence.get("verdict") != "agrees":
        what = f"the verdict {str(evidence.get('verdict'))[:20]!r}"
        raise SpaceError("BAD_PARAMETER", "the evidence", what, "answers that agree", "do not verify this row")


def evidence_proof(evidence: Mapping[str, Any]) -> Proof | None:
    """The consistency proof in the evidence; None without one. ValueError if its fields are not ours."""
    proof = evidence.get("consistency", {})
    return {task: TaskConsistency.from_json(held) for task, held in proof.items()} or None


def shown_evidence(evidence: Mapping[str, Any]) -> dict[str, Any] | None:
    """The public part of the evidence, without the consistency proof, which is stored with the result."""
    return {name: part for name, part in evidence.items() if name != "consistency"} or None
