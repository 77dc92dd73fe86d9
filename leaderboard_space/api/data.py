"""Answers of the API as JSON data in their documented shapes, for HTTP and for Gradio's clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from fairspace.leaderboard_space.boards.table import board_table, slug
from fairspace.leaderboard_space.boards.views import VIEWS, BoardQuery, draft_of
from fairspace.leaderboard_space.boards.words import exact, visitor_fields
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import Event
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.maintaining import shown_evidence
from fairspace.leaderboard_space.space import Space
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import digits
from fairspace.submissions.results.board import ROW_FIELDS
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import could_be
from fairspace.submissions.standards.documents import document
from fairspace.submissions.values import Value

Data = dict[str, Any]
MOST_WAITING = 200
_PUBLIC = {
    "result": ("entry",),
    "scored": ("entry",),
    "withdrawn": ("entry", "reason"),
    "restored": ("entry", "reason"),
    "verified": ("entry", "reason"),
    "unverified": ("entry", "reason"),
    "released": ("entry", "reason"),
}
"""Public fields of each kind of event; users, refused and failed submissions are private."""


def boards(space: Space) -> list[Data]:
    """Every board."""
    return [_board_about(space, name) for name in NAMES]


def _board_about(space: Space, name: str) -> Data:
    about = benchmark(name)
    standards = list(about.standards)
    return {
        "benchmark": name,
        "title": about.title,
        "standards": standards,
        "default": about.default,
        "drafts": [standard for standard in standards if draft_of(name, standard)],
        "higher_is_better": about.higher_is_better,
        "rows": len(space.state.board(name)),
        "address": f"/?benchmark={name}",
    }


def board(space: Space, query: BoardQuery, limit: int) -> Data:
    """A page of `limit` rows of a query, in the board's order."""
    name, table = board_table(space.state, query)
    rows = table.select(query)
    begin = (query.page - 1) * limit
    return {
        "benchmark": query.benchmark,
        "standard": query.standard,
        "draft": draft_of(query.benchmark, query.standard),
        "table": name,
        "tables": [slug(part) for part in VIEWS[query.benchmark].slices],
        "total": len(rows),
        "page": query.page,
        "pages": max(1, -(-len(rows) // limit)),
        "rows": [
            row_data(row, query.benchmark, query.standard)
            for row in with_errors(rows[begin : begin + limit], query.standard)
        ],
    }


def row_data(row: Row, name: str, standard: str) -> Data:
    """A row of a board."""
    suffix = "" if standard == benchmark(name).default else f"?standard={standard}"
    return {
        **visitor_fields(row, ROW),
        "scores": _values(row.scores),
        **visitor_fields(row, ["footnotes"]),
        "facts": visitor_fields(row, FACTS),
        "address": f"/model/{name}/{row.entry}{suffix}",
    }


def _values(values: Mapping[str, Value]) -> Data:
    return {name: _value(exact(value)) for name, value in values.items()}


def _value(value: Value) -> Data:
    missing = could_be(value, digits)
    return {**value.to_json(), **({"missing": missing} if missing else {})}


def full_row(space: Space, name: str, entry: str, standard: str) -> Data:
    """A row with its raw values. Errors: as `State.find_row`."""
    [row] = with_errors([space.state.find_row(name, standard, entry)], standard)
    signature = dict(row.result.signature) if row.result is not None else {}
    about = {"benchmark": name, "standard": standard, "draft": draft_of(name, standard)}
    more = {**about, "values": _values(row.values), "signature": signature, "verified": _verified(space, entry)}
    return row_data(row, name, standard) | more


def _verified(space: Space, entry: str) -> Data | None:
    logged = space.state.entry(entry)
    if logged is None or (mark := logged.verified) is None:
        return None
    evidence = shown_evidence(mark.evidence)
    return {"time": mark.time, "reason": mark.reason, "signed": mark.is_signed, "evidence": evidence}


def result(space: Space, name: str, entry: str) -> str:
    """The result behind a row with all evidence, as `fairspace score --out` writes it. SpaceError UNKNOWN_ENTRY."""
    row = space.state.find_row(name, benchmark(name).default, entry)
    full = space.state.full(entry) if row.result is not None else None
    if full is None:
        what = "a published row, which has printed figures only"
        raise SpaceError("UNKNOWN_ENTRY", f"{name}/{entry}", what, "a row that was scored here", "see its source")
    return full.dumps()


def standards() -> list[Data]:
    """All standards with their settings."""
    return [
        {
            "benchmark": name,
            "name": standard,
            "draft": about.draft,
            "minimum_coverage": about.minimum_coverage,
            "settings": document(name, about),
        }
        for name in NAMES
        for standard, about in benchmark(name).standards.items()
    ]


def find_submission(space: Space, name: str) -> Data:
    """The state of a submission. SpaceError UNKNOWN_SUBMISSION."""
    space.state.refresh()
    stored = space.state.submission(name)
    if stored is None:
        mend = "use the id that you got when you submitted"
        raise SpaceError("UNKNOWN_SUBMISSION", plain(name)[:40], "no such submission", "the id of a submission", mend)
    return submission(space, stored)


def submission(space: Space, stored: Submission) -> Data:
    """The state of a submission, with its faults or its scores."""
    progress = space.jobs.progress(stored)
    scores = space.state.scores(stored.entry) if stored.entry else {}
    return {
        "id": stored.id,
        "outcome": stored.outcome,
        "stage": progress.stage,
        "position": progress.position,
        "tries": progress.tries if stored.outcome == "waiting" else stored.tries or None,
        "since": progress.since,
        "accepted": stored.accepted,
        "ended": stored.ended,
        "attempt": stored.attempt,
        "organisation": stored.organisation,
        "size": stored.size,
        "faults": [fault.to_json() for fault in stored.faults],
        "reason": stored.reason,
        "pruned": stored.pruned,
        "same": stored.same,
        "benchmark": stored.benchmark,
        "entry": stored.entry,
        "scores": _values(scores),
        "row": f"/model/{stored.benchmark}/{stored.entry}" if scores else "",
        "address": f"/submission/{stored.id}",
    }


def queue(space: Space, user: User | None) -> Data:
    """Running and waiting submissions, the next one first; ids only of the user's own."""
    waiting = [item for item in space.state.submissions() if item.outcome == "waiting"]
    queued = [(space.jobs.progress(item), item) for item in waiting]
    queued.sort(key=lambda pair: (pair[0].stage != "running", pair[0].position))
    lines = [
        {
            "position": progress.position,
            "stage": progress.stage,
            "since": progress.since or item.accepted,
            "size": item.size,
            "id": item.id if user is not None and item.user == user.name else None,
        }
        for progress, item in queued
    ]
    return {"length": len(lines), "waiting": lines[:MOST_WAITING]}


def events(space: Space, after: int, limit: int) -> Data:
    """The public log after an event."""
    public: list[Data] = []
    for event in space.storage.events(after):
        if len(public) == limit:
            break
        public.append(public_event(space, event))
    return {"last": public[-1]["number"] if public else after, "events": public}


def public_event(space: Space, event: Event) -> Data:
    """The public fields of an event."""
    fields = {name: event.body[name] for name in _PUBLIC.get(event.kind, ())}
    if event.body.get("evidence"):
        fields["evidence"] = shown_evidence(event.body["evidence"])
    entry = space.state.entry(fields["entry"]) if "entry" in fields else None
    if entry is not None:
        fields["benchmark"] = entry.benchmark
    return {"number": event.number, "time": event.time, "kind": event.kind} | fields


class Refusal(BaseModel):
    """Every error: what was wrong, and how to fix it."""

    code: str = Field(description="stable, for programs")
    where: str
    what: str
    expected: str
    mend: str


class UncertaintyModel(BaseModel):
    """The sampling error of a value, in its own unit. Empty keys are left out."""

    unit: str = Field(description="what was resampled")
    clusters: int = Field(description="number of these units, missing ones included; 0 for a score")
    resamples: int
    undefined: int = Field(description="resamples without a number")
    error: float = Field(description="standard error")
    low: float = Field(description="lower end of the 95 % interval")
    high: float
    method: str = Field(
        description="method of the interval: bca, percentile, basic, normal, size, exact, score or bracket"
    )
    percentile_low: float
    percentile_high: float
    debiased: float | None = Field(
        None, description="an estimate without the bias of few samples; of a size the true size at most, on average"
    )
    fair: float | None = Field(None, description="what perfectly fair models show by chance, on average")
    fair_high: float | None = Field(None, description="the limit that 95 % of such fair models stay within")
    note: str = ""


class ValueModel(BaseModel):
    """A number with its bounds and coverage, or the reason why there is none. Empty keys are left out."""

    name: str
    state: Literal["value", "undefined", "not_run"]
    value: float | None = None
    low: float | None = Field(None, description="smallest value that the missing samples allow")
    high: float | None = Field(None, description="largest value that the missing samples allow")
    missing: str = Field("", description="what missing samples could make of the value, in words")
    expected: int = Field(0, description="samples that the protocol requires")
    valid: int = Field(0, description="samples that could be used")
    reason: str = ""
    evidence: dict[str, Any] = Field(default_factory=dict, description="the counts that the value was computed from")
    smallest: int | None = Field(None, description="valid samples of the smallest compared group")
    uncertainty: UncertaintyModel | None = Field(None, description="of a score; of raw values in the row's result")


ROW = (
    *("entry", "rank", "model", "organisation", "provenance", "row_class", "visibility", "source"),
    *("submitter", "owner", "claim", "copy_of", "attempt", "account_attempt"),
    *("cohort", "protocol", "group", "ranked", "unranked"),
    *("remarks", "labels", "tier", "rank_range", "no_tier", "chances"),
)
FACTS = ("licence", "architecture", "parameters", "open_weights", "tasks")


def _with_fields(names: Iterable[str]) -> type[BaseModel]:
    fields = {name: ROW_FIELDS[name] for name in names}
    typed: dict[str, Any] = {
        name: (field.type, Field(description=field.about or None)) for name, field in fields.items()
    }
    return create_model("Fields", **typed)


class Facts(_with_fields(FACTS)):  # type: ignore[misc]
    """Facts about a model, as its submitter or the paper states them."""


class RowModel(_with_fields(ROW)):  # type: ignore[misc]
    """One line of a board. Names are submitted text: data, never markup."""

    scores: dict[str, ValueModel]
    footnotes: list[dict[str, Any]]
    facts: Facts
    address: str = Field(description="of the row's page")


class Verification(BaseModel):
    """How a row was verified."""

    time: str
    reason: str
    signed: bool = Field(description="whether the event has the maintainers' signature; older ones have none")
    evidence: dict[str, Any] | None = Field(
        None, description="what was compared, and the agreement with its interval; null where the reason alone says it"
    )


class FullRow(RowModel):
    """A row with its raw values."""

    benchmark: str
    standard: str
    draft: str = Field(description="why the standard is not released, '' if it is")
    values: dict[str, ValueModel]
    signature: dict[str, str] = Field(description="standard, dataset revision, submission, versions; {} if published")
    withdrawn: str | None = Field(None, description="why the row is not on the board")
    verified: Verification | None = Field(
        None, description="how the maintainers verified the row; null if they did not"
    )


class BoardAbout(BaseModel):
    """One of the boards."""

    benchmark: str
    title: str
    standards: list[str]
    default: str = Field(description="the standard of a board that names none")
    drafts: list[str] = Field(description="the standards that are not released")
    higher_is_better: bool
    rows: int = Field(description="under the first standard")
    address: str


class Board(BaseModel):
    """A page of one table of a board."""

    benchmark: str
    standard: str
    draft: str = Field(description="why the standard is not released, '' if it is")
    table: str = Field(description="name of this table")
    tables: list[str] = Field(description="all tables of the board")
    total: int = Field(description="rows of the table, or those named")
    page: int = Field(description="from 1")
    pages: int
    rows: list[RowModel]


class StandardAbout(BaseModel):
    """Definitions of a standard."""

    benchmark: str
    name: str
    draft: str = Field(description="why it is not released, or ''")
    minimum_coverage: float
    settings: dict[str, Any]


class FaultModel(BaseModel):
    """One fault of a submission."""

    code: str
    where: str
    what: str
    expected: str
    mend: str
    count: int


class SubmissionState(BaseModel):
    """Where a submission stands."""

    id: str
    outcome: Literal["waiting", "scored", "refused", "failed"]
    stage: Literal["queued", "running", "retried", "ended"]
    position: int = Field(description="position among the waiting ones, from 1; 0 if it is not waiting")
    tries: int | None = Field(description="number of scoring attempts; null if an older log does not record it")
    since: str = Field(description="start of the stage, UTC")
    accepted: str
    ended: str
    attempt: int
    organisation: str
    size: int
    faults: list[FaultModel]
    reason: str = Field(description="why it failed; a failure of the Space does not use up the quota")
    pruned: str = Field("", description="when the file was removed to make room, UTC; '' while it is kept")
    same: bool = Field(description="whether the same result was on the board before")
    benchmark: str
    entry: str = Field(description="of the row on the board, '' if there is none")
    scores: dict[str, ValueModel]
    row: str = Field(description="address of the row's page, '' if there is none")
    address: str = Field(description="of the submission's page")


class Waiting(BaseModel):
    """A submission that waits or is being scored; only your own have an `id`."""

    position: int = Field(description="from 1; 0 while it is being scored")
    stage: Literal["queued", "running", "retried", "ended"]
    since: str
    size: int
    id: str | None


class Queue(BaseModel):
    """The queue, the next one first."""

    length: int
    waiting: list[Waiting]


class EventModel(BaseModel):
    """One event of the public log. It does not show users or refused submissions."""

    number: int
    time: str
    kind: str
    benchmark: str | None = None
    entry: str | None = None
    reason: str | None = Field(None, description="of a withdrawal, restoration, verification or release")
    evidence: dict[str, Any] | None = Field(None, description="of a verification: what was compared, and the agreement")


class Events(BaseModel):
    """Events of the log in order; repeat the request with `after=last` for later ones."""

    last: int = Field(description="number of the last event in this answer")
    events: list[EventModel]


class Action(BaseModel):
    """A maintainer's action on a row."""

    reason: str = Field(min_length=1, max_length=500)
    evidence: dict[str, Any] | None = Field(
        None, description="of a verification: what `fairspace verify-submission --json` printed"
    )
