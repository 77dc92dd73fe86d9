"""Measure a trained ARES: reports, confusion matrices, disparities, calibration, speed, ablations (IRIS, B.3 and B.4).

The experts run once over all test images; every ablation (E1 to E7) and threshold is a configuration of the same model.
Written are

    evaluation.json    everything, for programs
    report.md          the tables in the shape of Tables 11 to 19, with the printed figures beside them
    tables/*.csv       the same tables

All but seconds follow from the model, the data and the seed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from fairspace.ares.classifying_ares import answered
from fairspace.ares.evaluating.ablations import NO_ARBITER, Outcome, ablations, pareto
from fairspace.ares.evaluating.data import HeldOut, HeldOutData, open_test
from fairspace.ares.evaluating.evaluation import Evaluation
from fairspace.ares.evaluating.measure import Measured, measure_attribute
from fairspace.ares.evaluating.measurement import model_sha256
from fairspace.ares.evaluating.nonfaces import GateError, measure_gate
from fairspace.ares.evaluating.routes import Remembering, observe_all, routed
from fairspace.ares.evaluating.speed import part_seconds, time_ablations
from fairspace.ares.evaluating.tables import as_text, tables
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
    timed: int = 32,
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
        timed: images that seconds are taken with; 0 takes none.
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
        evaluation = measure(opened, tested, about, batch=batch, timed=timed, nonfaces=nonfaces, progress=progress)
    write(evaluation, out)
    return evaluation


def measure(
    model: AresModel,
    data: HeldOutData,
    about: Mapping[str, str],
    *,
    batch: int = 64,
    timed: int = 32,
    nonfaces: int = 20,
    progress: Progress = lambda what, done, total: None,
) -> Evaluation:
    """Measure an open model; `about` is its name and sha256, other arguments are as in `evaluate`."""
    first, arbiter = data.sets[0], model.arbiter
    seen = [observe_all(model, images, batch, progress) for images in data.sets]
    parts = part_seconds(model, first, timed) if timed else {}
    speed = time_ablations(model, first, batch, timed) if timed else {}
    model.arbiter = Remembering(arbiter) if arbiter is not None else None
    try:
        attributes: dict[str, Measured] = {}
        for images, observed in zip(data.sets, seen, strict=True):
            decided = routed(model, images, observed)
            for task in model.config.tasks:
                if task["name"] in images.tasks:
                    for attribute in task["attributes"]:
                        attributes[attribute] = measure_attribute(task, attribute, images, decided[task["name"]])
        rows = ablations(model, data.sets, seen, parts)
        points = pareto(model, data.sets, seen, parts)
    finally:
        model.arbiter = arbiter
    gate = _gate(model, first, nonfaces, batch) if nonfaces and model.gate is not None else None
    counts = {task: int((s.faces.labels[task] >= 0).sum()) for s in data.sets for task in s.tasks}
    tested = {"name": data.name, "revision": data.revision, "sha256": data.sha256, "images": counts}
    return Evaluation(
        {**about, "arbiter": arbiter.name if arbiter is not None else ""},
        tested,
        attributes,
        rows,
        tuple(points),
        speed,
        parts,
        tuple(_notes(model, rows)),
        gate,
    )


def _gate(model: AresModel, images: HeldOut, nonfaces: int, batch: int) -> GateError:
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


def write(evaluation: Evaluation, out: Path) -> None:
    """Write JSON, text and CSV."""
    (out / "tables").mkdir(exist_ok=True)
    for table in tables(evaluation):
        write_atomically(out / "tables" / f"{table.name}.csv", table.csv())
    write_atomically(out / REPORT, as_text(evaluation))
    write_atomically(out / EVALUATION, json.dumps(evaluation.to_json(), indent=1, allow_nan=False) + "\n")


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
