"""What the API answers: the fields of every object, as its OpenAPI document and `/api` tell them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from fairspace.submissions.results.row_fields import ROW_FIELDS


class Refusal(BaseModel):
    """Every error: what was wrong, and how to mend it."""

    code: str = Field(description="stable, for programs")
    where: str
    what: str
    expected: str
    mend: str


class UncertaintyModel(BaseModel):
    """The sampling error of a value, in its own unit. Keys that say nothing are left out."""

    unit: str = Field(description="what was drawn anew")
    clusters: int = Field(description="how many of these there are, missing ones included; 0 for a score")
    resamples: int
    undefined: int = Field(description="resamples that gave no number")
    error: float = Field(description="standard error")
    low: float = Field(description="lower end of the 95 % interval")
    high: float
    method: str = Field(description="how the interval is made: bca, percentile, basic, normal or bracket")
    percentile_low: float
    percentile_high: float
    debiased: float | None = Field(None, description="the value less its bias at this number of samples")
    fair: float | None = Field(None, description="what a perfectly fair model shows at this number of samples")
    fair_high: float | None = Field(None, description="what 95 % of such fair models stay within")
    note: str = ""


class ValueModel(BaseModel):
    """A number with its bounds and coverage, or the reason why there is none. Keys that say nothing are left out."""

    name: str
    state: Literal["value", "undefined", "not_run"]
    value: float | None = None
    low: float | None = Field(None, description="the smallest number that the missing samples allow")
    high: float | None = Field(None, description="the largest number that the missing samples allow")
    expected: int = Field(0, description="samples that the protocol asks for")
    valid: int = Field(0, description="samples that could be used")
    reason: str = ""
    evidence: dict[str, Any] = Field(default_factory=dict, description="what the number was made from")
    smallest: int | None = Field(None, description="valid samples of the smallest group that is compared")
    uncertainty: UncertaintyModel | None = Field(None, description="of a score; of raw values in the row's result")


ROW = (
    *("entry", "rank", "model", "organisation", "provenance", "visibility", "source", "cohort", "ranked", "unranked"),
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
    """What a model is, as its submitter or the paper says."""


class Row(_with_fields(ROW)):  # type: ignore[misc]
    """One line of a board. Names are submitted text: data, never markup."""

    scores: dict[str, ValueModel]
    footnotes: list[dict[str, Any]]
    facts: Facts
    address: str = Field(description="of the row's page")


class FullRow(Row):
    """A row with its raw values."""

    benchmark: str
    standard: str
    draft: str = Field(description="why the standard is not released, '' if it is")
    values: dict[str, ValueModel]
    signature: dict[str, str] = Field(description="standard, dataset revision, submission, versions; {} if published")
    withdrawn: str | None = Field(None, description="why the row is not on the board")


class BoardAbout(BaseModel):
    """One of the boards."""

    benchmark: str
    title: str
    standards: list[str]
    drafts: list[str] = Field(description="those of them that are not released")
    higher_is_better: bool
    rows: int = Field(description="under the first standard")
    address: str


class Board(BaseModel):
    """A page of one table of a board."""

    benchmark: str
    standard: str
    draft: str = Field(description="why the standard is not released, '' if it is")
    adjusted: dict[str, str] = Field(description="parameters by which the asker adjusts the standard; none: released")
    table: str = Field(description="which of the board's tables this is")
    tables: list[str] = Field(description="all of the board")
    total: int = Field(description="rows that the filters keep")
    page: int = Field(description="from 1")
    pages: int
    rows: list[Row]


class StandardAbout(BaseModel):
    """What a standard fixes."""

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
    position: int = Field(description="from 1, of those that wait; 0 for one that does not")
    tries: int | None = Field(description="how often its scoring was begun; null where an older log does not say")
    since: str = Field(description="when the stage began, UTC")
    accepted: str
    ended: str
    attempt: int
    organisation: str
    size: int
    faults: list[FaultModel]
    reason: str = Field(description="why it failed; a failure through our fault costs no quota")
    same: bool = Field(description="whether its result was there before")
    benchmark: str
    entry: str = Field(description="of the row on the board, '' if there is none")
    scores: dict[str, ValueModel]
    row: str = Field(description="address of the row's page, '' if there is none")
    address: str = Field(description="of the submission's page")


class Waiting(BaseModel):
    """One that waits or is being scored; `id` stands only on your own."""

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
    """One event of the public log: who handed in or withdrew, and what was refused, is not told."""

    number: int
    time: str
    kind: str
    benchmark: str | None = None
    entry: str | None = None
    reason: str | None = Field(None, description="of a withdrawal, restoration or verification")


class Events(BaseModel):
    """Events of the log in order; ask again with `after=last` for those that follow."""

    last: int = Field(description="number of the last event that is told here")
    events: list[EventModel]


class Action(BaseModel):
    """What a maintainer says of a row."""

    reason: str = Field(min_length=1, max_length=500)
