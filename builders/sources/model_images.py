"""Images that models made, with their annotations: one submission per folder, as `submissions/FORMAT.md` lays it out.

    models/<folder>/submission.json            model, revision, licence, what labelled the images
    models/<folder>/annotations*.parquet       task, id, sample, face, status, gender, age, skin_tone
    models/<folder>/images*.parquet            task, id, sample, sha256, image (struct of bytes and path); may be absent

All three are read in pieces, and every complaint names the file and the row, counted from 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES, GENDERS, SKIN_TONES
from fairspace.builders.sources.model_parquet import bad_image, bad_layout, bad_value, image_type, rows

STATUSES = ("ok", "no_face", "unreadable", "abstained", "refused")
IMAGELESS = ("unreadable", "refused")
"""Statuses of which no image need be there."""
LABELS = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES}
_TEXTS = ("model", "revision", "organisation", "licence", "dataset_revision", "benchmark")
_KEY = ("task", "id", "sample")


@dataclass(frozen=True)
class Model:
    """One submission's folder.

    Args:
        folder: where it lies; its name is the model's key in ids.
        name: the model.
        revision: of the model.
        organisation: who made it.
        licence: of the model and what it made.
        labeller: what labelled the images, with its version; '' if it is not said.
        benchmark: whose items were run.
        dataset_revision: of those items.
    """

    folder: Path
    name: str
    revision: str
    organisation: str
    licence: str
    labeller: str
    benchmark: str
    dataset_revision: str

    @property
    def key(self) -> str:
        """Names the model in ids."""
        return self.folder.name

    def files(self, table: str) -> list[Path]:
        """Its shards of a table (`annotations`, `images`), by name."""
        return sorted(self.folder.glob(f"{table}*.parquet"))


class Annotation(NamedTuple):
    """One annotated face (`face` from 0), or the reason why an image has none; labels are '' where there are none."""

    where: str
    task: str
    id: str
    sample: int
    face: int
    status: str
    gender: str
    age: str
    skin_tone: str


class StoredImage(NamedTuple):
    """Where an image lies: file, row from 0, whose it is, and what its bytes must hash to."""

    file: Path
    row: int
    task: str
    id: str
    sample: int
    sha256: str

    @property
    def where(self) -> str:
        """File and row for messages."""
        return f"{self.file}: row {self.row + 1}"


def models(folder: Path) -> list[Model]:
    """The submissions in the source's folder, by name. BuildError SOURCE_LAYOUT or SOURCE_VALUE."""
    models = [_model(file) for file in sorted(folder.glob("*/submission.json"))]
    seen: dict[tuple[str, str, str], Path] = {}
    for model in models:
        other = seen.setdefault((model.benchmark, model.name, model.revision), model.folder)
        if other != model.folder:
            what = f"{model.name} at revision {model.revision}, as in {other}"
            raise bad_value(
                str(model.folder / "submission.json"), what, "every model once", "remove one of the folders"
            )
    return models


def annotated_faces(model: Model, items: Mapping[str, Mapping[str, int]]) -> Iterator[Annotation]:
    """A model's annotations in the order of its files.

    Args:
        model: whose.
        items: task -> item id -> how many samples of it there may be.

    Errors: BuildError SOURCE_LAYOUT, SOURCE_VALUE.
    """
    files = model.files("annotations")
    if not files:
        expected = "the annotations of the model's images as Parquet; JSONL is not read here"
        raise bad_layout(str(model.folder), "no annotations*.parquet", expected)
    for file in files:
        for place, row in rows(file, (*_KEY, "face", "status", *LABELS), 10_000):
            where = f"{file}: row {place + 1}"
            _check_key(where, row, items)
            if type(row["face"]) is not int or row["face"] < 0:
                raise bad_value(where, f"face {row['face']!r}", "a number from 0")
            if row["status"] not in STATUSES:
                raise bad_value(where, f"status {row['status']!r}", f"one of {', '.join(STATUSES)}")
            for column, known in LABELS.items():
                if row[column] is not None and row[column] not in known:
                    raise bad_value(where, f"{column} {row[column]!r}", f"one of {', '.join(known)}, or null")
            labels = [row[column] or "" for column in LABELS]
            if any(labels) != (row["status"] == "ok"):
                problem = f"status {row['status']} with the labels {labels}"
                raise bad_value(where, problem, "at least one label with status ok, none with another status")
            yield Annotation(where, row["task"], row["id"], row["sample"], row["face"], row["status"], *labels)


def stored_images(model: Model, items: Mapping[str, Mapping[str, int]]) -> Iterator[StoredImage]:
    """Where a model's images lie; the images themselves are not read. `items` and errors as in `annotated_faces`."""
    for file in model.files("images"):
        kind = image_type(file)
        if kind is None or not pa.types.is_struct(kind) or kind.get_field_index("bytes") < 0:
            raise bad_layout(
                str(file), f"a column image of type {kind}", "a column image: struct<bytes: binary, path: string>"
            )
        for place, row in rows(file, (*_KEY, "sha256"), 10_000):
            where = f"{file}: row {place + 1}"
            _check_key(where, row, items)
            if not isinstance(row["sha256"], str) or not re.fullmatch("[0-9a-f]{64}", row["sha256"]):
                raise bad_value(where, f"sha256 {row['sha256']!r}", "64 hexadecimal digits in lower case")
            yield StoredImage(file, place, row["task"], row["id"], row["sample"], row["sha256"])


def missing_image(where: str, item: str, sample: int) -> BuildError:
    """An annotation whose image should be among the model's images and is not."""
    return bad_image(where, f"no image of {item}, sample {sample}", "an image for each annotation of the task")


def _model(file: Path) -> Model:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise bad_layout(f"{file}:{error.lineno}", f"no JSON ({error.msg})", "a submission.json") from error
    except UnicodeDecodeError as error:
        raise bad_layout(str(file), f"no UTF-8 ({error.reason})", "a submission.json") from error
    for name in _TEXTS:
        if not isinstance(data, dict) or not isinstance(data.get(name), str) or not data[name].strip():
            raise bad_layout(str(file), f"no text {name!r}", f"the texts {', '.join(_TEXTS)}")
    if not re.fullmatch(r"[\w.-]+", file.parent.name, re.ASCII):
        what = f"the folder name {file.parent.name!r}"
        raise bad_layout(str(file.parent), what, "letters, digits, '.', '_' and '-'; ids are made of it")
    labels = data.get("labels") if isinstance(data.get("labels"), dict) else {}
    labeller = " ".join(str(labels[key]) for key in ("name", "version") if key in labels)
    known = {name: data[name] for name in _TEXTS if name != "model"}
    return Model(folder=file.parent, name=data["model"], labeller=labeller, **known)


def _check_key(where: str, row: Mapping[str, Any], items: Mapping[str, Mapping[str, int]]) -> None:
    if row["task"] not in items:
        raise bad_value(where, f"task {row['task']!r}", f"one of {', '.join(items)}")
    samples = items[row["task"]].get(row["id"])
    if samples is None:
        raise bad_value(
            where, f"the unknown id {row['id']!r}", f"an item of {row['task']}, as `fairspace items` lists them"
        )
    if type(row["sample"]) is not int or not 0 <= row["sample"] < samples:
        raise bad_value(where, f"sample {row['sample']!r}", f"a number from 0 to {samples - 1}")
