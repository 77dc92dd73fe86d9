"""The items of IRIS' tasks as tables: the input of a model, and the id of its answer."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders.iris.groups import AGES, GENDERS, GROUPS, OCCUPATIONS, REVISIONS, SKIN_TONES, group_attributes
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60

STEREOTYPICAL, COUNTER = "stereotypical", "counter"
COUNTERS = 5
"""Prompts against a stereotype, beside its own."""


def unnamed_steer_items() -> list[str]:
    """Names of the 60 steer prompts without neutral images, whose stereotypes are unknown."""
    kinds = (STEREOTYPICAL, *(f"{COUNTER}-{number}" for number in range(COUNTERS)))
    return [f"steer/{stereotype}/{kind}" for stereotype in range(iris_steer_60.STEREOTYPES) for kind in kinds]


def steer_items(counts: np.ndarray[tuple[int, ...], np.dtype[np.int_]], revision: str = REVISIONS[0]) -> pa.Table:
    """The 60 steer prompts of a model whose neutral images have these (52, 18) counts by occupation and group."""
    items = [
        (occupation, stereotype, requested)
        for occupation, stereotype in iris_steer_60.steer_plan(counts)
        for requested in (stereotype, *iris_steer_60.counter_groups(stereotype))
    ]
    return pa.table(
        {
            "id": [iris_steer_60.steer_id(*item) for item in items],
            "prompt": [iris_steer_60.steer_prompt(occupation, requested) for occupation, _, requested in items],
            "images": [iris_steer_60.images(revision)] * len(items),
        }
    )


def occupation_items(revision: str) -> pa.Table:
    """One row per image, with its question and its labels. BuildError REVISION_UNKNOWN."""
    ids = iris_ideal_52.image_ids(revision)
    occupation, group = iris_ideal_52.image_cells(revision)
    attributes = group_attributes(group)
    return pa.table(
        {
            "id": ids,
            "prompt": [iris_ideal_52.QUESTION] * len(occupation),
            "occupation": _named(OCCUPATIONS, occupation),
            "gender": _named(GENDERS, attributes[:, 0]),
            "age": _named(AGES, attributes[:, 1]),
            "skin_tone": _named(SKIN_TONES, attributes[:, 2]),
        }
    )


def tournament_items(revision: str) -> pa.Table:
    """One row per round. BuildError REVISION_UNKNOWN."""
    ids = iris_ideal_52.tournament_ids(revision)
    return pa.table({"id": ids, "prompt": iris_ideal_52.tournament_prompts(revision)})


def pair_items(revision: str) -> pa.Table:
    """One row per image of a pair and question, with the image's group. BuildError REVISION_UNKNOWN."""
    ids, plan = iris_steer_60.pair_ids(revision), iris_steer_60.pairs(revision)
    questions = iris_steer_60.SUBJECTIVE | iris_steer_60.OBJECTIVE
    names = [name.replace("_", " ") for name in OCCUPATIONS]
    prompts = pa.array([question.format(occupation=name) for name in names for question in questions.values()])
    asked = plan.occupation[:, None] * len(questions) + np.tile(np.arange(len(questions)), 2)
    groups = np.repeat(plan.groups.ravel(), len(questions))
    return pa.table({"id": ids, "prompt": prompts.take(pa.array(asked.ravel())), "group": _named(GROUPS, groups)})


def _named(names: Sequence[str], codes: NDArray[np.integer]) -> pa.Array:
    return pa.array(names).take(pa.array(codes))
