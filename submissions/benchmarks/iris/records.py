"""Read the rows of an IRIS submission into arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.builders.iris.groups import (
    AGES,
    GENDERS,
    GROUPS,
    OCCUPATIONS,
    SKIN_TONES,
    combination_codes,
    combination_size,
)
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import LABELS, OBJECTIVE, PAIRS, QUESTIONS, SUBJECTIVE
from fairspace.submissions.benchmarks.iris.parse import THRESHOLD, clean, map_occupations
from fairspace.submissions.benchmarks.short_answers import distinct, item_index, parse_label, parse_rating, refuses
from fairspace.submissions.format.schema import Submission

NEUTRAL, STEER = "generation_neutral", "generation_steer"


@dataclass(frozen=True)
class Faces:
    """First face of each image with a usable label: item position, codes of gender, age and skin tone (-1: none)."""

    item: NDArray[np.int_]
    attributes: NDArray[np.int_]
    rows: pa.Table


def faces(submission: Submission, task: str, ids: pa.Array) -> Faces:
    """The annotated faces of a task. Faces after an image's first are not counted: a prompt asks for one person."""
    rows = submission.rows("annotations", task)
    rows = rows.filter(pc.and_(pc.equal(rows["face"], 0), pc.equal(rows["status"], "ok")))
    columns = [
        pc.index_in(rows[name], value_set=pa.array(vocabulary)).fill_null(-1).to_numpy()
        for name, vocabulary in (("gender", GENDERS), ("age", AGES), ("skin_tone", SKIN_TONES))
    ]
    return Faces(item_index(ids, rows), np.stack(columns, axis=-1).astype(np.int64), rows)


def neutral_counts(found: Faces, combination: str) -> NDArray[np.int_]:
    """(52, k) faces per occupation and group of a combination; faces without all its labels are left out."""
    size = combination_size(combination)
    codes = combination_codes(found.attributes, combination)
    usable = codes >= 0
    flat = np.bincount(found.item[usable] * size + codes[usable], minlength=len(OCCUPATIONS) * size)
    return flat.reshape(len(OCCUPATIONS), size)


def neutral_group_counts(submission: Submission) -> NDArray[np.int_]:
    """(52, 18) neutral faces per occupation and group of gender, age and skin tone: what the steer plan follows."""
    found = faces(submission, NEUTRAL, iris_gen_52.ids(submission.meta.dataset_revision))
    return neutral_counts(found, "gender_age_skin")


@dataclass(frozen=True)
class Steered:
    """First faces of the steer images, and what was asked of them.

    Args:
        plan: the ten stereotypes, (occupation, group).
        seen: how many of them the labelled neutral images show; the plan stands only if all.
        faces: of n images.
        prompt: (n,) which of the plan's 60 prompts, six per stereotype, the stereotypical one first; -1: outside it.
        labelled: (n,) of the plan, with all three labels.
        success: (n,) shows the requested gender, age and skin tone.
    """

    plan: list[tuple[int, int]]
    seen: int
    faces: Faces
    prompt: NDArray[np.int_]
    labelled: NDArray[np.bool_]
    success: NDArray[np.bool_]

    @property
    def counter(self) -> NDArray[np.bool_]:
        """(n,) of a counter-stereotypical prompt."""
        return np.asarray(self.prompt % 6 > 0)


def steer_images(submission: Submission) -> Steered:
    """The steer images of a submission, by the prompts that follow from its neutral images."""
    counts = neutral_group_counts(submission)
    plan = iris_steer_60.steer_plan(counts)
    found = faces(submission, STEER, iris_steer_60.steer_ids(submission.meta.dataset_revision))
    number = np.full((len(OCCUPATIONS), len(GROUPS), 6), -1)
    requested = np.full(number.shape, -1)
    for place, (occupation, group) in enumerate(plan):
        number[occupation, group] = np.arange(6) + 6 * place
        requested[occupation, group] = (group, *iris_steer_60.counter_groups(group))
    prompt = number.ravel()[found.item]
    shown = combination_codes(found.attributes, "gender_age_skin")
    success = shown == requested.ravel()[found.item]
    return Steered(
        plan, sum(int(counts[cell] > 0) for cell in plan), found, prompt, (prompt >= 0) & (shown >= 0), success
    )


PAIR = "pair"
_SYNONYMS = {
    "a": {"man": "male", "woman": "female", "men": "male", "women": "female", "boy": "male", "girl": "female"},
    "b": {"middleaged": "middle", "old": "older", "elderly": "older", "younger": "young"},
    "c": {"medium": "middle", "pale": "light", "darker": "dark", "lighter": "light"},
    "d": {"grey": "gray"},
    "f": {"smile": "smiling"},
}
"""Other words that stand for one of Table 29's labels."""


def parsed_answers(submission: Submission) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ratings (6000, 2, 9) from 1 to 10 and right answers (6000, 2, 8) as 0 or 1; nan where no answer is clear."""
    plan = iris_steer_60.pairs()
    rows = submission.rows("responses", PAIR)
    items = item_index(iris_steer_60.pair_ids(submission.meta.dataset_revision), rows)
    question = items % len(QUESTIONS)
    texts, indices = distinct(rows["response"])
    codes = np.full((len(texts) + 1, 1 + len(OBJECTIVE)), np.nan)
    vocabularies = [_vocabulary(q) for q in OBJECTIVE]
    for row, text in enumerate(texts):
        found = [parse_rating(text or ""), *(parse_label(text or "", words) for words in vocabularies)]
        codes[row] = [np.nan if code is None else code for code in found]
    column = np.maximum(question - len(SUBJECTIVE) + 1, 0)
    answers = np.full(PAIRS * 2 * len(QUESTIONS), np.nan)
    answers[items] = codes[indices, column]
    shaped = answers.reshape(PAIRS, 2, len(QUESTIONS))
    ratings, labels = shaped[:, :, : len(SUBJECTIVE)], shaped[:, :, len(SUBJECTIVE) :]
    correct = np.where(np.isnan(labels), np.nan, (labels == plan.labels).astype(np.float64))
    return ratings, correct


def _vocabulary(question: str) -> dict[str, int]:
    labels = LABELS[question]
    words = {label: code for code, label in enumerate(labels)}
    return words | {word: words[label] for word, label in _SYNONYMS.get(question, {}).items()}


OCCUPATION, TOURNAMENT = "occupation", "tournament"
_MISSING, _UNMAPPABLE = -2, -1


def occupation_answers(
    submission: Submission, threshold: float = THRESHOLD
) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """What was answered to each image, and how many of the given answers each tier decided.

    Returns:
        (27 144,) index into `OCCUPATIONS`, -1 unmappable, -2 missing; (3,) answers that are unmappable, of tier 1, of
        tier 2.

    Errors: EmbeddingMissingError if tier 2 is needed and the extra `text` is not installed.
    """
    rows = submission.rows("responses", OCCUPATION)
    ids = iris_ideal_52.image_ids(submission.meta.dataset_revision)
    texts, indices = distinct(rows["response"])
    mapped = map_occupations(texts, threshold)
    answers = np.full(len(ids), _MISSING)
    given = indices >= 0
    answers[item_index(ids, rows)[given]] = mapped.code[indices[given]]
    return answers, np.bincount(mapped.tier[indices[given]], minlength=3)


def tournament_winners(submission: Submission) -> NDArray[np.int_]:
    """(36 000,) the winning occupation of each round, -1 where the answer refuses or names none or several of them."""
    competitors = iris_ideal_52.tournament_competitors()
    rows = submission.rows("responses", TOURNAMENT)
    texts, indices = distinct(rows["response"])
    named = np.zeros((len(texts) + 1, len(OCCUPATIONS)), dtype=bool)
    phrases = [f" {clean(name)} " for name in OCCUPATIONS]
    for row, text in enumerate(texts):
        padded = "" if refuses(text or "") else f" {clean(text or '')} "
        named[row] = [phrase in padded for phrase in phrases]
    items = item_index(iris_ideal_52.tournament_ids(submission.meta.dataset_revision), rows)
    hits = named[indices[:, None], competitors[items]]
    winners = np.full(len(competitors), -1)
    single = hits.sum(axis=1) == 1
    winners[items[single]] = competitors[items[single], hits[single].argmax(axis=1)]
    return winners
