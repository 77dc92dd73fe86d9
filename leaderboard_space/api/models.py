"""Objects in the answers of the API; the OpenAPI document and `/api` describe their fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from fairspace.submissions.results.row_fields import ROW_FIELDS


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
    """A model of some of a row's fields."""
    fields = {name: ROW_FIELDS[name] for name in names}
    typed: dict[str, Any] = {
        name: (field.type, Field(description=field.about or None)) for name, field in fields.items()
    }
    return create_model("Fields", **typed)


class Facts(_with_fields(FACTS)):  # type: ignore[misc]
    """Facts about a model, as its submitter or the paper states them."""


class Row(_with_fields(ROW)):  # type: ignore[misc]
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


class FullRow(Row):
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
    total: int = Field(description="rows that match the filters")
    page: int = Field(description="from 1")
    pages: int
    rows: list[Row]


class StandardAbout(BaseModel):
    """What a standard defines."""

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
