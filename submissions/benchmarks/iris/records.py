"""The records of an IRIS submission: its tables, read once into arrays of codes in the order of the plans."""

from __future__ import annotations

from collections.abc import Mapping
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
from fairspace.builders.iris_steer_60.plan import PAIRS, QUESTIONS, STEREOTYPES, SUBJECTIVE
from fairspace.submissions.answers.reading import OUTCOMES
from fairspace.submissions.benchmarks.iris.parse.nearest import THRESHOLD, EmbeddingMissingError, Matches
from fairspace.submissions.benchmarks.iris.parse.rows import (
    MISSING,
    REFUSED,
    SubmittedReadings,
    occupation_codes,
    pair_codes,
)
from fairspace.submissions.benchmarks.short_answers import item_index
from fairspace.submissions.format.schema import Attribute, Submission
from fairspace.submissions.uncertainty.label_errors import LabelChecks, human_codes, label_checks

NEUTRAL, STEER = "generation_neutral", "generation_steer"
OCCUPATION, TOURNAMENT, PAIR = "occupation", "tournament", "pair"
PROMPTS = 6
"""Steer prompts of a stereotype: the stereotypical one first, then five counter-stereotypical ones."""
LABELS: Mapping[Attribute, tuple[str, ...]] = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES}
"""Annotation column -> its labels, in the order of their codes."""
QUALITY = {
    "Penalty_QPS": "image_quality",
    "Penalty_FQP": "face_quality",
    "Penalty_SIL": "prompt_similarity",
    "Penalty_SCL": "reference_similarity",
}
"""M8 and M9: the annotation column that each penalty is taken from."""
Integers = NDArray[np.int_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Steered:
    """The steer images, placed by the prompts that follow from the neutral images.

    Args:
        plan: the ten stereotypes, (occupation, group), in the order of their counts.
        shown: how many of them the labelled neutral images show; the plan stands only if all.
        measures: (10, 6, 100, 5) of each image of each stereotype's prompts whether it succeeds, 0 or 1, and its scores
            in the order of `QUALITY`; nan: missing. A success shows the requested gender, age and skin tone.
        outside: how many images are of other prompts.
    """

    plan: list[tuple[int, int]]
    shown: int
    measures: Floats
    outside: int


@dataclass(frozen=True)
class OccupationAnswers:
    """The answers to the occupation question.

    Args:
        text: (27 144,) the place of each image's answer among the distinct ones, -1: not handed in.
        matches: the occupations that the distinct answers match.
        refused: (n,) whether each distinct answer declines.
        texts: the distinct answers.
    """

    text: Integers
    matches: Matches
    refused: NDArray[np.bool_]
    texts: tuple[str, ...]

    def codes(self, threshold: float = THRESHOLD) -> Integers:
        """(27 144,) index into `OCCUPATIONS`, else `UNMAPPABLE`, `REFUSED` or `MISSING`."""
        codes, _ = self.matches.at(threshold)
        return np.append(np.where((codes < 0) & self.refused, REFUSED, codes), MISSING)[self.text]

    def tiers(self, threshold: float = THRESHOLD) -> Integers:
        """(3,) how many answers are unmappable, decided by tier 1, decided by tier 2."""
        _, tiers = self.matches.at(threshold)
        return np.bincount(tiers[self.text[self.text >= 0]], minlength=3)


@dataclass(frozen=True)
class PairAnswers:
    """The answers about counterfactual pairs, of both images of each pair.

    Args:
        ratings: (6000, 2, 9) from 1 to 10, inf: the answer gives none, nan: not handed in.
        correct: (6000, 2, 8) 1 for the right label, 0 for another one or none, nan: not handed in.
        labelled: (6000, 2, 8) whether the answer gives a label.
        refused: (6000, 2, 17) whether the answer declines, of all questions.
    """

    ratings: Floats
    correct: Floats
    labelled: NDArray[np.bool_]
    refused: NDArray[np.bool_]


@dataclass(frozen=True)
class Records:
    """What IRIS' values are measured on. A task that was not submitted, or cannot be read, is None.

    Args:
        absent: the reason for each task that is None.
        neutral: (8320, 3) gender, age and skin tone in each neutral image, 160 of each occupation; -1: no label.
        steer: the steer images; None also without neutral images, which decide the prompts.
        occupations: the answers to the occupation question.
        winners: (36 000,) the winner of each round of the tournament, else `UNMAPPABLE`, `REFUSED` or `MISSING`.
        pairs: the answers about counterfactual pairs.
        people: (8320, 3) what people saw in the neutral images, -1: no label; None without label checks.
        checks: the submission's label checks, None without them.
    """

    absent: Mapping[str, str]
    neutral: Integers | None = None
    steer: Steered | None = None
    occupations: OccupationAnswers | None = None
    winners: Integers | None = None
    pairs: PairAnswers | None = None
    people: Integers | None = None
    checks: LabelChecks | None = None


def read(submission: Submission) -> Records:
    """The records of a checked submission."""
    revision, checks = submission.meta.dataset_revision, label_checks(submission)
    tables = {task: submission.rows("annotations", task) for task in (NEUTRAL, STEER)}
    tables |= {task: submission.rows("responses", task) for task in (OCCUPATION, TOURNAMENT, PAIR)}
    absent = {task: f"the task {task} was not submitted" for task, rows in tables.items() if not rows.num_rows}
    neutral = people = steer = occupations = None
    if NEUTRAL not in absent:
        faces = _first_faces(tables[NEUTRAL])
        neutral = _neutral_labels(faces, _labels(faces), revision)
        if checks is not None:
            seen = human_codes(submission, NEUTRAL, faces, tuple(LABELS))
            people = _neutral_labels(faces, seen, revision)
    if neutral is None:
        absent.setdefault(STEER, absent[NEUTRAL])
    elif STEER not in absent:
        steer = _read_steer(_first_faces(tables[STEER]), neutral_counts(neutral, "gender_age_skin"), revision)
    if OCCUPATION not in absent:
        try:
            occupations = _read_occupations(tables[OCCUPATION], submission)
        except EmbeddingMissingError as error:
            absent[OCCUPATION] = str(error)
    winners = None if TOURNAMENT in absent else _read_winners(tables[TOURNAMENT], submission)
    pairs = None if PAIR in absent else _read_pairs(tables[PAIR], submission)
    return Records(absent, neutral, steer, occupations, winners, pairs, people, checks)


def neutral_group_counts(submission: Submission) -> Integers:
    """(52, 18) neutral faces per occupation and group of gender, age and skin tone: what the steer plan follows."""
    faces = _first_faces(submission.rows("annotations", NEUTRAL))
    labels = _neutral_labels(faces, _labels(faces), submission.meta.dataset_revision)
    return neutral_counts(labels, "gender_age_skin")


def neutral_counts(labels: Integers, combination: str) -> Integers:
    """(8320, 3) labels -> (52, k) images per occupation and group; those without all of its labels are left out."""
    size = combination_size(combination)
    codes = combination_codes(labels, combination)
    occupation = np.arange(len(labels)) // iris_gen_52.IMAGES
    usable = codes >= 0
    flat = np.bincount(occupation[usable] * size + codes[usable], minlength=len(OCCUPATIONS) * size)
    return flat.reshape(len(OCCUPATIONS), size)


def _first_faces(rows: pa.Table) -> pa.Table:
    """The usable first face of each image: a prompt asks for one person, so that further faces are not counted."""
    return rows.filter(pc.and_(pc.equal(rows["face"], 0), pc.equal(rows["status"], "ok")))


def _labels(faces: pa.Table) -> Integers:
    """(n, 3) codes of gender, age and skin tone, -1: no label."""
    columns = [
        pc.index_in(faces[name], value_set=pa.array(labels)).fill_null(-1).to_numpy() for name, labels in LABELS.items()
    ]
    return np.stack(columns, axis=-1).astype(np.int64)


def _neutral_labels(faces: pa.Table, labels: Integers, revision: str) -> Integers:
    """(n, 3) labels of faces -> (8320, 3) labels of the planned images."""
    planned = np.full((len(OCCUPATIONS) * iris_gen_52.IMAGES, len(LABELS)), -1)
    item = item_index(iris_gen_52.ids(revision), faces)
    planned[item * iris_gen_52.IMAGES + faces["sample"].to_numpy()] = labels
    return planned


def _read_steer(faces: pa.Table, counts: Integers, revision: str) -> Steered:
    """Place the steer images by the plan that follows from (52, 18) counts of neutral images."""
    plan = iris_steer_60.steer_plan(counts)
    place = np.full((len(OCCUPATIONS), len(GROUPS), PROMPTS), -1)
    requested = np.full(place.shape, -1)
    for number, (occupation, group) in enumerate(plan):
        place[occupation, group] = np.arange(PROMPTS) + PROMPTS * number
        requested[occupation, group] = (group, *iris_steer_60.counter_groups(group))
    item = item_index(iris_steer_60.steer_ids(revision), faces)
    prompt = place.ravel()[item]
    seen = combination_codes(_labels(faces), "gender_age_skin")
    columns = [np.where(seen >= 0, seen == requested.ravel()[item], np.nan)]
    columns += [faces[name].to_numpy().astype(np.float64) for name in QUALITY.values()]
    planned = prompt >= 0
    measures = np.full((STEREOTYPES * PROMPTS, iris_steer_60.IMAGES, len(columns)), np.nan)
    measures[prompt[planned], faces["sample"].to_numpy()[planned]] = np.stack(columns, axis=-1)[planned]
    shown = sum(int(counts[cell] > 0) for cell in plan)
    return Steered(plan, shown, measures.reshape(STEREOTYPES, PROMPTS, *measures.shape[1:]), int((~planned).sum()))


def _read_occupations(rows: pa.Table, submission: Submission) -> OccupationAnswers:
    ids = iris_ideal_52.image_ids(submission.meta.dataset_revision)
    read = SubmittedReadings.of(submission).occupations(rows)
    answers = np.full(len(ids), -1)
    answers[item_index(ids, rows)] = read.readings.place
    refused = np.array([reading.outcome == "refused" for reading in read.readings.distinct], dtype=np.bool_)
    return OccupationAnswers(answers, read.matches, refused, read.texts)


def _read_winners(rows: pa.Table, submission: Submission) -> Integers:
    winners = np.full(len(iris_ideal_52.tournament_competitors()), MISSING)
    revision = submission.meta.dataset_revision
    items = item_index(iris_ideal_52.tournament_ids(revision), rows)
    winners[items] = occupation_codes(SubmittedReadings.of(submission).winners(rows, revision))
    return winners


def _read_pairs(rows: pa.Table, submission: Submission) -> PairAnswers:
    revision = submission.meta.dataset_revision
    readings = SubmittedReadings.of(submission).pairs(rows, revision)
    items = item_index(iris_steer_60.pair_ids(revision), rows)
    codes, refused = np.full(PAIRS * 2 * len(QUESTIONS), np.nan), np.zeros(PAIRS * 2 * len(QUESTIONS), np.bool_)
    codes[items], refused[items] = pair_codes(readings), readings.outcomes() == OUTCOMES.index("refused")
    ratings, labels = np.split(codes.reshape(PAIRS, 2, len(QUESTIONS)), [len(SUBJECTIVE)], axis=2)
    right = (labels == iris_steer_60.pairs().labels).astype(np.float64)
    correct = np.where(np.isnan(labels), np.nan, right)
    return PairAnswers(ratings, correct, np.isfinite(labels), refused.reshape(PAIRS, 2, len(QUESTIONS)))
