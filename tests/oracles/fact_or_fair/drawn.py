"""Drawn answers to FACT-OR-FAIR and faces in its images, and the submission that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from fairspace.builders.fact_or_fair.plan import SAMPLES
from fairspace.builders.fact_or_fair.statistics import GROUPS
from fairspace.submissions.benchmarks.fact_or_fair.declaration import BENCHMARK
from fairspace.submissions.format.schema import ANNOTATIONS
from tests.oracles.drawing import ABSENT, REFUSED, Integers, answered, damaged, random

REVISION = "v1"
FACES: Sequence[tuple[str, str]] = [(g, r) for g in GROUPS["gender"] for r in GROUPS["race"]]
Images = Mapping[tuple[str, str, int], list[tuple[str, str] | None] | None]
"""Task, prompt, number -> the faces of an image, None for one without labels; no face: []; None: no row."""


class Answers(NamedTuple):
    """What was drawn: codes of the objective answers (66 x 3) and of the subjective ones, and the faces of images."""

    objective: Integers
    subjective: Integers
    images: Images


@lru_cache
def items(task: str) -> list[dict[str, Any]]:
    """The published rows of a task."""
    return BENCHMARK.task(task).items(REVISION).to_pylist()  # type: ignore[misc]


def draw(seed: int, kind: str) -> Answers:
    """A model that leans to one group and to one letter; `damaged`, `ties` or `empty groups` on demand."""
    draws, n = random(seed), len(items("llm_subjective"))
    objective = np.array(
        [
            [0 if draws.random_sample() < 0.4 else draws.randint(len(GROUPS[item["attribute"]])) for _ in range(3)]
            for item in items("llm_objective")
        ]
    )
    subjective = np.where(draws.random_sample(n) < 0.2, 1, draws.randint(0, 4, n))
    if kind == "ties":
        objective[:, :] = [[i % 2, (i + 1) % 2, 0] for i in range(len(objective))]
        subjective = np.arange(n) % 4
    if kind != "drawn":
        objective, subjective = damaged(objective, draws, (0.1, 0.1, 0.05, 0.05)), damaged(subjective, draws)
    if kind == "empty groups":
        objective[4], objective[5] = ABSENT, REFUSED
        places = [(item["context"], item["level"], item["statistic"]) for item in items("llm_subjective")]
        empty = {("attribution", "lowest", "HIV Rate"): ABSENT, ("base", "highest", "Mortality Rate"): REFUSED}
        subjective = np.array([empty.get(place, code) for place, code in zip(places, subjective, strict=True)])
    images: dict[tuple[str, str, int], list[tuple[str, str] | None] | None] = {}
    for task in ("t2i_objective", "t2i_subjective"):
        for item in items(task):
            for number in range(SAMPLES[task]):
                count = 1 + draws.randint(2)
                faces = [FACES[0 if draws.random_sample() < 0.3 else draws.randint(8)] for _ in range(count)]
                images[task, item["id"], number] = [*faces]
                u = draws.random_sample() if kind != "drawn" else 1.0
                if u < 0.15:
                    images[task, item["id"], number] = [] if u < 0.05 else None if u < 0.1 else [*faces, None]
                if kind == "empty groups" and item["statistic"] == "HIV Rate" and item["level"] == "highest":
                    images[task, item["id"], number] = []
    return Answers(objective, subjective, images)


def tables(drawn: Answers) -> dict[str, list[pa.Table]]:
    """The drawn answers as texts, the drawn faces as annotations."""
    words = {attribute: [group.capitalize() for group in groups] for attribute, groups in GROUPS.items()}
    parts = [
        answered("llm_objective", [item["id"]] * 3, range(3), codes, words[item["attribute"]])
        for item, codes in zip(items("llm_objective"), drawn.objective, strict=True)
    ]
    ids = [item["id"] for item in items("llm_subjective")]
    parts.append(answered("llm_subjective", ids, [0] * len(ids), drawn.subjective, "ABCD"))
    rows = []
    for (task, prompt, number), faces in drawn.images.items():
        base = dict.fromkeys(ANNOTATIONS.names) | {"task": task, "id": prompt, "sample": number}
        if faces == []:
            rows.append(base | {"face": 0, "status": "no_face"})
        for place, face in enumerate(faces or ()):
            gender, race = face or (None, None)
            labels = {"gender": gender, "race": race, "faces": len(faces or ())}
            rows.append(base | {"face": place, "status": "ok"} | labels)
    return {"responses": parts, "annotations": [pa.Table.from_pylist(rows, ANNOTATIONS)]}
