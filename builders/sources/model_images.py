"""Images that models made, with their annotations: one submission per folder, as `submissions/FORMAT.md` lays it out.

  models/<folder>/submission.json            model, revision, licence, labeller of the images
  models/<folder>/annotations*.parquet       task, id, sample, face, status, gender, age, skin_tone
  models/<folder>/images*.parquet            task, id, sample, sha256, image (struct of bytes and path); may be absent

Annotations and images are joined by (task, id, sample). IRIS-Gen-52 takes neutral images, IRIS-Steer-60 steer images
and the counts of its plan. Every complaint names the file and the row, counted from 1.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fairspace.builders.engine.dataset import Job
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import AGES, GENDERS, GROUPS, OCCUPATIONS, SKIN_TONES
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60

STATUSES = ("ok", "no_face", "unreadable", "abstained", "refused")
IMAGELESS = ("unreadable", "refused")
"""Statuses that need no image."""
LABELS = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES}
_TEXTS = ("model", "revision", "organisation", "licence", "dataset_revision", "benchmark")
_KEY = ("task", "id", "sample")
REVISION = iris_gen_52.REVISIONS[0]
NEUTRAL, STEER = "generation_neutral", "generation_steer"
_SUFFIXES = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}
_BATCH = 64


@dataclass(frozen=True)
class Model:
    """One submission's folder, whose name is the model's key in ids.

    `licence` holds for the model and its images; `labeller` labelled the images ('' if unknown); `dataset_revision` is
    that of the benchmark's items.
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
        """The model's key in ids."""
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
    """The place of an image: file, row from 0, its item, and the hash of its bytes."""

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
    """A model's annotations by task -> item id -> most samples, in order. BuildError SOURCE_LAYOUT, SOURCE_VALUE."""
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
    """The places of a model's images, none of which is read. `items` and errors as in `annotated_faces`."""
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


@dataclass(frozen=True)
class Made:
    """One image of a model, or the reason for its absence, with the labels of its first face; '' if not labelled.

    `model` is a position in `ModelStore.models`, `item` one among its task's ids, `sample` counts from 0, `faces` is
    the number of annotated faces, `image` None if absent.
    """

    model: int
    item: int
    sample: int
    status: str
    gender: str
    age: str
    skin_tone: str
    faces: int
    image: StoredImage | None

    @property
    def labels(self) -> tuple[str, str, str]:
        """Gender, age and skin tone."""
        return self.gender, self.age, self.skin_tone


class ModelStore:
    """The models of a source, their annotated images by task, and the ids of the tasks' items.

    Errors: BuildError SOURCE_LAYOUT, SOURCE_VALUE or SOURCE_IMAGE, with file and row.
    """

    def __init__(self, job: Job, folder: Path) -> None:
        self.ids = {NEUTRAL: iris_gen_52.ids(REVISION), STEER: iris_steer_60.steer_ids(REVISION)}
        self._place = {task: {name: i for i, name in enumerate(ids.to_pylist())} for task, ids in self.ids.items()}
        images = {NEUTRAL: iris_gen_52.IMAGES, STEER: iris_steer_60.IMAGES}
        items = {task: dict.fromkeys(place, images[task]) for task, place in self._place.items()}
        self.models = [model for model in models(folder) if _of_iris(model, job)]
        self._made: dict[str, list[Made]] = {task: [] for task in items}
        for number, model in enumerate(self.models):
            job.progress("Reading annotations of models", number, len(self.models))
            for file in (model.folder / "submission.json", *model.files("annotations"), *model.files("images")):
                job.used(file.relative_to(folder.parent).as_posix(), file)
            self._read(number, model, items)
        job.progress("Reading annotations of models", len(self.models), len(self.models))

    def neutral_counts(self, model: int) -> NDArray[np.int_]:
        """(52, 18) neutral images of a model by occupation and group, of those with all three labels."""
        counts = np.zeros((len(OCCUPATIONS), len(GROUPS)), dtype=np.int64)
        for made in self._made[NEUTRAL]:
            if made.model == model and all(made.labels):
                counts[made.item, GROUPS.index("_".join(made.labels))] += 1
        return counts

    def unlabelled(self, model: int) -> list[Counter[str]]:
        """Status -> neutral images of a model without one of the labels, per occupation."""
        counts = [Counter[str]() for _ in OCCUPATIONS]
        for made in self._made[NEUTRAL]:
            if made.model == model and not all(made.labels):
                counts[made.item][made.status] += 1
        return counts

    def select(self, task: str, wanted: Container[tuple[int, int]]) -> list[Made]:
        """The images of a task's wanted (model, item), by model; within it as they lie in its files, then the rest."""
        return [made for made in self._made[task] if (made.model, made.item) in wanted]

    def unwanted(self, task: str, wanted: Container[tuple[int, int]]) -> list[Made]:
        """The annotated images of a task that are not wanted, by model, item and sample."""
        others = (made for made in self._made[task] if (made.model, made.item) not in wanted)
        return sorted(others, key=lambda made: (made.model, made.item, made.sample))

    def _read(self, number: int, model: Model, items: Mapping[str, Mapping[str, int]]) -> None:
        faces: dict[tuple[str, int, int], dict[int, Annotation]] = {}
        for row in annotated_faces(model, items):
            of_image = faces.setdefault((row.task, self._place[row.task][row.id], row.sample), {})
            if of_image.setdefault(row.face, row) is not row:
                raise bad_value(row.where, f"{row.id}, sample {row.sample}, face {row.face} again", "every face once")
        images: dict[tuple[str, int, int], StoredImage] = {}
        for stored in stored_images(model, items):
            key = (stored.task, self._place[stored.task][stored.id], stored.sample)
            if images.setdefault(key, stored) is not stored:
                raise bad_value(stored.where, f"{stored.id}, sample {stored.sample} again", "every image once")
            if key not in faces:
                what = f"an image of {stored.id}, sample {stored.sample}, without annotation"
                raise bad_value(stored.where, what, "a row in annotations*.parquet for each image")
        pictured = {task for task, _, _ in images}
        files = {file: place for place, file in enumerate(model.files("images"))}
        made: list[tuple[tuple[int, ...], str, Made]] = []
        for key, of_image in sorted(faces.items()):
            task, item, sample = key
            if 0 not in of_image:
                row = of_image[min(of_image)]
                raise bad_value(row.where, f"face {row.face} of an image without face 0", "faces numbered from 0")
            row, image = of_image[0], images.get(key)
            if image is None and task in pictured and row.status not in IMAGELESS:
                what = f"no image of {row.id}, sample {sample}"
                raise bad_image(row.where, what, "an image for each annotation of the task")
            labelled = sum(each.status == "ok" for each in of_image.values())
            labels = (row.gender, row.age, row.skin_tone)
            lies = (0, files[image.file], image.row) if image else (1,)
            made.append((lies, task, Made(number, item, sample, row.status, *labels, labelled, image)))
        for _, task, each in sorted(made, key=lambda entry: entry[0]):
            self._made[task].append(each)


class ImageReader:
    """Reads stored images one after another; going back in a file opens it again."""

    def __init__(self) -> None:
        self._file: Path | None = None
        self._rows: Iterator[tuple[int, dict[str, Any]]] = iter(())
        self._next = 0

    def read(self, stored: StoredImage) -> tuple[bytes, str]:
        """Bytes and file suffix. BuildError SOURCE_IMAGE if they are missing, no image, or have another hash."""
        if stored.file != self._file or stored.row < self._next:
            self._file, self._rows = stored.file, rows(stored.file, ("image",), _BATCH)
        row: dict[str, Any] = next(row for place, row in self._rows if place == stored.row)
        self._next = stored.row + 1
        data = (row["image"] or {}).get("bytes")
        if not data:
            raise bad_image(stored.where, "no image bytes", "the image itself; a path alone is not followed")
        digest = hashlib.sha256(data).hexdigest()
        if digest != stored.sha256:
            raise bad_image(stored.where, f"bytes with sha256 {digest}", f"sha256 {stored.sha256}, as the row says")
        return data, _suffix(stored.where, data)


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


def _of_iris(model: Model, job: Job) -> bool:
    """Whether it is a submission to IRIS; others are left out with a note. SOURCE_VALUE for another revision."""
    if model.benchmark != "iris":
        job.note(f"The images of {model.name} in {model.key} are for {model.benchmark}, not for IRIS; left out.")
        return False
    if model.dataset_revision not in iris_gen_52.REVISIONS:
        where, what = str(model.folder / "submission.json"), f"dataset_revision {model.dataset_revision!r}"
        raise bad_value(where, what, f"one of {', '.join(iris_gen_52.REVISIONS)}, whose items this version knows")
    return True


def _suffix(where: str, data: bytes) -> str:
    from PIL import Image

    try:
        with Image.open(BytesIO(data)) as image:
            kind = image.format or ""
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise bad_image(where, f"no image that can be read ({error})", "a JPEG, PNG or WebP image") from error
    if kind not in _SUFFIXES:
        raise bad_image(where, f"an image in the format {kind}", "a JPEG, PNG or WebP image")
    return _SUFFIXES[kind]


def rows(file: Path, columns: Sequence[str], batch: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Row numbers from 0 and rows; pages are read when needed. BuildError SOURCE_LAYOUT for a bad file or no column."""
    try:
        with pq.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False) as parquet:
            missing = [column for column in columns if column not in parquet.schema_arrow.names]
            if missing:
                problem = f"no column {', '.join(missing)}"
                raise bad_layout(str(file), problem, f"the columns {', '.join(columns)}")
            place = 0
            for part in parquet.iter_batches(batch, columns=list(columns)):
                for row in part.to_pylist():
                    yield place, row
                    place += 1
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error


def image_type(file: Path) -> pa.DataType | None:
    """The type of the column `image`; None if there is none. SOURCE_LAYOUT if the file cannot be read."""
    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error
    return schema.field("image").type if "image" in schema.names else None


def _unreadable(file: Path, error: Exception) -> BuildError:
    return bad_layout(str(file), f"no readable Parquet ({error})", "an undamaged Parquet file")


def bad_layout(where: str, what: str, expected: str) -> BuildError:
    """The error for a file or folder with a wrong layout."""
    return BuildError("SOURCE_LAYOUT", where, what, expected, "lay the folder out as FORMAT.md says, or remove it")


def bad_value(
    where: str, what: str, expected: str, mend: str = "correct the row, or leave the model out"
) -> BuildError:
    """The error for a cell with an unknown value."""
    return BuildError("SOURCE_VALUE", where, what, expected, mend)


def bad_image(where: str, what: str, expected: str) -> BuildError:
    """The error for an image that is missing or contradicts its row."""
    mend = "write the images again, or remove all of the model's images*.parquet to publish its annotations alone"
    return BuildError("SOURCE_IMAGE", where, what, expected, mend)
