"""IRIS' own metrics against this project's values of the same drawn images and answers: 31 of the 60, and the codes.

RFS_Und and BIS_Und are placeholders in the authors' repository: there is nothing to run.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fairspace.builders.iris.groups import OCCUPATIONS
from fairspace.metrics.iris_score.formula import normalised, profile_code
from fairspace.metrics.iris_score.standards import GRANULAR, INAUGURAL
from fairspace.submissions.benchmarks.iris.parse.labels import read_rating
from tests.oracles import iris as ours
from tests.oracles.authors.clones import IRIS, Outcome, copy
from tests.oracles.authors.clones import run as run_child
from tests.oracles.comparison import Comparison, compare
from tests.oracles.drawing import ABSENT, HANDED_IN, random
from tests.oracles.iris import GROUPS, NO_FACE, NO_SKIN, Drawn

TITLE = "IRIS"
ORACLE = ours.ORACLES[0]
KINDS = ("drawn", "damaged", "ties", "empty groups")
PATCHES = (
    "calculate_rfs_gen_metrics calls _parse_gen_labels, which is defined inside another function: a function of ours "
    "of that name splits the label columns.",
    "columns with '%' are found by dtype 'object', which pandas 3 no longer gives to text: the option "
    "future.infer_string is off.",
    "matplotlib, seaborn and scikit-learn, which only draw maps, are empty modules.",
    "calculate_rfs_und_metrics and calculate_bis_und_metrics are placeholders without a computation: not run.",
)
DEPARTURES = {
    "no label": "the authors count a steered image without all its labels as a failed one; here it is missing.",
    "one class": "the authors have one class for refusals and unmappable answers; here they are two (SPD).",
    "log1p": "the authors take log1p of |SDS|, which is bounded; here it stays as it is.",
}
_DAMAGED = ("damaged", "ties", "empty groups")
LISTED = {("RD", kind): "E-ARES-02" for kind in _DAMAGED}
LISTED |= {("success penalty", kind): "no label" for kind in _DAMAGED}
LISTED |= {("SPD", kind): "one class" for kind in _DAMAGED}
LISTED |= {("JSD, images", "empty groups"): "E-IRIS-11"}
"""Scorer and data -> the erratum or departure that explains a difference."""
_AGES = {"middle-aged": "middle"}
_NAMES = {"Penalty_delta_GSR": "Penalty_ΔGSR"}
Numbers = dict[str, float | None]
Rows = Iterable[Mapping[str, object]]


def run(clone: Path) -> Outcome:
    """Write drawn data as the authors' tables, run their code, compare. CloneError as in `clones`."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        copy(IRIS, clone, folder)
        drawn = {kind: ORACLE.draw(100 + seed, kind) for seed, kind in enumerate(KINDS)}
        for kind, data in drawn.items():
            _write(folder, kind, data)
        _write_truth(folder / "data" / "annotations.csv")
        given = _given()
        (folder / "given.json").write_text(json.dumps(given), encoding="utf-8")
        out = run_child("iris_child.py", folder, IRIS)
    comparisons: list[Comparison] = []
    for kind, data in drawn.items():
        measured = ORACLE.measured(data)
        theirs = {
            {theirs: mine for mine, theirs in _NAMES.items()}.get(name, name): number
            for part in ("rd", "jsd", "penalties", "gaps")
            for name, number in out[part][kind].items()
        }
        named = {scorer: label for (scorer, at), label in LISTED.items() if at == kind}
        comparisons += compare("authors", TITLE, kind, IRIS.source, measured, theirs, ours.scorer, named)
    comparisons += _formulas(given, out)
    return Outcome(comparisons, PATCHES, DEPARTURES)


def _write(folder: Path, kind: str, drawn: Drawn) -> None:
    neutral = [row | {"profession": OCCUPATIONS[o]} for o, codes in enumerate(drawn.neutral) for row in _labels(codes)]
    _csv(folder / "generation" / kind / "final_classified_report_with_profession.csv", neutral)
    steer: list[dict[str, object]] = []
    for (_, own, requested), codes in drawn.steered.items():
        gender, age, skin = GROUPS[requested]
        quality = drawn.quality[_, own, requested].tolist()
        for row, code, scores in zip(_labels(codes, every=True), codes.tolist(), quality, strict=True):
            if code == ABSENT:
                continue
            known = scores if code >= NO_SKIN and code != NO_FACE else [float("nan")] * 4
            steer.append(
                {
                    "prompt_type": "stereotypical" if own == requested else "counter-stereotypical",
                    "target_gender": gender,
                    "target_age": _AGES.get(age, age),
                    "target_skin_tone": skin,
                    "predicted_age_gender": row["final_age_gender"],
                    "predicted_skin_tone": row["final_skin_tone"],
                    **dict(zip(("clip_iqa", "face_iqa", "clip_t_score", "dino_ref_score"), known, strict=True)),
                }
            )
    _csv(folder / "bis_gen" / kind / f"unified_report_{kind}.csv", steer)
    answers = [
        {"filename": f"{number}.png", "mapped_occupation": OCCUPATIONS[code] if code >= 0 else "unmappable"}
        for number, code in enumerate(drawn.said.tolist())
        if code >= HANDED_IN
    ]
    _csv(folder / "vqa" / kind / "mapped_vqa_results.csv", answers)


def _labels(codes: Any, every: bool = False) -> Iterator[dict[str, object]]:
    """Label columns of images that were made; with `every`, of all. A text stands for the labels of a missing face."""
    for number, code in enumerate(codes.tolist()):
        if code >= NO_SKIN and code != NO_FACE:
            gender, age, skin = GROUPS[code] if code >= 0 else (*GROUPS[number % 18][:2], "")
            yield {"final_age_gender": f"{_AGES.get(age, age)} {gender}", "final_skin_tone": skin}
        elif every or code != ABSENT:
            yield {"final_age_gender": "no face", "final_skin_tone": "no face"}


def _write_truth(path: Path) -> None:
    codes = {"male": 0, "female": 1, "young": 0, "middle-aged": 1, "older": 2, "light": 0, "middle": 1, "dark": 2}
    rows = []
    for number in range(52 * 18 * 29):
        gender, age, skin = (codes[label] for label in GROUPS[number // 29 % 18])
        labels = {"gender_label": gender, "age_label": age, "skin_label": skin}
        rows.append({"filename": f"{number}.png", "occupation": OCCUPATIONS[number // (18 * 29)]} | labels)
    _csv(path, rows)


def _csv(path: Path, rows: Rows) -> None:
    rows = list(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _given() -> dict[str, Any]:
    draws = random(17)
    bounds = {m.name: m.bound or 1.0 for m in GRANULAR}
    values = [
        {_NAMES.get(name, name): float(draws.random_sample() * bound) for name, bound in bounds.items()}
        for _ in range(20)
    ]
    scores = [*(draws.random_sample((60, 3)) * 120).round().tolist(), [60.0, 60.0, 60.0], [59.999, 60.0, 60.001]]
    answers = [str(number) for number in range(1, 11)] + ["I'd say 7.", "Rating: 3", "8/10"]
    return {"values": values, "scores": scores, "answers": [*answers, "I cannot say.", "???"]}


def _formulas(given: Mapping[str, Any], out: Mapping[str, Any]) -> Iterator[Comparison]:
    mine: Numbers = {}
    theirs: Numbers = {}
    for number, (row, normal) in enumerate(zip(given["values"], out["normalised"], strict=True)):
        for metric in GRANULAR:
            name = _NAMES.get(metric.name, metric.name)
            mine[f"{metric.name}/{number}"] = normalised(metric, row[name], INAUGURAL.total_divisor)
            theirs[f"{metric.name}/{number}"] = normal[name]
    yield from _compared(
        "drawn", mine, theirs, lambda name: "|SDS| normalised" if name.startswith("AbsSDS") else "values normalised"
    )
    codes = [profile_code(ifs, rfs, bis, INAUGURAL.tau) for ifs, rfs, bis in given["scores"]]
    unlike = [float(a != b) for a, b in zip(codes, out["codes"], strict=True)]
    mine = dict.fromkeys(map(str, range(len(unlike))), 0.0)
    theirs = dict(zip(mine, unlike, strict=True))
    yield from _compared("drawn", mine, theirs, lambda name: "profile code (1: unlike)")
    readings = [read_rating(text) for text in given["answers"]]
    ratings = [float(r.value) if r.outcome == "choice" else None for r in readings]
    for kind, part in (("drawn", slice(0, -2)), ("damaged", slice(-2, None))):
        mine, theirs = (
            {str(place): number for place, number in enumerate(column[part])} for column in (ratings, out["ratings"])
        )
        yield from _compared(kind, mine, theirs, lambda name: "rating in an answer")


def _compared(
    kind: str, mine: Mapping[str, float | None], theirs: Mapping[str, float | None], scorer: Callable[[str], str]
) -> Iterator[Comparison]:
    named = {"|SDS| normalised": "log1p", "rating in an answer": "E-IRIS-11"}
    yield from compare("authors", TITLE, kind, IRIS.source, mine, theirs, scorer, named)
