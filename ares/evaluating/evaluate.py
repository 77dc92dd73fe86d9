"""Measure a trained ARES: reports, confusion matrices, disparities, calibration, ablations (IRIS, B.3 and B.4).

The experts run once over all test images; every ablation (E1 to E7) is a configuration of the same model.
Written are

    evaluation.json    everything, for programs
    report.md          the tables in the shape of Tables 11 to 19, with the printed figures beside them

All of it follows from the model, the data and the seed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from fairspace.ares.classifying_ares import answered
from fairspace.ares.evaluating.ablations import NO_ARBITER, Outcome, ablations
from fairspace.ares.evaluating.data import HeldOut, HeldOutData, open_test
from fairspace.ares.evaluating.measure import Measured, measure_attribute
from fairspace.ares.evaluating.measurement import FILE, MeasuredGate, Measurement, model_sha256, write_document
from fairspace.ares.evaluating.nonfaces import measure_gate
from fairspace.ares.evaluating.routes import Remembering, observe_all, routed
from fairspace.ares.evaluating.tables import Evaluation, as_text
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.builders.engine.build import write_atomically
from fairspace.builders.errors import BuildError

EVALUATION, REPORT = "evaluation.json", "report.md"
Progress = Callable[[str, int, int], None]
_FACES = 1_000
"""Of the test set, at most so many are shown to the gate."""


def evaluate(
    model: Path,
    data: str,
    out: Path,
    *,
    batch: int = 64,
    seed: int = 0,
    device: str = "",
    ask_endpoint: bool = False,
    nonfaces: int = 20,
    progress: Progress = lambda what, done, total: None,
) -> Evaluation:
    """Measure a model and write what was found.

    Args:
        model: its folder.
        data: the folder of a built IRIS-Classifier-25 (its test splits), or `drawn:N`.
        out: a folder; what an earlier evaluation wrote there is replaced.
        batch: images at a time; changes nothing but speed.
        seed: of drawn faces.
        device: of torch; '' takes a GPU if there is one.
        ask_endpoint: whether images may be sent to the endpoint that the model names; see `open_arbiter`.
        nonfaces: drawn non-faces of each kind that a model with a gate is shown; 0 shows none.
        progress: called with what is being done, how much is done, and of how much.

    Errors: BuildError TOOL_MISSING as `open_arbiter`, TRAINING_DATA for images that cannot be used, BUILD_INCOMPLETE
    for a folder without a model.
    """
    import torch

    opened = open_model(model).to(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    open_arbiter(opened, ask_endpoint)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        tested = open_test(data, opened.config.tasks, opened.config.image_size, seed, Path(work))
        about = {"name": model.resolve().name, "sha256": model_sha256(model)}
        evaluation = measure(opened, tested, about, batch=batch, nonfaces=nonfaces, progress=progress)
    write_atomically(out / REPORT, as_text(evaluation))
    write_atomically(out / EVALUATION, json.dumps(evaluation.to_json(), indent=1, allow_nan=False) + "\n")
    return evaluation


def write_measurement(model: Path, tested: Evaluation, date: str) -> Measurement:
    """Write what an evaluation found into the folder of the model that was evaluated.

    Args:
        model: the folder.
        tested: by `evaluate`.
        date: of the measurement, YYYY-MM-DD.

    Errors: BuildError MEASUREMENT_INVALID if another model was evaluated, or the date is none.
    """
    if (now := model_sha256(model)) != tested.model["sha256"]:
        what = f"an evaluation of the model {tested.model['sha256'][:16]}"
        raise BuildError(
            "MEASUREMENT_INVALID",
            str(model / FILE),
            what,
            f"one of {now[:16]}, which lies there",
            "evaluate this model",
        )
    return write_document(model / FILE, tested.model, tested.data, tested.attributes, date, tested.gate)


def measure(
    model: AresModel,
    data: HeldOutData,
    about: Mapping[str, str],
    *,
    batch: int = 64,
    nonfaces: int = 20,
    progress: Progress = lambda what, done, total: None,
) -> Evaluation:
    """Measure an open model; `about` is its name and sha256, other arguments are as in `evaluate`."""
    first, arbiter = data.sets[0], model.arbiter
    seen = [observe_all(model, images, batch, progress) for images in data.sets]
    model.arbiter = Remembering(arbiter) if arbiter is not None else None
    try:
        attributes: dict[str, Measured] = {}
        for images, observed in zip(data.sets, seen, strict=True):
            decided = routed(model, images, observed)
            for task in model.config.tasks:
                if task["name"] in images.tasks:
                    for attribute in task["attributes"]:
                        attributes[attribute] = measure_attribute(task, attribute, images, decided[task["name"]])
        rows = ablations(model, data.sets, seen)
    finally:
        model.arbiter = arbiter
    gate = _gate(model, first, nonfaces, batch) if nonfaces and model.gate is not None else None
    counts = {task: int((s.faces.labels[task] >= 0).sum()) for s in data.sets for task in s.tasks}
    tested = {"name": data.name, "revision": data.revision, "sha256": data.sha256, "images": counts}
    named = {**about, "arbiter": arbiter.name if arbiter is not None else ""}
    return Evaluation(named, tested, attributes, rows, tuple(_notes(model, rows)), gate)


def _gate(model: AresModel, images: HeldOut, nonfaces: int, batch: int) -> MeasuredGate:
    """What the gate lets pass. An arbiter is not asked: it decides nothing about what is a face."""
    chosen = np.arange(min(len(images), _FACES))
    faces = next(images.faces.batches([chosen], 0)).permute(0, 2, 3, 1).numpy()
    label = partial(answered, model, AresImageProcessor(image_size=model.config.image_size), batch=batch)
    arbiter, model.arbiter = model.arbiter, None
    try:
        return measure_gate(label, faces, model.config.gate["trained_on"], nonfaces)
    finally:
        model.arbiter = arbiter


def open_model(folder: Path) -> AresModel:
    """The model in a folder. BuildError BUILD_INCOMPLETE if there is none."""
    if not (folder / "config.json").is_file():
        mend = "train it with `fairspace ares train`, or name the folder of a trained model"
        raise BuildError("BUILD_INCOMPLETE", str(folder), "no trained ARES", "config.json and its weights", mend)
    return AresModel.from_pretrained(folder).eval()


def open_arbiter(model: AresModel, ask_endpoint: bool) -> None:
    """Open the vision-language model that a model names, if it names one.

    Images leave this machine only if the caller says so: BuildError TOOL_MISSING for an endpoint without
    `ask_endpoint`.
    """
    endpoint = model.config.vlm.get("endpoint")
    if endpoint and not ask_endpoint:
        raise BuildError(
            "TOOL_MISSING",
            "vlm of the model's config.json",
            f"it sends images that the experts are unsure of to {endpoint}",
            "your consent, or a local model",
            "add --ask-endpoint if the images may go there, or set `vlm` to a local model, or to {} for none",
        )
    if model.config.vlm and model.arbiter is None:
        model.open_arbiter()


def _notes(model: AresModel, rows: Mapping[str, Outcome]) -> list[str]:
    notes = ["Labels are perceived presentation; an image that is abstained from counts as wrong."]
    if model.gate is None:
        notes.append("It has no gate: what shows no face is labelled all the same.")
    if rows["ARES"].accuracy is None:
        notes.append("No image has labels for all tasks, so accuracy over all of them is undefined.")
    if model.arbiter is None and any(task["arbiter"] == "vlm" for task in model.config.tasks):
        notes.append(
            f"For escalation {NO_ARBITER}: what would go to it is voted on, so ARES equals E6, and E5 is not run."
        )
    return notes
