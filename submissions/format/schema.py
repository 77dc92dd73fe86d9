"""The submission format: the fields of `submission.json` and of the four tables, explained in `FORMAT.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from fairspace.submissions.format.manifest import Architecture, Line, Strict
from fairspace.submissions.names import NAMES, Baseline

if TYPE_CHECKING:
    from fairspace.submissions.format.manifest import Manifest

Parameters = Annotated[float, Field(ge=1e-9, le=100_000, allow_inf_nan=False)]
"""Billions of parameters."""


Attribute = Literal["gender", "age", "skin_tone", "race"]
LABELS: tuple[Attribute, ...] = get_args(Attribute)
Count = Annotated[int, Field(ge=0, le=10_000_000)]


class Confusion(Strict):
    """A confusion matrix of images with known labels: row = true label, column = the labeller's."""

    labels: list[Line] = Field(min_length=2, max_length=4, description="of rows and columns")
    counts: list[list[Count]] = Field(min_length=2, max_length=4)

    @model_validator(mode="after")
    def _square(self) -> Confusion:
        k = len(self.labels)
        if len(self.counts) != k or {len(row) for row in self.counts} != {k}:
            raise ValueError(f"counts for {k} labels are {k} rows of {k} numbers")
        return self


class LabelError(Strict):
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


class Tool(Strict):
    """A label source or a judge, and its version."""

    name: Line
    version: Line
    settings: dict[str, str | int | float | bool | None] = Field(default_factory=dict)


class SubmissionMeta(Strict):
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
    baseline: Baseline | None = Field(
        default=None, description="set by `fairspace baseline` alone: a trivial model, marked so on the board"
    )


Gender = Literal["female", "male"]
Age = Literal["young", "middle-aged", "older"]
SkinTone = Literal["light", "middle", "dark"]
Race = Literal["Asian", "Black", "Hispanic", "White"]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Similarity = Annotated[float, Field(ge=-1.0, le=1.0)]


class _Row(Strict):
    """A row of a table: a column with a default may be missing, and one of None or a value may be null."""

    task: str
    id: str
    sample: int


class ResponseRow(_Row):
    """An answer, null for none; `names` ("First|Second" as in the prompt) in GENRES' revision `upstream` alone."""

    response: str | None
    names: str | None = None


class AnnotationRow(_Row):
    """A face, numbered from 0; an image without a usable face is one row with face 0 and a status other than ok.

    Null means no label. `faces`: number of faces found in the image, so that no row can be left out unseen.
    """

    face: int
    status: Literal["ok", "no_face", "unreadable", "abstained", "refused"]
    gender: Gender | None = None
    age: Age | None = None
    skin_tone: SkinTone | None = None
    race: Race | None = None
    image_quality: Share | None = None
    face_quality: Share | None = None
    prompt_similarity: Similarity | None = None
    reference_similarity: Similarity | None = None
    faces: int | None = None


class JudgementRow(_Row):
    """The judge's raw answer (JSON text of the prompt), null for none.

    `judge`: null for the scored judge, else the name of one of `other_judges`.
    """

    judgement: str | None
    judge: str | None = None


class HumanLabelRow(_Row):
    """People's labels of an annotated image, drawn at random; null for none."""

    face: int
    gender: Gender | None = None
    age: Age | None = None
    skin_tone: SkinTone | None = None
    race: Race | None = None


class ImageRow(_Row):
    """An image of an unlabelled submission, in Parquet alone; its column `image` is read by the labeller."""

    sha256: str


ROWS: Mapping[str, type[_Row]] = {
    "responses": ResponseRow,
    "annotations": AnnotationRow,
    "judgements": JudgementRow,
    "human_labels": HumanLabelRow,
    "images": ImageRow,
}
KEYS: Mapping[str, tuple[str, ...]] = {
    "responses": ("task", "id", "sample"),
    "annotations": ("task", "id", "sample", "face"),
    "judgements": ("task", "id", "sample", "judge"),
    "human_labels": ("task", "id", "sample", "face"),
}
"""Key columns of a row: a repeat is the fault DUPLICATE_ID."""
_ARROW = {"string": pa.string(), "integer": pa.int32(), "number": pa.float64()}
_JSON = {table: row.model_json_schema() for table, row in ROWS.items()}
_COLUMNS = {
    table: {name: rule.get("anyOf", [rule]) for name, rule in schema["properties"].items()}
    for table, schema in _JSON.items()
}
"""Table -> column -> JSON schemas of its values; a second one is null."""
_RULES = {name: kinds[0] for columns in _COLUMNS.values() for name, kinds in columns.items()}
REQUIRED: Mapping[str, tuple[str, ...]] = {table: tuple(schema["required"]) for table, schema in _JSON.items()}
VOCABULARY: Mapping[str, tuple[str, ...]] = {n: tuple(rule["enum"]) for n, rule in _RULES.items() if "enum" in rule}
"""Closed vocabularies of the annotation columns."""
RANGES: Mapping[str, tuple[float, float]] = {
    name: (rule["minimum"], rule["maximum"]) for name, rule in _RULES.items() if "maximum" in rule
}
SCHEMAS = {
    table: pa.schema([pa.field(name, _ARROW[kinds[0]["type"]], len(kinds) > 1) for name, kinds in columns.items()])
    for table, columns in _COLUMNS.items()
}
IMAGES = SCHEMAS.pop("images")
RESPONSES, ANNOTATIONS, JUDGEMENTS = (SCHEMAS[table] for table in ("responses", "annotations", "judgements"))


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

    def scored_rows(self, table: str, task: str) -> pa.Table:
        """The rows of one task that are scored: all, but of judgements those by the scored judge."""
        return self.judgements(task) if table == "judgements" else self.rows(table, task)

    def dump_meta(self) -> dict[str, Any]:
        """`submission.json` as JSON data."""
        return self.meta.model_dump(exclude_none=True)
