"""The error of the measurement instrument (`measurement.json`), and the published files of a trained ARES.

Confusion matrices with counts per attribute, over all test images and per group, so that scores can be corrected for
the classifier's errors. It names the images and the exact weights.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from fairspace.ares.evaluating import DRAWN_FACES, SAMPLE
from fairspace.builders.errors import BuildError

if TYPE_CHECKING:
    from fairspace.ares.evaluating.measure import AnswerConfusion, AttributeMeasurement

FILE = "measurement.json"
DECIDING = re.compile(r"config\.json|preprocessor_config\.json|escalation_\w+\.json|.*\.safetensors(\.index\.json)?")
"""Files of a model's folder that decide its answers."""
Hash = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AnswerCounts(_Strict):
    """Answers to images: (k, k) `matrix`, row = true label, column = answer; (k,) `abstained` per true label."""

    matrix: list[list[Count]]
    abstained: list[Count]


class MeasuredError(_Strict):
    """The measured error in one attribute; `labels` are of rows and columns, `groups` by group and its label."""

    labels: list[str] = Field(min_length=2)
    overall: AnswerCounts
    groups: dict[str, dict[str, AnswerCounts]]
    calibration_error: Annotated[float, Field(ge=0, le=1)] | None

    @model_validator(mode="after")
    def _shaped(self) -> MeasuredError:
        k = len(self.labels)
        parts = [self.overall, *(part for group in self.groups.values() for part in group.values())]
        if any(len(p.matrix) != k or {len(row) for row in p.matrix} != {k} or len(p.abstained) != k for p in parts):
            raise ValueError(f"a matrix of {', '.join(self.labels)} is {k} by {k}")
        for name, group in self.groups.items():
            if any(
                sum(part.matrix[i][j] for part in group.values()) > self.overall.matrix[i][j]
                for i in range(k)
                for j in range(k)
            ):
                raise ValueError(f"the groups of {name} hold more images than there are")
        return self


class MeasuredGate(_Strict):
    """Outcomes of the gate (`ok`, or the reason for no label -> images) for faces, and for kinds of drawn non-faces.

    `held_out`: kinds that the gate was not trained on.
    """

    faces: dict[str, Count]
    kinds: dict[str, dict[str, Count]] = Field(min_length=1)
    held_out: list[str]


class TestImages(_Strict):
    """The test images; `images` per task."""

    name: str
    revision: str
    sha256: Hash
    images: dict[str, Count]


class Instrument(_Strict):
    """The labeller: folder, hash of the files that decide its answers, and the model that it escalates to."""

    name: str
    sha256: Hash
    arbiter: str


class Measurement(_Strict):
    """`measurement.json`."""

    format: Literal[1]
    date: str
    model: Instrument
    data: TestImages
    attributes: dict[str, MeasuredError] = Field(min_length=1)
    gate: MeasuredGate | None = None

    @model_validator(mode="after")
    def _dated(self) -> Measurement:
        datetime.date.fromisoformat(self.date)
        return self

    @property
    def sha256(self) -> str:
        """Hash of its content."""
        unmeasured = {"gate"} if self.gate is None else set()
        text = json.dumps(self.model_dump(mode="json", exclude=unmeasured), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def model_sha256(folder: Path) -> str:
    """The hash of names and contents of the `DECIDING` files in a model's folder."""
    total = hashlib.sha256()
    for file in sorted(file for file in folder.iterdir() if DECIDING.fullmatch(file.name)):
        with file.open("rb") as stream:
            total.update(f"{hashlib.file_digest(stream, 'sha256').hexdigest()}  {file.name}\n".encode())
    return total.hexdigest()


def write_document(
    file: Path,
    instrument: Mapping[str, str],
    images: Mapping[str, Any],
    attributes: Mapping[str, AttributeMeasurement],
    date: str,
    gate: MeasuredGate | None = None,
) -> Measurement:
    """Write `measurement.json` with the fields of `Instrument` and `TestImages`; `date`: YYYY-MM-DD.

    BuildError MEASUREMENT_INVALID if the date is none, or nothing was measured.
    """
    from fairspace.builders.engine.build import write_atomically

    data: dict[str, Any] = {
        "format": 1,
        "date": date,
        "model": dict(instrument),
        "data": dict(images),
        "attributes": {
            name: {
                "labels": list(measured.labels),
                "overall": _counts(measured.overall),
                "groups": {
                    group: {label: _counts(part) for label, part in parts.items()}
                    for group, parts in measured.groups.items()
                },
                "calibration_error": measured.calibration.error,
            }
            for name, measured in attributes.items()
        },
    }
    if gate is not None:
        data["gate"] = gate.model_dump()
    measurement = _validated(data, file)
    write_atomically(file, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    return measurement


def read_measurement(model: Path) -> Measurement:
    """The measurement in a model's folder.

    BuildError MEASUREMENT_INVALID if it is missing, breaks its schema, or is of other weights than those beside it.
    """
    file = model / FILE
    validated = read_document(file, model_sha256(model))
    fields = {
        name: list(dict.fromkeys(labels))
        for task in json.loads((model / "config.json").read_text(encoding="utf-8"))["tasks"]
        for name, labels in task["attributes"].items()
    }
    if fields != {name: attribute.labels for name, attribute in validated.attributes.items()}:
        expected = f"the labels of {', '.join(fields)}, as in config.json"
        raise _invalid(file, f"attributes {', '.join(validated.attributes)}", expected, "evaluate this model")
    return validated


def read_document(file: Path, sha256: str) -> Measurement:
    """The measurement in a file, of the labeller with this hash.

    BuildError MEASUREMENT_INVALID if it is missing, breaks its schema, or is of something else.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        what = "it is missing" if isinstance(error, FileNotFoundError) else f"no JSON: {error}"
        mend = "run `fairspace ares evaluate`"
        raise _invalid(file, what, "the measured error of what labels", mend) from error
    validated = _validated(data, file)
    if sha256 != validated.model.sha256:
        what = f"the measurement of {validated.model.sha256[:16]}"
        raise _invalid(file, what, f"that of {sha256[:16]}, which is to label", "measure this one")
    return validated


def error_of_labels(measurement: Measurement, name: str) -> dict[str, Any]:
    """The error of a labeller's labels as a submission's `label_error`."""
    images = sum(measurement.data.images.values())
    source = f"{name}: {images} images of {measurement.data.name}, {measurement.date}, {measurement.sha256[:16]}"
    attributes = {
        attribute: {"labels": measured.labels, "counts": measured.overall.matrix}
        for attribute, measured in measurement.attributes.items()
    }
    return {"source": source[:200].strip(), "attributes": attributes}


def _counts(part: AnswerConfusion) -> Mapping[str, Any]:
    return {"matrix": part.matrix, "abstained": part.abstained}


def _validated(data: Any, file: Path) -> Measurement:
    try:
        return Measurement.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise _invalid(
            file, f"{key}: {first['msg']}", "the fields of ares/evaluating/measurement.py", "evaluate again"
        ) from error


def _invalid(file: Path, what: str, expected: str, mend: str) -> BuildError:
    return BuildError("MEASUREMENT_INVALID", str(file), what, expected, mend)


# Published files: the code (`*_ares.py`) comes from this software, never from the model's folder; without
# `measurement.json` nothing is published.

CODE = Path(__file__).parents[1]
NEEDED = ("config.json", "preprocessor_config.json", "calibration.json")
RECORDS = (FILE, "calibration.json", "training.json", "metrics.jsonl")
_OURS = re.compile(r"[a-z_]+_ares\.py")
_REPLACED = ("README.md",)
_HIDDEN = (".cache", ".gitattributes", ".DS_Store", "__pycache__")


def release_files(folder: Path) -> dict[str, Path]:
    """Path in the repository -> file, of a trained model's folder; all but the card.

    BuildError BUILD_INCOMPLETE, MEASUREMENT_INVALID without a measurement, MODEL_UNSAFE for other files.
    """
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if missing or not list(folder.glob("*.safetensors")):
        what = f"no {', '.join(missing) or 'weights in safetensors'}"
        mend = "train it with `fairspace ares train`, or name its folder with --ares"
        raise BuildError("BUILD_INCOMPLETE", str(folder), what, "a trained ARES", mend)
    files = dict(_own(folder))
    _check_config(folder)
    read_measurement(folder)
    return files | {file.name: file for file in code_files()}


def check_trained(folder: Path, tag: str) -> None:
    """BuildError TAG_OF_SAMPLE if a part of a model was trained on a sample, or its training does not say."""
    file = folder / "training.json"
    report = _read(file) if file.is_file() else {}
    for training in (report, *report.get("added", ())):
        if training.get("sample") is not False:
            what = f"a model that was trained on {training.get('data', 'data that nothing tells')}"
            expected = "one whose training.json says that no part of it was trained on a sample"
            mend = "train it on a full build of iris_classifier_25 with this version, or publish it as --tag sample-"
            mend += tag
            raise BuildError("TAG_OF_SAMPLE", f"--tag {tag}, {folder}", what, expected, mend)


def check_measured(folder: Path, tag: str) -> None:
    """BuildError TAG_OF_SAMPLE if a model's error was measured on drawings."""
    data = read_measurement(folder).data
    if data.name == DRAWN_FACES or data.revision.endswith(SAMPLE):
        what = f"an error measured on {data.name} {data.revision}"
        expected = "one measured on the test splits of a full build of iris_classifier_25"
        mend = f"`fairspace ares evaluate` it there with --write-measurement, or publish it as --tag sample-{tag}"
        raise BuildError("TAG_OF_SAMPLE", f"--tag {tag}, {folder}", what, expected, mend)


def code_files() -> list[Path]:
    """The modules that `trust_remote_code` loads."""
    return sorted(file for file in CODE.iterdir() if _OURS.fullmatch(file.name))


def _own(folder: Path) -> Iterator[tuple[str, Path]]:
    """The model's own files. MODEL_UNSAFE for unexpected ones."""
    for file in sorted(folder.iterdir()):
        name = file.name
        if name in _HIDDEN or name in _REPLACED or _OURS.fullmatch(name):
            continue
        if not file.is_file() or not (DECIDING.fullmatch(name) or name in RECORDS):
            expected = "safetensors and JSON alone: pickles (.bin, .pt, .pkl, .joblib) run code when they are loaded"
            raise BuildError("MODEL_UNSAFE", str(folder), name, expected, "move it out of the folder")
        if name.endswith(".json"):
            _read(file)
        yield name, file.resolve()


def _check_config(folder: Path) -> None:
    from fairspace.ares.configuration_ares import AresConfig

    ours, config, processor = AresConfig(), "config.json", "preprocessor_config.json"
    of_processor = {key: value for key, value in ours.auto_map.items() if key == "AutoImageProcessor"}
    for name, key, allowed in (
        (config, "auto_map", (ours.auto_map,)),
        (processor, "auto_map", (of_processor,)),
        (config, "custom_pipelines", (ours.custom_pipelines, None)),
    ):
        if (setting := _read(folder / name).get(key)) not in allowed:
            what, expected = f"{key} {setting}", str(allowed[0])
            raise BuildError("MODEL_UNSAFE", str(folder / name), what, expected, "save the model anew")


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        mend = "train the model again, or take its folder from where it was trained"
        raise BuildError("BUILD_INCOMPLETE", str(file), str(error), "JSON", mend) from error
    if not isinstance(content, dict):
        what, mend = type(content).__name__, "train the model again"
        raise BuildError("BUILD_INCOMPLETE", str(file), what, "a JSON object", mend)
    return content
