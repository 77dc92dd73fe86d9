"""The submission format: the fields of `submission.json` and of the four tables, explained in `FORMAT.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, model_validator

from fairspace.submissions.benchmarks.names import NAMES
from fairspace.submissions.format.manifest import Architecture, Line

if TYPE_CHECKING:
    from fairspace.submissions.format.manifest import Manifest

Parameters = Annotated[float, Field(ge=1e-9, le=100_000, allow_inf_nan=False)]
"""Billions of parameters."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


VOCABULARY: Mapping[str, tuple[str, ...]] = {
    "status": ("ok", "no_face", "unreadable", "abstained", "refused"),
    "gender": ("female", "male"),
    "age": ("young", "middle-aged", "older"),
    "skin_tone": ("light", "middle", "dark"),
    "race": ("Asian", "Black", "Hispanic", "White"),
}
"""Closed vocabularies of the annotation columns; null means no label."""
Attribute = Literal["gender", "age", "skin_tone", "race"]
LABELS: tuple[Attribute, ...] = get_args(Attribute)
Count = Annotated[int, Field(ge=0, le=10_000_000)]


class Confusion(_Model):
    """A confusion matrix of images with known labels: row = true label, column = the labeller's."""

    labels: list[Line] = Field(min_length=2, max_length=4, description="of rows and columns")
    counts: list[list[Count]] = Field(min_length=2, max_length=4)

    @model_validator(mode="after")
    def _square(self) -> Confusion:
        k = len(self.labels)
        if len(self.counts) != k or {len(row) for row in self.counts} != {k}:
            raise ValueError(f"counts for {k} labels are {k} rows of {k} numbers")
        return self


class LabelError(_Model):
    """The measured error of the labeller."""

    source: Line = Field(description="what was measured, on which images, and when")
    attributes: dict[Attribute, Confusion] = Field(min_length=1)

    @model_validator(mode="after")
    def _known(self) -> LabelError:
        for name, matrix in self.attributes.items():
            if sorted(matrix.labels) != sorted(VOCABULARY[name]):
                raise ValueError(f"the labels of {name} are {', '.join(VOCABULARY[name])}, each once")
        return self

    def counts(self, name: Attribute) -> list[list[int]] | None:
        """The matrix of an attribute, its labels in the order of `VOCABULARY`; None if not measured."""
        matrix = self.attributes.get(name)
        if matrix is None:
            return None
        order = [matrix.labels.index(label) for label in VOCABULARY[name]]
        return [[matrix.counts[row][column] for column in order] for row in order]


OTHER_JUDGES = 11
"""Evaluations beside the scored one: four by each of three judges make twelve."""


class Tool(_Model):
    """A label source or a judge, and its version."""

    name: Line
    version: Line
    settings: dict[str, str | int | float | bool | None] = Field(default_factory=dict)


class SubmissionMeta(_Model):
    """`submission.json`."""

    format: Literal[1] = Field(description="version of this format")
    benchmark: Literal[NAMES]  # type: ignore[valid-type]
    dataset_revision: Line = Field(description="revision of the dataset whose items were run")
    model: Line
    revision: Line = Field(description="commit, date or version of the model")
    organisation: Line
    licence: Line = Field(description="SPDX identifier where there is one")
    contact: Line = Field(description="an address or a page where questions can be asked; not shown on the board")
    generation: dict[str, str | int | float | bool | None] = Field(
        description="generation settings, for example temperature, seed, prefix"
    )
    labels: Tool | None = Field(default=None, description="what labelled the images; required with annotations")
    label_error: LabelError | None = Field(
        default=None,
        description="the measured error of `labels`; shares are shown corrected by it, beside the raw ones",
    )
    judge: Tool | None = Field(default=None, description="the judge model; required with judgements")
    other_judges: list[Tool] | None = Field(
        default=None,
        min_length=1,
        max_length=OTHER_JUDGES,
        description="further judge models, whose judgements do not enter the score; no two of one name; `NAME#2` is "
        "the second evaluation by the judge NAME",
    )
    parameters: Parameters | None = Field(
        default=None, description="of the model, in billions; all of them, also those of experts that are not asked"
    )
    open_weights: bool | None = Field(default=None, description="whether anybody can download the weights")
    architecture: Architecture | None = Field(default=None, description="how the model generates")
    baseline: Literal["random", "constant", "stereotyped", "balanced", "refusing"] | None = Field(
        default=None, description="set by `fairspace baseline` alone: a trivial model, marked so on the board"
    )


RESPONSES = pa.schema(
    [
        pa.field("task", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("response", pa.string()),
        pa.field("names", pa.string()),
    ]
)
"""`response` null: no answer. `names`: GENRES' `upstream` revision alone, "First|Second" as in the prompt."""
ANNOTATIONS = pa.schema(
    [
        pa.field("task", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("face", pa.int32(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("gender", pa.string()),
        pa.field("age", pa.string()),
        pa.field("skin_tone", pa.string()),
        pa.field("race", pa.string()),
        pa.field("image_quality", pa.float64()),
        pa.field("face_quality", pa.float64()),
        pa.field("prompt_similarity", pa.float64()),
        pa.field("reference_similarity", pa.float64()),
        pa.field("faces", pa.int32()),
    ]
)
"""One row per face, `face` from 0; an image without a usable face is one row with face 0 and a status other than ok.
`faces`: number of faces found in the image, so that no row can be left out unseen.
"""
JUDGEMENTS = pa.schema(
    [
        pa.field("task", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("judgement", pa.string()),
        pa.field("judge", pa.string()),
    ]
)
"""`judgement`: raw answer of the judge (JSON text of the prompt), null for none. `judge`: null for the scored judge,
else the name of one of `other_judges`.
"""
IMAGES = pa.schema(
    [
        pa.field("task", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("sha256", pa.string(), nullable=False),
    ]
)
"""Images of an unlabelled submission, in Parquet alone; their column `image` is read by the labeller."""
HUMAN_LABELS = pa.schema([ANNOTATIONS.field(name) for name in ("task", "id", "sample", "face", *LABELS)])
"""People's labels of some annotated images, drawn at random; labels as in `ANNOTATIONS`, null for none."""
SCHEMAS: Mapping[str, pa.Schema] = {
    "responses": RESPONSES,
    "annotations": ANNOTATIONS,
    "judgements": JUDGEMENTS,
    "human_labels": HUMAN_LABELS,
}
KEYS: Mapping[str, tuple[str, ...]] = {
    "responses": ("task", "id", "sample"),
    "annotations": ("task", "id", "sample", "face"),
    "judgements": ("task", "id", "sample", "judge"),
    "human_labels": ("task", "id", "sample", "face"),
}
"""Key columns of a row: a repeat is the fault DUPLICATE_ID."""
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "responses": ("task", "id", "sample", "response"),
    "annotations": ("task", "id", "sample", "face", "status"),
    "judgements": ("task", "id", "sample", "judgement"),
    "human_labels": ("task", "id", "sample", "face"),
    "images": ("task", "id", "sample", "sha256"),
}
RANGES: Mapping[str, tuple[float, float]] = {
    "image_quality": (0.0, 1.0),
    "face_quality": (0.0, 1.0),
    "prompt_similarity": (-1.0, 1.0),
    "reference_similarity": (-1.0, 1.0),
}


@dataclass(frozen=True)
class Submission:
    """A submission that was read and checked: rows of known tasks and items, no repeats, sorted by key.

    Args:
        tables: Tables by name, with the schemas above; null in missing columns.
        digest: sha256 of the canonical content, equal for every order, sharding and container.
        images: Images of an unlabelled submission, with the schema `IMAGES`, in the order of the files.
        manifest: Content of `manifest.json`, outside the digest; None if missing.
    """

    meta: SubmissionMeta
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    digest: str = ""
    images: pa.Table | None = None
    manifest: Manifest | None = None
    _selected: dict[tuple[str, str], pa.Table] = field(default_factory=dict, init=False, repr=False, compare=False)

    def rows(self, table: str, task: str) -> pa.Table:
        """The rows of one task, selected at the first call; empty if there are none."""
        if (table, task) not in self._selected:
            self._selected[table, task] = self._select(table, task)
        return self._selected[table, task]

    def _select(self, table: str, task: str) -> pa.Table:
        if table not in self.tables:
            return SCHEMAS[table].empty_table()
        whole = self.tables[table]
        return whole.filter(pc.equal(whole["task"], task))

    def judgements(self, task: str, judge: str | None = None) -> pa.Table:
        """The judgements of one task by one judge: the scored one, or another one by its name."""
        rows = self.rows("judgements", task)
        return rows.filter(pc.is_null(rows["judge"]) if judge is None else pc.equal(rows["judge"], judge))

    def dump_meta(self) -> dict[str, Any]:
        """`submission.json` as JSON data."""
        return self.meta.model_dump(exclude_none=True)
