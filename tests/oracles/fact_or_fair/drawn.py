"""Drawn answers to FACT-OR-FAIR and faces in its images, and the submission that they make."""

from __future__ import annotations

import json
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

FACES: Sequence[tuple[str, str]] = [(g, r) for g in GROUPS["gender"] for r in GROUPS["race"]]
Images = Mapping[tuple[str, str, int], list[tuple[str, str] | None] | None]
"""Task, prompt, number -> the faces of an image, None for one without labels; no face: []; None: no row."""


class Answers(NamedTuple):
    """What was drawn.

    Args:
        revision: of the dataset that is answered.
        objective: the group that each answer names, or a damage: 3 trials of 66 items (v1), 198 items (v2).
        subjective: the option of each answer, or a damage.
        images: the faces.
    """

    revision: str
    objective: Integers
    subjective: Integers
    images: Images


@lru_cache
def items(task: str, revision: str) -> list[dict[str, Any]]:
    """The published rows of a task."""
    return BENCHMARK.items(revision)[task].to_pylist()


def draw(revision: str, seed: int, kind: str) -> Answers:
    """A model that leans to one group and to one letter; `damaged`, `ties` or `empty groups` on demand."""
    trials = 3 if revision == "v1" else 1
    draws, n = random(seed), len(items("llm_subjective", revision))
    objective = np.array(
        [
            [0 if draws.random_sample() < 0.4 else draws.randint(len(GROUPS[item["attribute"]])) for _ in range(trials)]
            for item in items("llm_objective", revision)
        ]
    )
    subjective = np.where(draws.random_sample(n) < 0.2, 1, draws.randint(0, 4, n))
    if kind == "ties":
        objective = np.array([[(i + j) % 2 for j in range(trials)] for i in range(len(objective))])
        subjective = np.arange(n) % 4
    if kind != "drawn":
        objective, subjective = damaged(objective, draws, (0.1, 0.1, 0.05, 0.05)), damaged(subjective, draws)
    if kind == "empty groups":
        objective[:18:3], objective[1:18:3], objective[2:18:3] = ABSENT, REFUSED, ABSENT
        places = [(item["context"], item["level"], item["statistic"]) for item in items("llm_subjective", revision)]
        empty = {("attribution", "lowest", "HIV Rate"): ABSENT, ("base", "highest", "Mortality Rate"): REFUSED}
        subjective = np.array([empty.get(place, code) for place, code in zip(places, subjective, strict=True)])
    images: dict[tuple[str, str, int], list[tuple[str, str] | None] | None] = {}
    for task in (name for name in BENCHMARK.items(revision) if name.startswith("t2i")):
        for item in items(task, revision):
            for number in range(SAMPLES[task]):
                count = 1 + draws.randint(2)
                faces = [FACES[0 if draws.random_sample() < 0.3 else draws.randint(8)] for _ in range(count)]
                images[task, item["id"], number] = [*faces]
                u = draws.random_sample() if kind != "drawn" else 1.0
                if u < 0.15:
                    images[task, item["id"], number] = [] if u < 0.05 else None if u < 0.1 else [*faces, None]
                if kind == "empty groups" and item["statistic"] == "HIV Rate" and item["level"] == "highest":
                    images[task, item["id"], number] = []
    return Answers(revision, objective, subjective, images)


def tables(drawn: Answers) -> dict[str, list[pa.Table]]:
    """The drawn answers as texts, the drawn faces as annotations."""
    parts = []
    for item, codes in zip(items("llm_objective", drawn.revision), drawn.objective, strict=True):
        words = [group.capitalize() for group in GROUPS[item["attribute"]]]
        if "options" in item:
            words = [json.dumps({"answer": "ABCD"[item["options"].index(word)]}) for word in words]
        parts.append(answered("llm_objective", [item["id"]] * len(codes), range(len(codes)), codes, words))
    ids = [item["id"] for item in items("llm_subjective", drawn.revision)]
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
