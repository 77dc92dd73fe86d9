"""Annotate images with ARES or a package: a labeller opened once, and folders or Parquet made into annotations.

    annotations-00000-of-0000N.parquet   a submission's table; its metadata name the model's revision and measurement
    routes/routes-00000-of-0000N.parquet   the same rows with routes, regressed values, probabilities, notes on reading
    annotation.json                      labeller, source and counts; written last
    .annotate/                           finished files of unfinished work; gone when it is done
Every image has its faces, one row each, or one row with the reason why there is none. Killed work resumes at the first
file that is not entered in `.annotate/`, with the same bytes for any batch size, number of threads, and of parts, which
take whole files (`builders.part`) and are joined by `files.join`. Other processors differ at thresholds and by single
rounding steps (`rounding_ares`).
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from fairspace.ares.annotating import files
from fairspace.ares.annotating.files import MISSING, Counts
from fairspace.ares.annotating.labellers import ARES, Package, SeenFace, package
from fairspace.ares.annotating.source import ImageEntry, ImageSource, contents, fetched, list_images, open_source
from fairspace.builders.engine.output import claim, in_use
from fairspace.builders.errors import BuildError
from fairspace.builders.models.weights import best_device
from fairspace.builders.part import in_part

if TYPE_CHECKING:
    from fairspace.ares.classifying_ares import ClassifiedInput
    from fairspace.ares.faces_ares import FaceDetector

LABELS = ("gender", "age", "skin_tone", "race")
"""Attributes with columns in the format; others stand in the routes alone."""
_QUALITIES = ("image_quality", "face_quality", "prompt_similarity", "reference_similarity")
_TEXT, _NUMBER, _REAL = pa.string(), pa.int32(), pa.float64()
_KEY = [
    pa.field(name, _TEXT if name in ("task", "id") else _NUMBER, False) for name in ("task", "id", "sample", "face")
]
ANNOTATIONS = pa.schema(
    [
        *_KEY,
        pa.field("status", _TEXT, nullable=False),
        *(pa.field(name, _TEXT) for name in LABELS),
        *(pa.field(name, _REAL) for name in _QUALITIES),
        pa.field("faces", _NUMBER),
    ]
)
"""The submission format's table; a test compares it with `fairspace.submissions.format.schema.ANNOTATIONS`."""


def route_schema(config: Any) -> pa.Schema:
    """The columns of the routes, for the tasks of an `AresConfig`.

    Per image: what reading it said. Per face: `route/<task>`; `value/<task>` where a regression decides; and per
    attribute `label/<attribute>` and the probabilities `probability/<attribute>/<label>`.
    """
    fields = [*_KEY, pa.field("faces", _NUMBER)]
    fields += [pa.field(name, _TEXT) for name in ("status", "reason", "detail", "notes", "format")]
    fields += [pa.field("width", _NUMBER), pa.field("height", _NUMBER)]
    for task in config.tasks:
        fields.append(pa.field(f"route/{task['name']}", _TEXT))
        if task["arbiter"] == "fusion":
            fields.append(pa.field(f"value/{task['name']}", _REAL))
    for attribute, labels in config.attributes.items():
        fields.append(pa.field(f"label/{attribute}", _TEXT))
        fields += [pa.field(f"probability/{attribute}/{label}", _REAL) for label in labels]
    return pa.schema(fields)


def tables(
    entries: Sequence[ImageEntry], answered: Iterable[ClassifiedInput], routes: pa.Schema
) -> tuple[pa.Table, pa.Table, Counts]:
    """Annotations, routes (by `route_schema`) and counts of some inputs, from their answers in the same order.

    BuildError BUILD_CHECK if an input has no answer or several, or rows and faces do not agree.
    """
    faces = 0
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("status", "reasons", "notes")}
    nested: dict[str, dict[str, Counter[str]]] = {"routes": {}, "labels": {}}
    rows: list[dict[str, Any]] = []
    routed: list[dict[str, Any]] = []
    for entry, image in zip(entries, answered, strict=True):
        labelled = [answer for answer in image.answers if answer.labels]
        numbers = [answer.face for answer in image.answers]
        if len(image.answers) not in (max(1, len(labelled)), 0) or numbers != list(range(len(numbers))):
            what = f"{len(labelled)} faces, and the rows {numbers}"
            raise BuildError("BUILD_CHECK", entry.where, what, "one row per face, or one that says why", "report this")
        faces += len(labelled)
        counts["notes"].update(image.fate.notes)
        if not labelled:
            counts["reasons"][image.answers[0].reason if image.answers else MISSING] += 1
        for answer in image.answers:
            name = {"task": entry.task, "id": entry.id, "sample": entry.sample, "face": answer.face}
            labels = {key: answer.labels.get(key) or None for key in LABELS}
            status = "abstained" if answer.status == "ok" and not any(labels.values()) else answer.status
            rows.append({**name, "status": status, **labels, "faces": len(labelled)})
            routed.append({**name, "faces": len(labelled), **_routed(image, answer)})
            counts["status"][status] += 1
            for kind, values in (("routes", answer.routes), ("labels", answer.labels)):
                for key, value in values.items():
                    nested[kind].setdefault(key, Counter())[value] += 1
    total: Counts = {"images": len(entries), "rows": len(rows), "faces": faces}
    total |= {key: dict(sorted(counter.items())) for key, counter in counts.items()}
    for kind, by in nested.items():
        total[kind] = {key: dict(sorted(counter.items())) for key, counter in sorted(by.items())}
    return _table(rows, ANNOTATIONS), _table(routed, routes), total


def _routed(image: ClassifiedInput, answer: Any) -> dict[str, Any]:
    fate = image.fate
    chances = {
        f"probability/{attribute}/{label}": chance
        for attribute, labels in answer.probabilities.items()
        for label, chance in labels.items()
    }
    return {
        "status": answer.status,
        "reason": answer.reason or None,
        "detail": fate.detail or None,
        "notes": " ".join(fate.notes) or None,
        "format": fate.format or None,
        "width": fate.width or None,
        "height": fate.height or None,
        **{f"route/{task}": route for task, route in answer.routes.items()},
        **{f"value/{task}": value for task, value in answer.values.items()},
        **{f"label/{attribute}": label or None for attribute, label in answer.labels.items()},
        **chances,
    }


def _table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    columns = [pa.array([row.get(column.name) for row in rows], column.type) for column in schema]
    return pa.Table.from_arrays(columns, schema=schema)


_SOFTWARE: tuple[str, ...] = ("torch", "transformers", "pillow", "numpy", "xgboost-cpu", "xgboost")


class Labeller(NamedTuple):
    """A labeller of images.

    `folder` is unread for a package; `named` has `name`, `revision`, `sha256` and the `measurement`'s sha256 or '';
    `software` are packages whose versions can change an answer; `error` is a submission's `label_error`, None if
    unmeasured.
    """

    folder: Path
    named: dict[str, str]
    software: tuple[str, ...]
    error: dict[str, Any] | None


def find_labeller(labeller: str | Package, model: Path | str = "", measurement: Path | None = None) -> Labeller:
    """The folder of an ARES, or a package, with its identity. Arguments as in `annotate`.

    BuildError CONFIG_INVALID if the arguments do not go together; TOOL_MISSING, BUILD_INCOMPLETE, MEASUREMENT_INVALID.
    """
    from fairspace.ares.evaluating.measurement import (
        FILE,
        error_of_labels,
        model_sha256,
        read_document,
        read_measurement,
    )

    if labeller == ARES:
        if not str(model) or measurement is not None:
            what = "no model" if not str(model) else "a measurement"
            expected = "a model, whose folder holds its measurement"
            raise BuildError("CONFIG_INVALID", "--labeller ares", what, expected, "name MODEL alone")
        folder, software = Path(model), _SOFTWARE
        if not folder.is_dir():
            mend = "name a folder, or a repository as NAMESPACE/NAME@REVISION"
            expected, patterns = "a folder or a repository with ARES", ["*.json", "*.safetensors"]
            folder = fetched(str(model), "model", patterns, "TOOL_MISSING", expected, mend)
        sha256, real = model_sha256(folder), folder.resolve()
        name, revision = real.name, f"sha256:{sha256}"
        if real.parent.name == "snapshots" and real.parent.parent.name.startswith("models--"):
            name, revision = real.parent.parent.name.removeprefix("models--").replace("--", "/"), real.name
        measured = read_measurement(folder) if (folder / FILE).is_file() else None
    else:
        source = package(labeller)
        if str(model):
            what, mend = f"the model {model}", "leave out the model, or label with ares"
            raise BuildError("CONFIG_INVALID", f"--labeller {source.name}", what, "no model", mend)
        source.check()
        folder, software = Path(), source.software
        name, revision, sha256 = source.name, source.version, source.sha256
        measured = read_document(measurement, sha256) if measurement is not None else None
    facts = {"name": name, "revision": revision, "sha256": sha256, "measurement": measured.sha256 if measured else ""}
    return Labeller(folder, facts, software, error_of_labels(measured, name) if measured else None)


def versions(software: Sequence[str]) -> dict[str, str]:
    """Package -> version, for installed packages."""
    installed = {}
    for name in software:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed


_STEP = 32
"""Images between two reports of progress."""
_PROCESSOR = ("image_size", "max_bytes", "max_pixels", "min_side", "detail")


class Session(NamedTuple):
    """An opened labeller.

    `routes`: schema of its routes; `about`: settings that decide the answers, beside images and files; `answered`:
    images as from `source.contents` -> their answers, in order; `trained_on`: non-faces that its gate was trained on.
    """

    routes: pa.Schema
    about: dict[str, Any]
    answered: Callable[[Iterable[Any]], Iterator[ClassifiedInput]]
    trained_on: Sequence[str] = ()

    def answer(
        self, entries: Sequence[ImageEntry], images: Iterable[Any], step: Callable[[int], None]
    ) -> tuple[pa.Table, pa.Table, Counts]:
        """Annotations, routes and counts of some inputs, with one image each, in order.

        `step` is called with numbers of finished images.
        """
        return tables(entries, _reported(self.answered(images), step), self.routes)


def open_session(
    labeller: str | Package,
    folder: Path,
    *,
    batch: int = 64,
    workers: int = 2,
    detector: FaceDetector | Mapping[str, Any] | None = None,
    device: str = "",
    ask_endpoint: bool = False,
) -> Session:
    """Open ARES in a folder, or a package. Arguments as in `annotate`.

    BuildError TOOL_MISSING without the vision-language model, the detector or the package; CONFIG_INVALID for a package
    with a detector of its own and another.
    """
    if labeller != ARES:
        return _open_package(package(labeller), detector, batch)
    from fairspace.ares.asking_ares import ArbiterError
    from fairspace.ares.classifying_ares import answered
    from fairspace.ares.evaluating.evaluate import open_arbiter, open_model
    from fairspace.ares.faces_ares import FaceError, open_faces
    from fairspace.ares.image_processing_ares import AresImageProcessor

    model = open_model(folder).to(best_device(device))
    try:
        faces = open_faces(detector) if isinstance(detector, Mapping) else detector
        open_arbiter(model, ask_endpoint)
    except (ArbiterError, FaceError) as error:
        raise BuildError("TOOL_MISSING", str(folder), str(error), "a model", "see the message") from error
    stored = (folder / "preprocessor_config.json").is_file()
    processor = AresImageProcessor.from_pretrained(folder) if stored else AresImageProcessor(model.config.image_size)
    about = {
        "ablation": model.config.ablation,
        "arbiter": model.arbiter.name if model.arbiter is not None else "",
        "detector": faces.name if faces is not None else "",
        "precision": "float32",
        "processor": {name: getattr(processor, name) for name in _PROCESSOR},
    }
    label = partial(answered, model, processor, detector=faces, batch=batch, workers=workers)
    return Session(route_schema(model.config), about, label, model.config.gate.get("trained_on", ()))


def _open_package(source: Package, detector: FaceDetector | Mapping[str, Any] | None, batch: int) -> Session:
    from fairspace.ares.classifying_ares import ClassifiedInput
    from fairspace.ares.deciding_ares import Answer
    from fairspace.ares.faces_ares import FaceError, face_crops, open_faces
    from fairspace.ares.image_processing_ares import AresImageProcessor
    from fairspace.ares.reading_ares import quiet

    if detector is not None and source.finds_faces:
        mend = "leave it out: the package brings its own"
        raise BuildError("CONFIG_INVALID", f"--labeller {source.name}", "a face detector", "none", mend)
    try:
        finder = open_faces(detector) if isinstance(detector, Mapping) else detector
    except FaceError as error:
        raise BuildError("TOOL_MISSING", source.name, str(error), "a detector", "see the message") from error
    adapter, processor = source.open(), AresImageProcessor()

    def seen(images: list[Any]) -> Sequence[list[SeenFace] | None]:
        """The faces of each image; with a detector, in each of the parts that it found."""
        if finder is None or not images:
            faces: Sequence[list[SeenFace] | None] = adapter.label(images)
            return faces
        crops = [face_crops(image, boxes) for image, boxes in zip(images, finder.detect(images), strict=True)]
        of_crops = iter(adapter.label([crop for of_image in crops for crop in of_image]))
        return [[face for _ in of_image for face in next(of_crops)] for of_image in crops]

    def answered(images: Iterable[Any]) -> Iterator[ClassifiedInput]:
        """The answers for each image, the largest face first."""
        stream = iter(images)
        with quiet():
            while raw := list(islice(stream, batch)):
                group = [processor.prepare(each, square=False, keep=True) for each in raw]
                shown = [_sha256(each) for each in raw] if source.by_hash else [each.image for each in group]
                readable = [each for each, prepared in zip(shown, group, strict=True) if prepared.image is not None]
                faces_of_images = iter(seen(readable))
                for prepared in group:
                    if prepared.image is None:
                        yield ClassifiedInput(
                            prepared.fate, [Answer(prepared.fate.status, prepared.fate.reason, faces=0)]
                        )
                        continue
                    if (seen_faces := next(faces_of_images)) is None:
                        yield ClassifiedInput(prepared.fate)
                        continue
                    faces = sorted(seen_faces, key=lambda face: (-face.area, face.box))
                    answers = [
                        Answer(
                            "ok",
                            "",
                            face.labels,
                            face.probabilities,
                            dict.fromkeys(face.labels, source.name),
                            face=number,
                            faces=len(faces),
                        )
                        for number, face in enumerate(faces)
                    ]
                    yield ClassifiedInput(prepared.fate, answers or [Answer("no_face", "no_face", faces=0)])

    about = {
        "labeller": f"{source.name} {source.version}",
        **({"licence": source.licence} if source.licence else {}),
        **({"detector": finder.name} if finder is not None else {}),
        "processor": {name: getattr(processor, name) for name in _PROCESSOR[1:]},
    }
    tasks = [{"name": name, "arbiter": ""} for name in source.attributes]
    return Session(route_schema(SimpleNamespace(tasks=tasks, attributes=source.attributes)), about, answered)


def _sha256(image: Any) -> str:
    """The hash of an image's bytes, from `source.contents`."""
    data = Path(image).read_bytes() if isinstance(image, str | Path) else image["bytes"] if image else b""
    return hashlib.sha256(data).hexdigest()


def _reported(results: Iterator[ClassifiedInput], step: Callable[[int], None]) -> Iterator[ClassifiedInput]:
    done = 0
    for each in results:
        yield each
        done += 1
        if done == _STEP:
            step(done)
            done = 0
    step(done)


Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class AnnotationWork:
    """Opened work: a labeller that stays open, the images, and where their annotations go.

    `request` is all that decides the bytes of the output, `marks` what each file's entry says beside (`files.write`).
    """

    out: Path
    request: dict[str, Any]
    marks: Mapping[str, str]
    source: ImageSource
    entries: Sequence[ImageEntry]
    session: Session

    def label(
        self,
        places: Sequence[int],
        part: str = "",
        progress: Progress = lambda what, done, total: None,
    ) -> int:
        """Write the files with these numbers, but for those that are finished; the number of images in the new ones.

        `part`: the mark of the part that they belong to; `progress`: as of `annotate`.
        """
        if (self.out / files.FILE).is_file():
            return 0
        names, size = files.entry_names(self.request), files.images_of_file(self.request)
        pending = [place for place in places if not files.is_done(self.out, names[place])]
        images = {place: self.entries[place * size : (place + 1) * size] for place in places}
        total = sum(map(len, images.values()))
        began, done, before = time.monotonic(), 0, total - sum(len(images[place]) for place in pending)

        def step(more: int) -> None:
            nonlocal done
            done += more
            speed = done / max(time.monotonic() - began, 1e-9)
            progress(f"Annotating, {speed:.1f} images/s", before + done, total)

        for place in pending:
            answers = self.session.answer(images[place], contents(self.source, images[place]), step)
            files.write(self.out, names[place], *answers, self.request["model"], {**self.marks, "part": part})
        return done


def open_work(
    model: Path | str,
    images: Path | str,
    out: Path,
    *,
    batch: int = 64,
    workers: int = 2,
    task: str = "",
    names: str = "items",
    detector: FaceDetector | Mapping[str, Any] | None = None,
    device: str = "",
    ask_endpoint: bool = False,
    labeller: str | Package = ARES,
    measurement: Path | None = None,
    rename: Callable[[ImageEntry], ImageEntry] = lambda entry: entry,
    submission: str = "",
    shard: int = files.SHARD,
    progress: Progress = lambda what, done, total: None,
) -> AnnotationWork:
    """Open a labeller and list the images for it, and claim `out`. Arguments and errors as of `annotate`."""
    if out.is_file():
        raise in_use(out, "it is a file")
    source = open_source(images, task, names)
    by = find_labeller(labeller, model, measurement)
    options: dict[str, Any] = {"detector": detector, "device": device, "ask_endpoint": ask_endpoint}
    session = open_session(labeller, by.folder, batch=batch, workers=workers, **options)
    progress("Listing images", 0, 0)
    entries, sha256 = list_images(source, rename)
    where = {"kind": source.kind, "task": source.task, "names": source.names, "sha256": sha256}
    if source.name:
        where |= {"name": source.name, "revision": source.revision}
    request: dict[str, Any] = {
        "model": dict(by.named),
        "settings": session.about,
        "source": where,
        "images": len(entries),
        "shard": shard,
        "versions": versions(by.software),
    }
    if by.error is not None:
        request["label_error"] = by.error
    if (out / files.FILE).is_file():
        files.finished(out, request)
    else:
        claim(out, out / files.WORK / files.ASKED, request)
    marks = {"told": getattr(labeller, "told", ""), "submission": submission}
    return AnnotationWork(out, request, marks, source, entries, session)


@dataclass(frozen=True)
class AnnotationReport:
    """The outcome of `annotate`, `images` and `seconds` of this call alone; `data`: `annotation.json`, {} of a part."""

    out: Path
    data: Mapping[str, Any]
    images: int
    seconds: float

    @property
    def images_per_second(self) -> float | None:
        """Speed of this call; None if nothing was left to do."""
        return self.images / self.seconds if self.images else None

    @property
    def files(self) -> list[Path]:
        """The annotations."""
        return [self.out / shard["annotations"]["file"] for shard in self.data["shards"]]


def annotate(
    model: Path | str,
    images: Path | str,
    out: Path,
    *,
    part: str = "",
    progress: Progress = lambda what, done, total: None,
    **options: Any,
) -> AnnotationReport:
    """Annotate images, or resume an earlier call with the same arguments; `batch` and `workers` change speed alone.

    `model` is a folder, or a repository on the Hub with `@<revision>` at its end; '' for another `labeller` than ARES:
    the name of a package (`labellers`), or what `running.zero_shot` opened. `measurement` is the output of `fairspace
    ares evaluate` for a package; its error then goes with the labels. `images` is a source (`open_source`) of the
    `task` and with the `names` given there, `out` new or empty, or with this work. `detector` is one of faces, or its
    settings (`faces_ares.open_faces`). `ask_endpoint`: images may be sent to the endpoint that the model names.
    `shard` images are a file; a `part` I/N writes the files I, I + N and so on, and leaves the end to `files.join`, or
    to a call without a part. `submission` is the benchmark of which a join makes the folder a submission.
    `progress` is called with a text on work and speed, the number done, and the total.

    Errors: BuildError: SOURCE_MISSING, SOURCE_LAYOUT, SOURCE_VALUE for the images; OUT_IN_USE for other work in `out`;
    TOOL_MISSING for models and packages; as `find_labeller`.
    """
    return annotated(open_work(model, images, out, progress=progress, **options), part, progress)


def annotated(
    work: AnnotationWork, part: str = "", progress: Progress = lambda what, done, total: None
) -> AnnotationReport:
    """The outcome of opened work, or of one part of it. Arguments and errors as of `annotate`."""
    began = time.monotonic()
    done = work.label(in_part(range(len(files.entry_names(work.request))), part), part, progress)
    unfinished = part and not (work.out / files.FILE).is_file()
    data = {} if unfinished else files.finish(work.out, work.request)
    return AnnotationReport(work.out, data, done, time.monotonic() - began)
