"""The understanding part of IRIS-Steer-60: pairs of images that differ in the planned attributes alone (C.2, D.2.6).

Image a is generated from the planned labels; image b is a, edited by an instruction that names only what shall differ
(`pairs.py`). Gender, age and skin tone are what a labeller reads; the other labels are what was asked for and a matcher
confirms (`statements.py`). A pair that no attempt passed stands as failed: without images, and without labels that a
score could take for the truth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fairspace.builders.engine import reviews
from fairspace.builders.engine.dataset import Job, Row, Split
from fairspace.builders.iris.groups import (
    AGES,
    COMBINATIONS,
    GENDERS,
    GROUP_NAMES,
    GROUPS,
    OCCUPATIONS,
    SKIN_TONES,
    group_attributes,
)
from fairspace.builders.iris.labour import REGIONS, shares
from fairspace.builders.iris.revisions import REVISIONS, combinations_of
from fairspace.builders.iris_steer_60.pairs import MadeImage, least_similarity, make_pairs
from fairspace.builders.iris_steer_60.plan import COLOURS, LABELS, NO_YES, PAIRS, pairs
from fairspace.builders.iris_steer_60.prompts import TYPES
from fairspace.builders.iris_steer_60.wording import base_prompt, instruction

CONFIG = "understanding"
SIDES = ("a", "b")
STATUSES = ("made", "failed", "planned")
SAMPLE_PER_COMBINATION = 6
COLUMNS = {
    "a": "gender",
    "b": "age",
    "c": "skin_tone",
    "d": "uniform_color",
    "e": "has_accessories",
    "f": "facial_expression",
    "g": "has_insignia",
    "h": "has_facial_hair",
}
"""Objective question -> the column with its answer; the names are C.2's."""
_TYPED = (
    "which of the two the U.S. labour figures (Table 22) make the more usual in the occupation, by the attributes that "
    "differ; null where there are no figures, or equal ones",
    "which of the two shows the occupation and group in which the cohort's models are most biased",
)
"""What the column `prompt_type` says, of drawn pairs and of a cohort's."""
_TOOLS = ("generator", "editor", "labeller", "matcher")


def understanding_split(job: Job, revision: str = REVISIONS[0]) -> Split:
    """The config `understanding` of a revision: two rows per pair.

    Without tools to make images, the plan alone, with a note.
    """
    missing = [role for role in _TOOLS if getattr(job.tools, role) is None]
    if missing:
        job.note(f"No {', '.join(missing)} was named, so the pairs of {CONFIG} are planned and have no images.")
    return Split(
        config=CONFIG,
        about="One of two images that differ in one of the seven attribute combinations; 17 questions are asked of it.",
        columns={
            "pair": ("int32", "number of the pair"),
            "side": (SIDES, "a: generated; b: edited from a"),
            "status": (
                STATUSES,
                "made: the image shows all of its labels; failed: no attempt at the pair passed, so it has no images "
                "and no labels; planned: no models were named to make it",
            ),
            "image": ("image", "JPEG; null unless it was made"),
            "origin": (("models", "synthetic"), "synthetic"),
            "occupation": (OCCUPATIONS, "that the image shows"),
            "prompt_type": (TYPES, _TYPED[bool(combinations_of(revision))]),
            "combination": (list(COMBINATIONS), "the attributes that differ"),
            "intentional_inconsistency": (
                NO_YES,
                "whether the attire colours differ too, so that 'the same' is no safe answer",
            ),
            "group": (GROUPS, "gender, age and skin tone as planned and as the labeller reads them"),
            "gender": (GENDERS, "perceived"),
            "age": (
                AGES,
                "young 0-39, middle-aged 40-64, older from 65; the question calls them young, middle and older",
            ),
            "skin_tone": (SKIN_TONES, "perceived: light Monk 1-3, middle 4-7, dark 8-10"),
            "uniform_color": (COLOURS, "of the uniform or attire, as asked for"),
            "has_accessories": (NO_YES, "as asked for: glasses"),
            "facial_expression": (LABELS["f"], "as asked for"),
            "has_insignia": (NO_YES, "as asked for: a badge"),
            "has_facial_hair": (NO_YES, "as asked for"),
            "prompt": ("string", "what image a was generated from; for b the instruction to edit a"),
            "generator": ("string", "what generated image a"),
            "editor": ("string", "what edited it; null for a"),
            "seed": ("int64", "of the image"),
            "label_margins": (
                "string",
                "JSON: column -> how much closer, by the matcher's cosine, the statement of its label is than that of "
                "any other label; above 0 in every image, and null unless it was made",
            ),
            "similarity": (
                "float64",
                f"cosine similarity of the two images, at least {least_similarity(job)}",
            ),
            **reviews.COLUMNS,
        },
        units=sample_pairs(revision) if job.sample else range(PAIRS),
        rows=lambda part: _planned_rows(part, revision) if missing else _made_rows(part, job, revision),
        shard=250,
        groups=("combination", "intentional_inconsistency", "status"),
        id="with `/` and a question's id behind it, the item id of an answer",
    )


def sample_pairs(revision: str = REVISIONS[0]) -> tuple[int, ...]:
    """Six pairs of each combination, one of them inconsistent: the first ones in the plan."""
    odd = inconsistent(revision)
    chosen: list[int] = []
    for combination in range(len(COMBINATIONS)):
        members = pairs(revision).combination == combination
        chosen += np.flatnonzero(members & ~odd)[: SAMPLE_PER_COMBINATION - 1].tolist()
        chosen += np.flatnonzero(members & odd)[:1].tolist()
    return tuple(sorted(chosen))


def inconsistent(revision: str = REVISIONS[0]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(6000,) whether the images of a pair are planned with different attire colours."""
    colours = pairs(revision).labels[:, :, 3]
    return np.asarray(colours[:, 0] != colours[:, 1])


def prompt_types(number: int, revision: str = REVISIONS[0]) -> tuple[str | None, str | None]:
    """Which image of a pair is stereotypical: the group with the larger share of the occupation's workers.

    In a pair of a cohort's revision it is the image that shows the cohort's combination.
    Shares of several attributes are multiplied, because the statistics do not cross them. None where the occupation has
    no figures, or the shares are equal.
    """
    plan = pairs(revision)
    if plan.biased is not None:
        return TYPES[::-1] if plan.biased[number] else TYPES
    figures = shares(next(region for region in REGIONS if region.code == "US"))
    attributes = group_attributes(plan.groups[number])
    weight = np.ones(len(SIDES))
    for position in tuple(COMBINATIONS.values())[plan.combination[number]]:
        weight *= figures[tuple(GROUP_NAMES)[position]][plan.occupation[number], attributes[:, position]]
    if np.isnan(weight).any() or weight[0] == weight[1]:
        return None, None
    return TYPES if weight[0] > weight[1] else TYPES[::-1]


def _row(number: int, side: int, revision: str) -> dict[str, object]:
    """What is planned for an image."""
    plan = pairs(revision)
    codes = plan.labels[number, side].tolist()
    answers = {column: names[code] for (column, names), code in zip(_answers().items(), codes, strict=True)}
    return {
        "id": f"pair/{number:04d}/{SIDES[side]}",
        "pair": number,
        "side": SIDES[side],
        "status": "planned",
        "image": None,
        "origin": "synthetic",
        "occupation": OCCUPATIONS[plan.occupation[number]],
        "prompt_type": prompt_types(number, revision)[side],
        "combination": tuple(COMBINATIONS)[plan.combination[number]],
        "intentional_inconsistency": "yes" if inconsistent(revision)[number] else "no",
        "group": GROUPS[plan.groups[number, side]],
        **answers,
        "prompt": instruction(number, revision) if side else base_prompt(number, revision),
        **dict.fromkeys(("generator", "editor", "seed", "label_margins", "similarity", *reviews.COLUMNS)),
    }


def _answers() -> Mapping[str, Sequence[str]]:
    return {column: AGES if column == "age" else LABELS[question] for question, column in COLUMNS.items()}


def _planned_rows(part: Sequence[int], revision: str) -> Iterator[Row]:
    for number in part:
        yield from (_row(number, side, revision) for side in range(len(SIDES)))


def _made_rows(part: Sequence[int], job: Job, revision: str) -> Iterator[Row]:
    made, said = make_pairs(part, job, revision), reviews.Reviews(job.options)
    for number in part:
        for side in range(len(SIDES)):
            row = _row(number, side, revision)
            if number in made:
                image = made[number][side]
                yield {**row, **_made(number, made[number], side, job), **said.columns(str(row["id"]), image.seed)}
            else:
                yield {**row, **_FAILED}


_FAILED: Row = {"status": "failed", **dict.fromkeys(("group", *COLUMNS.values()))}


def _made(number: int, images: tuple[MadeImage, MadeImage], side: int, job: Job) -> Row:
    """What a row of a pair says of its image."""
    image, (generator, editor) = images[side], (job.tools.generator, job.tools.editor)
    return {
        "status": "made",
        "image": {"bytes": image.data, "path": f"{number:04d}-{SIDES[side]}.jpg"},
        "generator": generator.name if generator else None,
        "editor": editor.name if editor and side else None,
        "seed": image.seed,
        "label_margins": json.dumps({COLUMNS[question]: margin for question, margin in image.margins.items()}),
        "similarity": images[1].similarity,
    }
