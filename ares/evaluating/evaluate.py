"""Measure a trained ARES: reports, confusion matrices, disparities, calibration, ablations (IRIS, B.3 and B.4).

The experts run once over all test images; every ablation (E1 to E7 of Tables 11 and 12) is a configuration of the same
model, routed from `AresModel.observe` exactly as by `decide`. Answers of the vision-language model are kept, one per
image and task. Cost is counted in passes of experts and questions to that model.
Output: `evaluation.json` (everything) and `report.md` (Tables 11 to 19 beside the printed figures). An undefined cell
says `undefined`, never 0. All of it follows from the model, the data and the seed.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.classifying_ares import answered
from fairspace.ares.deciding_ares import ABLATIONS, SINGLE, Decided, Observed, fast_path, joined
from fairspace.ares.evaluating.data import HeldOut, HeldOutData, Pictures, open_test
from fairspace.ares.evaluating.measure import AttributeMeasurement, attribute_codes, measure_codes
from fairspace.ares.evaluating.measurement import FILE, MeasuredGate, Measurement, model_sha256, write_document
from fairspace.ares.evaluating.nonfaces import WORDS, measure_gate
from fairspace.ares.evaluating.nonfaces import rows as gate_rows
from fairspace.ares.image_processing_ares import AresImageProcessor
from fairspace.ares.modeling_ares import AresModel
from fairspace.builders.engine.build import write_atomically
from fairspace.builders.errors import BuildError
from fairspace.builders.registry import table as printed

Cell = str | int | float | None
ROWS = {
    "E1": "(E1) DINOv2 Only",
    "E2": "(E2) ConvNeXt Only",
    "E3": "(E3) CLIP Only",
    "E4": "(E4) Local Ensemble (Vote)",
    "E5": "(E5) L2 (VLM) Only",
    "E6": "(E6) ARES (w/o L2 (VLM))",
    "E7": "(E7) ARES (w/o Fusion MLP)",
    "ARES": "ARES (Ours)",
}
"""Row of an ablation -> its name in Tables 11 and 12."""
_SETS = {"random_200": "ares_table11_random200", "selected_300": "ares_table12_selected300"}
_PRINTED_CLASS = {"middle-aged": "middle"}
_SCORES = ("precision", "recall", "f1", "support")


@dataclass(frozen=True)
class Evaluation:
    """The measured quality of an ARES model; `gate` is None without a gate, or if nothing was shown to it.

    Args:
        model: `name` and `sha256` of the model's folder, `arbiter` that it escalated to or ''.
        data: `name`, `revision`, `sha256`, and `images` per task.
        attributes: Attribute -> measurement of the configured model.
        ablations: Row of Tables 11 and 12 -> outcome.
    """

    model: Mapping[str, str]
    data: Mapping[str, Any]
    attributes: Mapping[str, AttributeMeasurement]
    ablations: Mapping[str, ConfigurationOutcome]
    notes: tuple[str, ...]
    gate: MeasuredGate | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        gate = self.gate.model_dump() if self.gate is not None else None
        return {"format": 1, **asdict(self), "gate": gate}


@dataclass(frozen=True)
class EvaluationTable:
    """A table of figures; a cell of None is undefined."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def text(self) -> str:
        """Markdown."""
        lines = [self.header, tuple("---" for _ in self.header), *(tuple(map(_shown, row)) for row in self.rows)]
        return f"### {self.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tables(evaluation: Evaluation) -> list[EvaluationTable]:
    """Every table of an evaluation."""
    return [
        _ablations(evaluation),
        _report(evaluation),
        *_confusions(evaluation),
        _disparity(evaluation),
        _groups(evaluation),
        _calibration(evaluation),
        _routes(evaluation),
        *([_gate_table(evaluation.gate)] if evaluation.gate is not None else []),
    ]


def _ablations(evaluation: Evaluation) -> EvaluationTable:
    tasks = list(evaluation.ablations["ARES"].tasks)
    columns = {"age_gender": "age_gender_acc_pct", "skin_tone": "skin_tone_acc_pct"}
    beside = ["overall_acc_pct", *(columns[task] for task in tasks if task in columns)]
    header = ["configuration", "overall_acc_pct", *(f"{task}_acc_pct" for task in tasks)]
    header += ["experts_per_image", "questions_per_image", "not_run"]
    header += [f"printed_{name}_{column}" for name in _SETS for column in beside]
    rows = []
    for row, each in evaluation.ablations.items():
        shares = [_percent(each.accuracy), *(_percent(each.tasks.get(task)) for task in tasks)]
        line: list[Cell] = [ROWS[row], *shares, each.experts, each.arbiter, ""]
        if each.reason:
            line = [ROWS[row], *[""] * (len(tasks) + 3), each.reason]
        for file in _SETS.values():
            (figures,) = (figures for figures in printed(file) if figures["configuration"] == ROWS[row])
            line += [figures[column] for column in beside]
        rows.append(tuple(line))
    return EvaluationTable("Ablations (Tables 11 and 12)", tuple(header), tuple(rows))


def _report(evaluation: Evaluation) -> EvaluationTable:
    figures = {(line["attribute"], line["class"]): line for line in printed("ares_table13_15_report")}
    header = ("attribute", "class", *_SCORES, *(f"printed_{score}" for score in _SCORES))
    rows: list[tuple[Cell, ...]] = []
    for attribute, measured in evaluation.attributes.items():
        report = measured.overall.report
        for name, scores in [*report.classes.items(), ("macro avg", report.macro)]:
            beside = figures.get((attribute, _PRINTED_CLASS.get(name, name)), {})
            numbers = [getattr(scores, score) for score in _SCORES]
            rows.append((attribute, name, *numbers, *(beside.get(score, "") for score in _SCORES)))
        rows.append((attribute, "accuracy", "", "", report.accuracy, report.macro.support, *[""] * len(_SCORES)))
    title = "Classification reports (Tables 13 to 15; printed: V-720)"
    return EvaluationTable(title, header, tuple(rows))


def _confusions(evaluation: Evaluation) -> Iterator[EvaluationTable]:
    figures = {
        (line["attribute"], line["true"], line["predicted"]): line["count"]
        for line in printed("ares_table16_18_confusion")
    }
    for attribute, measured in evaluation.attributes.items():
        labels = measured.labels
        short = [_PRINTED_CLASS.get(label, label) for label in labels]
        header = ("true \\ predicted", *labels, "abstained", *(f"printed_{label}" for label in short))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                label,
                *measured.overall.matrix[i],
                measured.overall.abstained[i],
                *(figures.get((attribute, short[i], other), "") for other in short),
            )
            for i, label in enumerate(labels)
        )
        title = f"Confusion matrix: {attribute} (Tables 16 to 18; printed: V-720)"
        yield EvaluationTable(title, header, rows)


def _disparity(evaluation: Evaluation) -> EvaluationTable:
    figures = {line["attribute"]: line for line in printed("ares_table19_disparity")}
    names = ("max_recall", "max_group", "min_recall", "min_group", "accuracy_disparity")
    header = ("attribute", *names, "low", "high", *(f"printed_{name}" for name in names))
    rows = []
    for attribute, measured in evaluation.attributes.items():
        gap, classes = measured.disparity, measured.overall.report.classes
        most = classes[gap.most].recall if gap.most is not None else None
        least = classes[gap.least].recall if gap.least is not None else None
        beside = [figures.get(attribute, {}).get(name, "") for name in names]
        rows.append((attribute, most, gap.most, least, gap.least, gap.value, gap.low, gap.high, *beside))
    return EvaluationTable("Accuracy disparity (Table 19; printed: V-720)", header, tuple(rows))


def _groups(evaluation: Evaluation) -> EvaluationTable:
    header = ("attribute", "group", "label", "images", "abstained", "accuracy", "disparity", "low", "high")
    rows: list[tuple[Cell, ...]] = []
    for attribute, measured in evaluation.attributes.items():
        for group, parts in measured.groups.items():
            gap = measured.disparities[group]
            for label, part in parts.items():
                silent, accuracy = sum(part.abstained), part.report.accuracy
                rows.append((attribute, group, label, part.images, silent, accuracy, gap.value, gap.low, gap.high))
    return EvaluationTable("Accuracy per group of the other attributes, and its gap", header, tuple(rows))


def _calibration(evaluation: Evaluation) -> EvaluationTable:
    header = ("attribute", "from", "to", "images", "confidence", "accuracy", "expected_calibration_error")
    rows: list[tuple[Cell, ...]] = []
    for attribute, measured in evaluation.attributes.items():
        curve = measured.calibration
        for i, images in enumerate(curve.images):
            ends = (curve.edges[i], curve.edges[i + 1])
            rows.append((attribute, *ends, images, curve.confidence[i], curve.accuracy[i], curve.error))
    return EvaluationTable("Calibration: confidence in the answer, and how often it is right", header, tuple(rows))


def _routes(evaluation: Evaluation) -> EvaluationTable:
    header = ("task", "route", "images", "share")
    rows: list[tuple[Cell, ...]] = []
    for task, routes in evaluation.ablations["ARES"].routes.items():
        total = sum(routes.values())
        rows += [(task, route, count, count / total) for route, count in routes.items()]
    return EvaluationTable("Routes", header, tuple(rows))


def _gate_table(gate: MeasuredGate) -> EvaluationTable:
    header = ("shown", "held_out", "images", "share_ok", "low", "high", *WORDS)
    lines: list[tuple[Cell, ...]] = []
    for shown, held_out, share, words in gate_rows(gate):
        ends = share.ends or (None, None, None)
        lines.append((shown, _mark(held_out), share.images, *ends, *(words.get(word, 0) for word in WORDS)))
    return EvaluationTable("The gate: what is answered for faces and for drawn non-faces", header, tuple(lines))


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 4)


def _mark(value: bool) -> str:
    return "yes" if value else ""


def _shown(cell: Cell) -> str:
    if cell is None:
        return "undefined"
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def as_text(evaluation: Evaluation) -> str:
    """The whole evaluation as Markdown."""
    data, model = evaluation.data, evaluation.model
    head = f"# ARES measured on {data['name']} {data['revision']}\n\nModel {model['name']}, "
    head += f"sha256 `{model['sha256'][:16]}`; data sha256 `{data['sha256'][:16]}`.\n"
    notes = "".join(f"\n- {note}" for note in evaluation.notes)
    return "\n".join([f"{head}{notes}\n", *(table.text() for table in tables(evaluation))])


Progress = Callable[[str, int, int], None]


class Remembering:
    """An arbiter that keeps its answers."""

    def __init__(self, arbiter: Any) -> None:
        self.arbiter = arbiter
        self._answers: dict[tuple[str, bytes], str | None] = {}

    @property
    def name(self) -> str:
        """Name of the arbiter."""
        return str(self.arbiter.name)

    def answer(self, images: Sequence[Any], task: Mapping[str, Any]) -> list[str | None]:
        """The arbiter's answers; an image that it saw before is not shown again."""
        keys = [(str(task["name"]), _hash(image)) for image in images]
        new = {key: image for key, image in zip(keys, images, strict=True) if key not in self._answers}
        if new:
            answers = self.arbiter.answer(list(new.values()), task)
            self._answers.update(zip(new, answers, strict=True))
        return [self._answers[key] for key in keys]


def observe_all(
    model: AresModel, images: HeldOut, batch: int, progress: Progress = lambda what, done, total: None
) -> dict[str, Observed]:
    """Observations of every part of the model on every image of a set."""
    observations: list[dict[str, Observed]] = []
    for start in range(0, len(images), batch):
        rows = np.arange(start, min(start + batch, len(images)))
        observations.append(model.observe(images.pixels(rows, model.device), everything=True))
        progress("images", int(rows[-1]) + 1, len(images))
    return {name: joined([each[name] for each in observations]) for name in observations[0]}


@contextmanager
def configured(model: AresModel, **settings: Any) -> Iterator[AresModel]:
    """The model with other settings in its configuration, inside a `with` block."""
    before = {name: getattr(model.config, name) for name in settings}
    for name, value in settings.items():
        setattr(model.config, name, value)
    try:
        yield model
    finally:
        for name, value in before.items():
            setattr(model.config, name, value)


def routed(model: AresModel, images: HeldOut, observed: Mapping[str, Observed]) -> dict[str, Decided]:
    """The decisions of the model as it is configured."""
    return model.route(observed, Pictures(images.faces) if model.arbiter is not None else None)


def _hash(image: Any) -> bytes:
    return hashlib.sha256(repr((image.mode, image.size)).encode() + image.tobytes()).digest()


NO_ARBITER = "no vision-language model was named"


@dataclass(frozen=True)
class ConfigurationOutcome:
    """The quality and cost of one configuration; `reason` says why it was not run, '' if it was.

    Args:
        accuracy: Accuracy over images with labels for all tasks; None without any.
        tasks: Task -> share of right answers; None without images.
        escalated: Task -> share of images that the escalation router hands on, with or without an arbiter.
        experts: Passes of experts per image, over all tasks.
    """

    reason: str
    accuracy: float | None
    tasks: Mapping[str, float | None]
    routes: Mapping[str, Mapping[str, int]]
    escalated: Mapping[str, float | None]
    experts: float | None
    arbiter: float | None


def ablations(
    model: AresModel, sets: Sequence[HeldOut], observed: Sequence[Mapping[str, Observed]]
) -> dict[str, ConfigurationOutcome]:
    """Row of Tables 11 and 12 -> outcome; `observed` from `observe_all`, per set."""
    outcomes = {}
    for row, mode in ABLATIONS.items():
        missing = f"the model has no expert {mode}" if mode in SINGLE and mode not in model.config.kinds else ""
        if mode == "l2" and model.arbiter is None:
            missing = NO_ARBITER
        with configured(model, ablation=mode):
            not_run = ConfigurationOutcome(missing, None, {}, {}, {}, None, None)
            outcomes[row] = not_run if missing else outcome(model, sets, observed)
    return outcomes


def outcome(model: AresModel, sets: Sequence[HeldOut], seen: Sequence[Mapping[str, Observed]]) -> ConfigurationOutcome:
    """The outcome of the model as it is configured."""
    names = [str(task["name"]) for task in model.config.tasks]
    right: dict[str, float | None] = {}
    escalated: dict[str, float | None] = {}
    routes: dict[str, dict[str, int]] = {}
    whole: list[bool] = []
    experts = arbiter = 0.0
    n = sum(len(images) for images in sets)
    for images, observed in zip(sets, seen, strict=True):
        decided = routed(model, images, observed)
        labels = images.faces.labels
        hit = {name: decided[name].label == labels[name] for name in names}
        every = np.all([labels[name] >= 0 for name in names], axis=0)
        whole += np.all([hit[name][every] for name in names], axis=0).tolist() if every.any() else []
        for name in images.tasks:
            valid = labels[name] >= 0
            right[name], escalated[name] = _share(hit[name][valid]), _share(_handed_on(model, decided[name])[valid])
            routes[name] = dict(sorted(Counter(np.array(decided[name].route)[valid].tolist()).items()))
        passes, questions = _cost(model, decided, observed)
        experts, arbiter = experts + passes, arbiter + questions
    return ConfigurationOutcome("", _share(np.array(whole)), right, routes, escalated, experts / n, arbiter / n)


def _handed_on(model: AresModel, decided: Decided) -> NDArray[np.bool_]:
    if model.config.ablation == "l2":
        return np.ones(len(decided.label), bool)
    return np.nan_to_num(decided.escalation, nan=-1.0) > model.config.escalation


def _cost(model: AresModel, decided: Mapping[str, Decided], observed: Mapping[str, Observed]) -> tuple[float, int]:
    mode, kinds = model.config.ablation, model.config.kinds
    passes, questions = 0.0, 0
    for task in model.config.tasks:
        n = len(decided[task["name"]].label)
        if mode in SINGLE:
            passes += n * kinds.count(mode)
        elif mode != "l2":
            _, sure = fast_path(model.config, task, observed[task["name"]])
            passes += n * len(kinds) - float(sure.sum()) * (len(kinds) - 1)
        if model.arbiter is not None and (mode == "l2" or (task["arbiter"] == "vlm" and mode != "no_vlm")):
            questions += int(_handed_on(model, decided[task["name"]]).sum())
    return passes, questions


def _share(mask: NDArray[np.bool_]) -> float | None:
    return float(mask.mean()) if len(mask) else None


EVALUATION, REPORT = "evaluation.json", "report.md"
_FACES = 1_000
"""Most faces of the test set that are shown to the gate."""


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
    """Measure a model and write the evaluation into `out`, in place of an earlier one.

    `data` is the folder of a built IRIS-Classifier-25 (its test splits), or `drawn:N`, faces drawn from `seed`. `batch`
    changes speed alone; `device` '' takes a GPU if there is one. `ask_endpoint` is that of `open_arbiter`. A model with
    a gate is shown `nonfaces` drawn non-faces of each kind. `progress` is called with work, number done, and total.
    Errors: BuildError TOOL_MISSING as `open_arbiter`, TRAINING_DATA, BUILD_INCOMPLETE for a folder without a model.
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
    """Write an evaluation by `evaluate` into the folder of its model; `date`: YYYY-MM-DD.

    BuildError MEASUREMENT_INVALID if another model was evaluated, or the date is none.
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


def measure_attribute(
    task: Mapping[str, Any], attribute: str, images: HeldOut, decided: Decided
) -> AttributeMeasurement:
    """Measure an attribute of a task (a registry entry) on its test set, from the model's decisions in this task."""
    labels = tuple(dict.fromkeys(str(value) for value in task["attributes"][attribute]))
    codes, mass = attribute_codes(task, attribute, decided.label), decided.chances(task, attribute)
    return measure_codes(attribute, labels, images.groups[attribute][1], codes, mass, images.groups)


def measure(
    model: AresModel,
    data: HeldOutData,
    about: Mapping[str, str],
    *,
    batch: int = 64,
    nonfaces: int = 20,
    progress: Progress = lambda what, done, total: None,
) -> Evaluation:
    """Measure an open model; `about`: its name and sha256; other arguments are as in `evaluate`."""
    first, arbiter = data.sets[0], model.arbiter
    observations = [observe_all(model, images, batch, progress) for images in data.sets]
    model.arbiter = Remembering(arbiter) if arbiter is not None else None
    try:
        attributes: dict[str, AttributeMeasurement] = {}
        for images, observed in zip(data.sets, observations, strict=True):
            decided = routed(model, images, observed)
            for task in model.config.tasks:
                if task["name"] in images.tasks:
                    for attribute in task["attributes"]:
                        attributes[attribute] = measure_attribute(task, attribute, images, decided[task["name"]])
        rows = ablations(model, data.sets, observations)
    finally:
        model.arbiter = arbiter
    gate = _gate(model, first, nonfaces, batch) if nonfaces and model.gate is not None else None
    counts = {task: int((s.faces.labels[task] >= 0).sum()) for s in data.sets for task in s.tasks}
    tested = {"name": data.name, "revision": data.revision, "sha256": data.sha256, "images": counts}
    facts = {**about, "arbiter": arbiter.name if arbiter is not None else ""}
    return Evaluation(facts, tested, attributes, rows, tuple(_notes(model, rows)), gate)


def _gate(model: AresModel, images: HeldOut, nonfaces: int, batch: int) -> MeasuredGate:
    """The gate's outcomes. No arbiter is asked: it never decides about faces."""
    rows = np.arange(min(len(images), _FACES))
    faces = next(images.faces.batches([rows], 0)).permute(0, 2, 3, 1).numpy()
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
    """Open the vision-language model that a model names, if any.

    BuildError TOOL_MISSING for an endpoint without `ask_endpoint`: images leave this machine only if the caller says
    so.
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


def _notes(model: AresModel, rows: Mapping[str, ConfigurationOutcome]) -> list[str]:
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
