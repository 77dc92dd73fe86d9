"""Images that models made, with their annotations: one submission per folder, as `submissions/FORMAT.md` lays it out.

  models/<folder>/submission.json            model, revision, licence, labeller of the images
  models/<folder>/annotations*.parquet       task, id, sample, face, status, gender, age, skin_tone
  models/<folder>/images*.parquet            task, id, sample, sha256, image (struct of bytes and path); may be absent

Annotations and images are joined by (task, id, sample). IRIS-Gen-52 takes neutral images, IRIS-Steer-60 steer images
and the counts of its plan. Every complaint names the file and the row, counted from 1.
"""

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

from fairspace.builders.engine.dataset import BuildJob
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import GROUPS, LABELS, OCCUPATIONS
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60

STATUSES = ("ok", "no_face", "unreadable", "abstained", "refused")
IMAGELESS = ("unreadable", "refused")
"""Statuses that need no image."""
_TEXTS = ("model", "revision", "organisation", "licence", "dataset_revision", "benchmark")
_KEY = ("task", "id", "sample")
REVISION = iris_gen_52.REVISIONS[0]
NEUTRAL, STEER = "generation_neutral", "generation_steer"
_SUFFIXES = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}
_BATCH = 64
_Key = tuple[str, int, int]
"""Task, position of the item among the task's ids, sample."""
_MENDS = {
    "SOURCE_LAYOUT": "lay the folder out as FORMAT.md says, or remove it",
    "SOURCE_VALUE": "correct the row, or leave the model out",
    "SOURCE_IMAGE": "write the images again, or remove all of the model's images*.parquet to publish its annotations "
    "alone",
}


@dataclass(frozen=True)
class PictureModel:
    """One submission's folder, whose name is the model's key in ids.

    `licence` holds for the model and its images; `labeller` labelled the images ('' if unknown).
    """

    folder: Path
    name: str
    revision: str
    licence: str
    labeller: str

    @property
    def key(self) -> str:
        """The model's key in ids."""
        return self.folder.name

    def files(self, table: str) -> list[Path]:
        """Its shards of a table (`annotations`, `images`), by name."""
        return sorted(self.folder.glob(f"{table}*.parquet"))


class StoredImage(NamedTuple):
    """The place of an image: file, row from 0, and the hash of its bytes."""

    file: Path
    row: int
    sha256: str


@dataclass(frozen=True)
class ModelImage:
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

    Submissions to other benchmarks are left out with a note. Errors: BuildError SOURCE_LAYOUT, SOURCE_VALUE or
    SOURCE_IMAGE, with file and row.
    """

    def __init__(self, job: BuildJob, folder: Path) -> None:
        self.ids = {NEUTRAL: iris_gen_52.ids(REVISION), STEER: iris_steer_60.steer_ids(REVISION)}
        self._place = {task: {name: i for i, name in enumerate(ids.to_pylist())} for task, ids in self.ids.items()}
        self.models = _models(job, folder)
        self._made: dict[str, list[ModelImage]] = {task: [] for task in self.ids}
        for number, model in enumerate(self.models):
            job.progress("Reading annotations of models", number, len(self.models))
            for file in (model.folder / "submission.json", *model.files("annotations"), *model.files("images")):
                job.files[file.relative_to(folder.parent).as_posix()] = file
            self._join(number, self._faces(model), self._images(model))
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

    def select(self, task: str, wanted: Container[tuple[int, int]]) -> list[ModelImage]:
        """The images of a task's wanted (model, item), by model; within it as they lie in its files, then the rest."""
        return [made for made in self._made[task] if (made.model, made.item) in wanted]

    def unwanted(self, task: str, wanted: Container[tuple[int, int]]) -> list[ModelImage]:
        """The annotated images of a task that are not wanted, by model, item and sample."""
        others = (made for made in self._made[task] if (made.model, made.item) not in wanted)
        return sorted(others, key=lambda made: (made.model, made.item, made.sample))

    def _key(self, where: str, row: Mapping[str, Any]) -> _Key:
        task, name, sample = (row[column] for column in _KEY)
        if task not in self._place:
            raise _bad("SOURCE_VALUE", where, f"task {task!r}", f"one of {', '.join(self._place)}")
        if name not in self._place[task]:
            expected = f"an item of {task}, as `fairspace items` lists them"
            raise _bad("SOURCE_VALUE", where, f"the unknown id {name!r}", expected)
        samples = iris_gen_52.IMAGES if task == NEUTRAL else iris_steer_60.IMAGES
        if type(sample) is not int or not 0 <= sample < samples:
            raise _bad("SOURCE_VALUE", where, f"sample {sample!r}", f"a number from 0 to {samples - 1}")
        return task, self._place[task][name], sample

    def _faces(self, model: PictureModel) -> dict[_Key, dict[int, dict[str, Any]]]:
        """The checked rows of a model's annotations, by image and face."""
        files = model.files("annotations")
        if not files:
            expected = "the annotations of the model's images as Parquet; JSONL is not read here"
            raise _bad("SOURCE_LAYOUT", str(model.folder), "no annotations*.parquet", expected)
        faces: dict[_Key, dict[int, dict[str, Any]]] = {}
        for file in files:
            for place, row in rows(file, (*_KEY, "face", "status", *LABELS), 10_000):
                row["where"] = where = f"{file}: row {place + 1}"
                key, face, status = self._key(where, row), row["face"], row["status"]
                if type(face) is not int or face < 0:
                    raise _bad("SOURCE_VALUE", where, f"face {face!r}", "a number from 0")
                if status not in STATUSES:
                    raise _bad("SOURCE_VALUE", where, f"status {status!r}", f"one of {', '.join(STATUSES)}")
                for column, vocabulary in LABELS.items():
                    if row[column] is not None and row[column] not in vocabulary:
                        expected = f"one of {', '.join(vocabulary)}, or null"
                        raise _bad("SOURCE_VALUE", where, f"{column} {row[column]!r}", expected)
                labels = [row[column] or "" for column in LABELS]
                if any(labels) != (status == "ok"):
                    expected = "at least one label with status ok, none with another status"
                    raise _bad("SOURCE_VALUE", where, f"status {status} with the labels {labels}", expected)
                if faces.setdefault(key, {}).setdefault(face, row) is not row:
                    what = f"{row['id']}, sample {row['sample']}, face {face} again"
                    raise _bad("SOURCE_VALUE", where, what, "every face once")
        for of_image in faces.values():
            if 0 not in of_image:
                row = of_image[min(of_image)]
                what = f"face {row['face']} of an image without face 0"
                raise _bad("SOURCE_VALUE", row["where"], what, "faces numbered from 0")
        return faces

    def _images(self, model: PictureModel) -> dict[_Key, StoredImage]:
        """The places of a model's images in the order of its files; none is read."""
        images: dict[_Key, StoredImage] = {}
        for file in model.files("images"):
            for place, row in rows(file, (*_KEY, "sha256"), 10_000, struct="image"):
                where = f"{file}: row {place + 1}"
                key, digest = self._key(where, row), row["sha256"]
                if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
                    raise _bad("SOURCE_VALUE", where, f"sha256 {digest!r}", "64 hexadecimal digits in lower case")
                if key in images:
                    what = f"{row['id']}, sample {row['sample']} again"
                    raise _bad("SOURCE_VALUE", where, what, "every image once")
                images[key] = StoredImage(file, place, digest)
        return images

    def _join(
        self, model: int, faces: Mapping[_Key, Mapping[int, Mapping[str, Any]]], images: Mapping[_Key, StoredImage]
    ) -> None:
        for task, item, sample in sorted(images.keys() - faces.keys()):
            image = images[task, item, sample]
            what = f"an image of {self.ids[task][item]}, sample {sample}, without annotation"
            expected = "a row in annotations*.parquet for each image"
            raise _bad("SOURCE_VALUE", f"{image.file}: row {image.row + 1}", what, expected)
        pictured = {task for task, _, _ in images}
        for task, item, sample in (*images, *sorted(faces.keys() - images.keys())):
            of_image, stored = faces[task, item, sample], images.get((task, item, sample))
            row = of_image[0]
            if stored is None and task in pictured and row["status"] not in IMAGELESS:
                what, expected = f"no image of {row['id']}, sample {sample}", "an image for each annotation of the task"
                raise _bad("SOURCE_IMAGE", row["where"], what, expected)
            gender, age, tone = (row[column] or "" for column in LABELS)
            count = sum(face["status"] == "ok" for face in of_image.values())
            self._made[task].append(ModelImage(model, item, sample, row["status"], gender, age, tone, count, stored))


class ImageReader:
    """Reads stored images one after another; going back in a file opens it again."""

    def __init__(self) -> None:
        self._file: Path | None = None
        self._rows: Iterator[tuple[int, dict[str, Any]]] = iter(())
        self._next = 0

    def read(self, stored: StoredImage) -> tuple[bytes, str]:
        """Bytes and file suffix. BuildError SOURCE_IMAGE if they are missing, no image, or have another hash."""
        from PIL import Image

        from fairspace.ares.reading_ares import quiet

        if stored.file != self._file or stored.row < self._next:
            self._file, self._rows = stored.file, rows(stored.file, ("image",), _BATCH)
        row: dict[str, Any] = next(row for place, row in self._rows if place == stored.row)
        self._next = stored.row + 1
        data, where = (row["image"] or {}).get("bytes"), f"{stored.file}: row {stored.row + 1}"
        if not data:
            raise _bad("SOURCE_IMAGE", where, "no image bytes", "the image itself; a path alone is not followed")
        digest = hashlib.sha256(data).hexdigest()
        if digest != stored.sha256:
            expected = f"sha256 {stored.sha256}, as the row says"
            raise _bad("SOURCE_IMAGE", where, f"bytes with sha256 {digest}", expected)
        try:
            with quiet(), Image.open(BytesIO(data)) as image:
                return data, _SUFFIXES[image.format or ""]
        except KeyError as error:
            what = f"an image in the format {error}"
            raise _bad("SOURCE_IMAGE", where, what, "a JPEG, PNG or WebP image") from error
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            what = f"no image that can be read ({error})"
            raise _bad("SOURCE_IMAGE", where, what, "a JPEG, PNG or WebP image") from error


def _models(job: BuildJob, folder: Path) -> list[PictureModel]:
    """The submissions to IRIS in the source's folder, by name."""
    models, seen = [], dict[tuple[str, ...], Path]()
    for file in sorted(folder.glob("*/submission.json")):
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            what = f"no JSON ({error.msg})"
            raise _bad("SOURCE_LAYOUT", f"{file}:{error.lineno}", what, "a submission.json") from error
        except UnicodeDecodeError as error:
            raise _bad("SOURCE_LAYOUT", str(file), f"no UTF-8 ({error.reason})", "a submission.json") from error
        for name in _TEXTS:
            if not isinstance(data, dict) or not isinstance(data.get(name), str) or not data[name].strip():
                raise _bad("SOURCE_LAYOUT", str(file), f"no text {name!r}", f"the texts {', '.join(_TEXTS)}")
        if not re.fullmatch(r"[\w.-]+", file.parent.name, re.ASCII):
            what = f"the folder name {file.parent.name!r}"
            expected = "letters, digits, '.', '_' and '-'; ids are made of it"
            raise _bad("SOURCE_LAYOUT", str(file.parent), what, expected)
        labels = data.get("labels") if isinstance(data.get("labels"), dict) else {}
        labeller = " ".join(str(labels[key]) for key in ("name", "version") if key in labels)
        name, revision, benchmark = data["model"], data["revision"], data["benchmark"]
        other = seen.setdefault((benchmark, name, revision), file.parent)
        if other != file.parent:
            what = f"{name} at revision {revision}, as in {other}"
            raise _bad("SOURCE_VALUE", str(file), what, "every model once", "remove one of the folders")
        if benchmark != "iris":
            job.note(f"The images of {name} in {file.parent.name} are for {benchmark}, not for IRIS; left out.")
            continue
        if data["dataset_revision"] not in iris_gen_52.REVISIONS:
            what = f"dataset_revision {data['dataset_revision']!r}"
            expected = f"one of {', '.join(iris_gen_52.REVISIONS)}, whose items this version knows"
            raise _bad("SOURCE_VALUE", str(file), what, expected)
        models.append(PictureModel(file.parent, name, revision, data["licence"], labeller))
    return models


def rows(file: Path, columns: Sequence[str], batch: int, struct: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """Row numbers from 0 and rows; pages are read when needed. `struct` names a column that must be one with bytes.

    BuildError SOURCE_LAYOUT for a bad file or an absent column.
    """
    try:
        with pq.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False) as parquet:
            schema = parquet.schema_arrow
            if missing := [column for column in (*columns, *filter(None, [struct])) if column not in schema.names]:
                expected = f"the columns {', '.join(columns)}"
                raise _bad("SOURCE_LAYOUT", str(file), f"no column {', '.join(missing)}", expected)
            kind = schema.field(struct).type if struct else pa.struct([("bytes", pa.binary())])
            if not pa.types.is_struct(kind) or kind.get_field_index("bytes") < 0:
                expected = f"a column {struct}: struct<bytes: binary, path: string>"
                raise _bad("SOURCE_LAYOUT", str(file), f"a column {struct} of type {kind}", expected)
            place = 0
            for part in parquet.iter_batches(batch, columns=list(columns)):
                for row in part.to_pylist():
                    yield place, row
                    place += 1
    except (pa.ArrowException, OSError) as error:
        what = f"no readable Parquet ({error})"
        raise _bad("SOURCE_LAYOUT", str(file), what, "an undamaged Parquet file") from error


def _bad(code: str, where: str, what: str, expected: str, mend: str = "") -> BuildError:
    return BuildError(code, where, what, expected, mend or _MENDS[code])
