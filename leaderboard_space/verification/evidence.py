"""The evidence in a `verified` event: checked when it is appended, shown on the row's page and in the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.log_state import Entry
from fairspace.submissions.checking.consistency import Proof, TaskConsistency
from fairspace.submissions.reading.canonical import canonical_json

MOST_BYTES = 64 << 10
"""Of the evidence as JSON."""
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
    """What pages show of a replayed log."""

    part: dict[str, _Count]
    uncovered: list[str]
    judgements: _Judgements | None = None


class _Rerun(_Log):
    """What pages show of a rerun."""

    agreement: _Agreement
    tasks: dict[str, _Agreement]
    model: str
    seed: str


_SHOWN: Mapping[str, type[BaseModel]] = {"rerun": _Rerun, "log": _Log}


def check_evidence(evidence: Mapping[str, Any], logged: Entry) -> None:
    """Refuse evidence that does not verify the row. SpaceError BAD_PARAMETER; {} is none, and is fine."""
    if not evidence:
        return
    about = logged.result.signature.get("submission", "")
    try:
        _SHOWN[evidence["how"]].model_validate(evidence)
        known = set(evidence) <= _NAMES and len(canonical_json(evidence)) <= MOST_BYTES
        evidence_proof(evidence)
    except (TypeError, ValueError, AttributeError, KeyError):
        known = False
    if not known:
        raise SpaceError("BAD_PARAMETER", "the evidence", "other fields", "an outcome of a verification", _MEND)
    if evidence.get("submission") != about:
        what = f"a verification of the submission {str(evidence.get('submission'))[:16]}"
        raise SpaceError("BAD_PARAMETER", "the evidence", what, f"one of {about[:16]}", _MEND)
    if evidence.get("verdict") != "agrees":
        what = f"the verdict {str(evidence.get('verdict'))[:20]!r}"
        raise SpaceError("BAD_PARAMETER", "the evidence", what, "answers that agree", "do not verify this row")


def evidence_proof(evidence: Mapping[str, Any]) -> Proof | None:
    """The consistency proof that evidence holds; None without one. ValueError if it does not have our fields."""
    proof = evidence.get("consistency", {})
    return {task: TaskConsistency.from_json(held) for task, held in proof.items()} or None


def shown_evidence(evidence: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the API publishes of the evidence: all but the consistency proof, which stands with the result."""
    return {name: part for name, part in evidence.items() if name != "consistency"} or None
