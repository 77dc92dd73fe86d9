"""Actions of maintainers on a row: withdraw, restore, verify, unverify, release.

Nothing is changed in the log: each is one more event, with who did it and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import Draft, Event, Kind
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.verification.evidence import check_evidence, evidence_proof
from fairspace.leaderboard_space.verification.signing import signed
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.consistency import Proof, broken, rests_on_judge
from fairspace.submissions.errors import plain

LONGEST = 500
"""Characters of a reason."""
_ABOUT_A_ROW: tuple[Kind, ...] = ("result", "withdrawn", "restored", "verified", "unverified", "released")


_SIDES: tuple[tuple[Kind, ...], ...] = (("withdrawn", "restored"), ("verified", "unverified"), ("released",))
"""Kinds of events of which the last one stands."""


def withdraw(state: State, entry: str, user: User, reason: str) -> Event:
    """Withdraw a row; a second time adds no event. Errors: as `_mark`."""
    return _mark(state, "withdrawn", entry, user, reason)


def restore(state: State, entry: str, user: User, reason: str) -> Event:
    """Restore a withdrawn row. SpaceError BAD_PARAMETER if it was not; others as `_mark`."""
    return _mark(state, "restored", entry, user, reason)


def release(state: State, entry: str, user: User, reason: str) -> Event:
    """Let a submitted row have a rank; the reason says why its score can be believed. Errors: as `_mark`."""
    return _mark(state, "released", entry, user, reason)


def verify(state: State, entry: str, user: User, reason: str, evidence: Mapping[str, Any] | None = None) -> Event:
    """Mark a row as rerun by the maintainers with the same result; the reason says how.

    Args:
        state: of the store; its key signs the event.
        entry: of the row.
        user: the maintainer.
        reason: how it was verified, for everybody.
        evidence: what `fairspace verify-submission` found; its verdict must be that the answers agree.

    Errors: as `_mark`; SpaceError BAD_PARAMETER too if the evidence is of another submission or verifies nothing, or
    says nothing of the judgements that the score rests on, or if the consistency proof is broken or missing.
    """
    evidence = dict(evidence or {})
    if (logged := state.entry(entry)) is not None:
        check_evidence(evidence, logged)
        if (proof := evidence_proof(evidence) or _kept_proof(state, entry)) is None or broken(proof):
            what = "no consistency proof" if proof is None else f"a proof that is broken in {', '.join(broken(proof))}"
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


def _kept_proof(state: State, entry: str) -> Proof | None:
    """The proof that was kept with the result; None of results from before there were proofs."""
    full = state.full(entry)
    return full.consistency or None if full is not None else None


def _mark(
    state: State, kind: Kind, entry: str, user: User, reason: str, evidence: Mapping[str, Any] | None = None
) -> Event:
    """Append a maintainer's event, or return the existing one.

    Errors: SpaceError UNKNOWN_ENTRY, BAD_PARAMETER; StorageError.
    """
    text = plain(reason).strip()
    if not 0 < len(text) <= LONGEST:
        expected = f"1 to {LONGEST} characters"
        raise SpaceError(
            "BAD_PARAMETER", "reason", f"{len(text)} characters", expected, "give a reason that everybody can read"
        )
    state.refresh()
    if state.entry(entry) is None:
        mend = "choose a row that was scored here; published rows cannot be changed"
        raise SpaceError("UNKNOWN_ENTRY", "entry", repr(plain(entry)[:80]), "the entry of a row", mend)
    about = [event for event in state.storage.events() if event.kind in _ABOUT_A_ROW and event.body["entry"] == entry]
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
