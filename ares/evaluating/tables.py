"""An evaluation in the shape of IRIS' Tables 11 to 19, with the printed figures beside it, as Markdown.

An undefined cell says `undefined`; nothing undefined is shown as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fairspace.ares.evaluating.ablations import Outcome
from fairspace.ares.evaluating.measure import Measured
from fairspace.ares.evaluating.measurement import MeasuredGate
from fairspace.ares.evaluating.nonfaces import WORDS
from fairspace.ares.evaluating.nonfaces import rows as gate_rows
from fairspace.builders.printed import table as printed

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
"""Row of an ablation -> how Tables 11 and 12 name it."""
_SETS = {"random_200": "ares_table11_random200", "selected_300": "ares_table12_selected300"}
_PRINTED_CLASS = {"middle-aged": "middle"}
_SCORES = ("precision", "recall", "f1", "support")


@dataclass(frozen=True)
class Evaluation:
    """The measured quality of an ARES model.

    Args:
        model: `name` and `sha256` of the model's folder, `arbiter` that it escalated to or ''.
        data: `name`, `revision`, `sha256`, and `images` per task.
        attributes: attribute -> what was measured of the model as it is configured.
        ablations: row of Tables 11 and 12 -> outcome.
        notes: what a reader must know.
        gate: what the gate lets pass; None where the model has none, or nothing was shown to it.
    """

    model: Mapping[str, str]
    data: Mapping[str, Any]
    attributes: Mapping[str, Measured]
    ablations: Mapping[str, Outcome]
    notes: tuple[str, ...]
    gate: MeasuredGate | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        gate = self.gate.model_dump() if self.gate is not None else None
        return {"format": 1, **asdict(self), "gate": gate}


@dataclass(frozen=True)
class Table:
    """A table of figures.

    Args:
        title: what it shows, and which printed table it has the shape of.
        header: of the columns.
        rows: cells; None is undefined.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def text(self) -> str:
        """As Markdown."""
        lines = [self.header, tuple("---" for _ in self.header), *(tuple(map(_shown, row)) for row in self.rows)]
        return f"### {self.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tables(evaluation: Evaluation) -> list[Table]:
    """Every table of an evaluation."""
    return [
        _ablations(evaluation),
        _report(evaluation),
        *_confusions(evaluation),
        _disparity(evaluation),
        _groups(evaluation),
        _calibration(evaluation),
        _routes(evaluation),
        *([_gate(evaluation.gate)] if evaluation.gate is not None else []),
    ]


def _ablations(evaluation: Evaluation) -> Table:
    tasks = list(evaluation.ablations["ARES"].tasks)
    known = {"age_gender": "age_gender_acc_pct", "skin_tone": "skin_tone_acc_pct"}
    beside = ["overall_acc_pct", *(known[task] for task in tasks if task in known)]
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
    return Table("Ablations (Tables 11 and 12)", tuple(header), tuple(rows))


def _report(evaluation: Evaluation) -> Table:
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
    return Table(title, header, tuple(rows))


def _confusions(evaluation: Evaluation) -> Iterator[Table]:
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
        yield Table(title, header, rows)


def _disparity(evaluation: Evaluation) -> Table:
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
    return Table("Accuracy disparity (Table 19; printed: V-720)", header, tuple(rows))


def _groups(evaluation: Evaluation) -> Table:
    header = ("attribute", "group", "label", "images", "abstained", "accuracy", "disparity", "low", "high")
    rows: list[tuple[Cell, ...]] = []
    for attribute, measured in evaluation.attributes.items():
        for group, parts in measured.groups.items():
            gap = measured.disparities[group]
            for label, part in parts.items():
                silent, accuracy = sum(part.abstained), part.report.accuracy
                rows.append((attribute, group, label, part.images, silent, accuracy, gap.value, gap.low, gap.high))
    return Table("Accuracy per group of the other attributes, and its gap", header, tuple(rows))


def _calibration(evaluation: Evaluation) -> Table:
    header = ("attribute", "from", "to", "images", "confidence", "accuracy", "expected_calibration_error")
    rows: list[tuple[Cell, ...]] = []
    for attribute, measured in evaluation.attributes.items():
        curve = measured.calibration
        for i, images in enumerate(curve.images):
            ends = (curve.edges[i], curve.edges[i + 1])
            rows.append((attribute, *ends, images, curve.confidence[i], curve.accuracy[i], curve.error))
    return Table("Calibration: confidence in the answer, and how often it is right", header, tuple(rows))


def _routes(evaluation: Evaluation) -> Table:
    header = ("task", "route", "images", "share")
    rows: list[tuple[Cell, ...]] = []
    for task, routes in evaluation.ablations["ARES"].routes.items():
        total = sum(routes.values())
        rows += [(task, route, count, count / total) for route, count in routes.items()]
    return Table("Routes", header, tuple(rows))


def _gate(gate: MeasuredGate) -> Table:
    header = ("shown", "held_out", "images", "share_ok", "low", "high", *WORDS)
    lines: list[tuple[Cell, ...]] = []
    for shown, held_out, share, words in gate_rows(gate):
        ends = share.ends or (None, None, None)
        lines.append((shown, _mark(held_out), share.images, *ends, *(words.get(word, 0) for word in WORDS)))
    return Table("The gate: what is answered for faces and for drawn non-faces", header, tuple(lines))


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
