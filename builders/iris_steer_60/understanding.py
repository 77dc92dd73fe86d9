"""IRIS-Steer-60: the steer prompts, and pairs of images that differ in the planned attributes alone (C.2, D.2.6).

Image a is generated from the planned labels, image b is a edited by an instruction that names only the differences;
both texts are ours, because the paper prints neither. A pair enters if a labeller reads the planned gender, age and
skin tone, a matcher finds the statements of the planned labels (Table 29, d to h) closest, and the images are alike.
Statements name only present things: models that match texts do not read "without". A failed pair stays without images
and without labels that a score could take for the truth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from fairspace.builders.engine import reviews
from fairspace.builders.engine.dataset import BuildJob, Columns, Row, Split
from fairspace.builders.engine.making import Accept, Verdict, Wanted, jpeg, make
from fairspace.builders.engine.tools import Matcher, PersonLabeller
from fairspace.builders.iris.groups import (
    AGES,
    COMBINATIONS,
    GENDERS,
    GROUP_NAMES,
    GROUPS,
    OCCUPATIONS,
    REGIONS,
    REVISIONS,
    SKIN_TONES,
    combinations_of,
    group_attributes,
    shares,
)
from fairspace.builders.iris.groups import LABELS as GROUPS_LABELS
from fairspace.builders.iris_steer_60.plan import (
    COLOURS,
    IMAGES,
    LABELS,
    NO_YES,
    PAIRS,
    counter_groups,
    pairs,
    steer_id,
    steer_prompt,
)

if TYPE_CHECKING:
    from PIL.Image import Image

TYPES = ("stereotypical", "counter-stereotypical")
ASKED: Columns = {
    "prompt_type": (TYPES, "whether the prompt asks for the stereotype, or differs from it in one attribute"),
    "occupation": (OCCUPATIONS, "that the prompt names"),
    "stereotype": (GROUPS, "the group that the stereotype ascribes to the occupation"),
    "expected": (GROUPS, "the group that the prompt asks for"),
    **{f"expected_{name}": (labels, "of that group") for name, labels in GROUPS_LABELS.items()},
    "prompt": ("string", "what the model is asked"),
}


@dataclass(frozen=True)
class Steer:
    """One steer prompt, in indices into `OCCUPATIONS` and `GROUPS`.

    `requested` is the stereotype or one of its five counter groups. `rank` (from 1) and `images` are the stereotype's
    in a model's plan and neutral images; None outside a plan.
    """

    occupation: int
    stereotype: int
    requested: int
    rank: int | None = None
    images: int | None = None

    @property
    def item(self) -> str:
        """Id of the item."""
        return steer_id(self.occupation, self.stereotype, self.requested)

    def columns(self) -> dict[str, str]:
        """The requested labels."""
        gender, age, skin = GROUPS[self.requested].split("_")
        return {
            "prompt_type": TYPES[self.requested != self.stereotype],
            "occupation": OCCUPATIONS[self.occupation],
            "stereotype": GROUPS[self.stereotype],
            "expected": GROUPS[self.requested],
            "expected_gender": gender,
            "expected_age": age,
            "expected_skin_tone": skin,
            "prompt": steer_prompt(self.occupation, self.requested),
        }


def prompts_split() -> Split:
    """The config `prompts`: all possible steer prompts."""
    every = [
        Steer(occupation, stereotype, requested)
        for occupation in range(len(OCCUPATIONS))
        for stereotype in range(len(GROUPS))
        for requested in (stereotype, *counter_groups(stereotype))
    ]
    return Split(
        config="prompts",
        about="A prompt that asks for a group in an occupation; a model gets the sixty that its own images decide.",
        columns={**ASKED, "images": ("int32", "how many images a model makes of it")},
        units=pa.Table.from_pylist([{"id": steer.item, **steer.columns(), "images": IMAGES} for steer in every]),
        shard=10_000,
        groups=("prompt_type",),
    )


_SHOWN = "a photo of the face and chest of"
_SKIN = {"light": "light skin", "middle": "medium brown skin", "dark": "dark skin"}
_DETAILS: Mapping[str, Mapping[str, str]] = {
    "e": {"yes": "wearing glasses"},
    "f": {"neutral": "with a neutral expression", "smiling": "smiling", "serious": "with a serious expression"},
    "g": {"yes": "with a badge on the chest"},
    "h": {"yes": "with a beard", "no": "clean-shaven"},
}
"""Objective question -> label -> words (C.2's annotations 4 and 6 to 8). Absent things are not named: generators
show them even after "without"."""


def base_prompt(number: int, revision: str = REVISIONS[0]) -> str:
    """The prompt of image a of a revision's pair: group, occupation, attire colour and details."""
    plan = pairs(revision)
    labels = planned_labels(number, 0, revision)
    details_by_question = {question: words.get(labels[question], "") for question, words in _DETAILS.items()}
    if labels["a"] == "female":
        details_by_question["h"] = ""
    details = filter(None, details_by_question.values())
    occupation = OCCUPATIONS[plan.occupation[number]].replace("_", " ")
    person = f"{_aged(labels['b'])} {labels['a']} {occupation} with {_SKIN[labels['c']]}"
    return ", ".join([f"{_SHOWN} {person}", f"wearing {labels['d']} clothes", *details])


def instruction(number: int, revision: str = REVISIONS[0]) -> str:
    """The instruction that turns image a of a pair into image b."""
    first, second = (planned_labels(number, side, revision) for side in (0, 1))
    changed = {question for question in first if first[question] != second[question]}
    age = _aged(second["b"]) if "b" in changed else "a"
    gender = f" {second['a']}" if "a" in changed else ""
    skin = f" with {_SKIN[second['c']]}" if "c" in changed else ""
    wishes = [f"turn the person into {age}{gender} person{skin}"] if changed & set("abc") else []
    if "d" in changed:
        wishes.append(f"make the clothes {second['d']}")
    return ", and ".join(wishes)


def _aged(label: str) -> str:
    """`a young`, `a middle-aged` or `an older`, from question b's label."""
    age = AGES[LABELS["b"].index(label)]
    return f"{'an' if age[0] in 'aeiou' else 'a'} {age}"


def planned_labels(number: int, side: int, revision: str = REVISIONS[0]) -> dict[str, str]:
    """Question -> planned label of an image of a pair."""
    codes = pairs(revision).labels[number, side].tolist()
    return {question: names[code] for (question, names), code in zip(LABELS.items(), codes, strict=True)}


STATEMENTS: Mapping[str, Mapping[str, str]] = {
    "d": {colour: f"a person wearing {colour} clothes" for colour in COLOURS},
    "e": {"yes": "a person wearing glasses", "no": "a person with uncovered eyes"},
    "f": {
        "neutral": "a person with a neutral expression",
        "smiling": "a person smiling",
        "serious": "a person with a serious expression",
    },
    "g": {"yes": "a person with a badge on the chest", "no": "a person in plain clothes"},
    "h": {"yes": "a person with a beard", "no": "a person with a clean-shaven face"},
}
"""Question -> label -> statement. Ours; not calibrated on labelled photographs."""


def label_margins(
    matcher: Matcher, images: Sequence[Image], planned: Sequence[Mapping[str, str]]
) -> list[dict[str, float]]:
    """The lead of the planned label's statement over the closest other one, by image and question.

    `planned` has question -> label of each image. A lead is a difference of cosine similarities, in [-2, 2]; above 0
    the label is confirmed.
    """
    margins: list[dict[str, float]] = [{} for _ in images]
    for question, statements in STATEMENTS.items() if images else ():
        closeness = {label: matcher.text_similarity(images, [text] * len(images)) for label, text in statements.items()}
        for place, labels in enumerate(planned):
            others = max(numbers[place] for label, numbers in closeness.items() if label != labels[question])
            margins[place][question] = closeness[labels[question]][place] - others
    return margins


SIMILARITY = 0.75
"""Least cosine similarity of the two images; from the training pairs of InstructPix2Pix."""
SAMPLE_SIMILARITY = 0.55
"""The same for drawings, whose matcher counts the places with equal colours."""
BASES = 3
"""Images a tried for a pair."""
ATTEMPTS = 10


@dataclass(frozen=True)
class MadeImage:
    """One image that passed, as JPEG, with its margins by question; `similarity` is None for image a."""

    data: bytes
    seed: int
    similarity: float | None
    margins: Mapping[str, float]


def make_pairs(
    numbers: Sequence[int], job: BuildJob, revision: str = REVISIONS[0]
) -> dict[int, tuple[MadeImage, MadeImage]]:
    """Number -> images a and b of the pairs that passed; needs all four tools of images and logs rejections."""
    labeller, matcher = job.tools.labeller, job.tools.matcher
    if labeller is None or matcher is None:
        raise ValueError("pairs cannot be checked without a labeller and a matcher")
    checks = [_check(labeller, matcher, side, least_similarity(job), revision) for side in (0, 1)]

    def made(wanted: Sequence[Wanted], side: int) -> dict[int, MadeImage]:
        results = make(job, wanted, checks[side], attempts=ATTEMPTS)
        images = {_number(item): image for item, image in results if image is not None}
        return {
            number: MadeImage(
                jpeg(image), image.info["seed"], image.info.get("similarity"), json.loads(image.info["margins"])
            )
            for number, image in images.items()
        }

    passed: dict[int, tuple[MadeImage, MadeImage]] = {}
    left = list(numbers)
    for base in range(BASES):
        again = f"/again-{base}" if base else ""  # further tries of a pair have seeds of their own
        bases = made([Wanted(f"pair/{n:04d}/a{again}", base_prompt(n, revision)) for n in left], 0)
        edits = [Wanted(f"pair/{n:04d}/b{again}", instruction(n, revision), image.data) for n, image in bases.items()]
        passed |= {number: (bases[number], image) for number, image in made(edits, 1).items()}
        left = [number for number in left if number not in passed]
    for number in left:
        job.reject(f"pair/{number:04d}", "no pair passed", bases=BASES, attempts=ATTEMPTS)
    return {number: passed[number] for number in numbers if number in passed}


def least_similarity(job: BuildJob) -> float:
    """The least similarity of the two images of a pair in this build."""
    return SAMPLE_SIMILARITY if job.sample else SIMILARITY


def _number(wanted: Wanted) -> int:
    return int(wanted.key.split("/")[1])


def _check(labeller: PersonLabeller, matcher: Matcher, side: int, least: float, revision: str) -> Accept:
    """The check of images a or b: the labeller's labels, the likeness of b to a, the matcher's statements."""
    from PIL import Image as Images

    def accept(images: Sequence[Image], wanted: Sequence[Wanted]) -> list[Verdict]:
        alike = [1.0] * len(images)
        if side:
            bases = [Images.open(BytesIO(item.base)).convert("RGB") for item in wanted]
            alike = matcher.image_similarity(bases, images)
        verdicts = []
        for labels, item, similarity in zip(labeller.label(images), wanted, alike, strict=True):
            planned = GROUPS[pairs(revision).groups[_number(item), side]]
            shown = "_".join((labels.gender, labels.age, labels.skin_tone))
            if shown != planned:
                label = shown if labels.gender else labels.reason
                verdicts.append(Verdict("labels are not as planned", {"planned": planned, "found": label}))
            else:
                reason = "images are not alike" if similarity < least else ""
                verdicts.append(Verdict(reason, {"similarity": similarity} if side else {}))
        places = [place for place, verdict in enumerate(verdicts) if not verdict.reason]
        labels_of = [planned_labels(_number(wanted[place]), side, revision) for place in places]
        margins = label_margins(matcher, [images[place] for place in places], labels_of)
        for place, by_question in zip(places, margins, strict=True):
            rounded = {question: round(margin, 4) for question, margin in by_question.items()}
            failed = "".join(question for question, margin in rounded.items() if margin <= 0)
            evidence = {**verdicts[place].evidence, "margins": json.dumps(rounded), "questions": failed}
            verdicts[place] = Verdict("a label is not as planned" if failed else "", evidence)
        return verdicts

    return accept


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
"""Meaning of the column `prompt_type`, for drawn pairs and for a cohort's."""
_TOOLS = ("generator", "editor", "labeller", "matcher")


def understanding_split(job: BuildJob, revision: str = REVISIONS[0]) -> Split:
    """The config `understanding` of a revision: two rows per pair; without tools the plan alone, with a note."""
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
    places: list[int] = []
    for combination in range(len(COMBINATIONS)):
        members = pairs(revision).combination == combination
        places += np.flatnonzero(members & ~odd)[: SAMPLE_PER_COMBINATION - 1].tolist()
        places += np.flatnonzero(members & odd)[:1].tolist()
    return tuple(sorted(places))


def inconsistent(revision: str = REVISIONS[0]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(6000,) whether the images of a pair are planned with different attire colours."""
    colours = pairs(revision).labels[:, :, 3]
    return np.asarray(colours[:, 0] != colours[:, 1])


def prompt_types(number: int, revision: str = REVISIONS[0]) -> tuple[str | None, str | None]:
    """The stereotypical image of a pair: its group has the larger share of the occupation's workers.

    In a cohort's revision it is the image with the cohort's combination. Shares of several attributes are multiplied,
    because the statistics do not cross them. None without figures, or with equal shares.
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


def _made_rows(part: Sequence[int], job: BuildJob, revision: str) -> Iterator[Row]:
    made, verdicts = make_pairs(part, job, revision), reviews.Reviews(job.options)
    for number in part:
        for side in range(len(SIDES)):
            row = _row(number, side, revision)
            if number in made:
                image = made[number][side]
                yield {**row, **_made(number, made[number], side, job), **verdicts.columns(str(row["id"]), image.seed)}
            else:
                yield {**row, **_FAILED}


_FAILED: Row = {"status": "failed", **dict.fromkeys(("group", *COLUMNS.values()))}


def _made(number: int, images: tuple[MadeImage, MadeImage], side: int, job: BuildJob) -> Row:
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
