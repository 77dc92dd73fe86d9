"""The published files of a trained ARES: weights, JSON, and the code that loads them.

| file | content |
|---|---|
| `config.json`, `*.safetensors`, `escalation_*.json`, `preprocessor_config.json` | the model |
| `*_ares.py` | its code, from this software and never from the model's folder |
| `measurement.json` | its measured error; without it nothing is published |
| `calibration.json`, `training.json`, `metrics.jsonl` | records of training and calibration |
| `README.md` | the card |
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairspace.ares.evaluating import DRAWN_FACES, SAMPLE
from fairspace.ares.evaluating.measurement import DECIDING, FILE, read_measurement
from fairspace.builders.errors import BuildError

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
        if (found := _read(folder / name).get(key)) not in allowed:
            what, expected = f"{key} {found}", str(allowed[0])
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
