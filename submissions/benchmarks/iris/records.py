"""The records of an IRIS submission: its tables, read once into arrays of codes in the order of the plans."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.builders.iris.groups import (
    AGES,
    GENDERS,
    GROUPS,
    OCCUPATIONS,
    REGIONS,
    REVISIONS,
    SKIN_TONES,
    Region,
    combination_codes,
    combination_size,
    read_region,
    shares,
)
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import LABELS as ANSWERS
from fairspace.builders.iris_steer_60.plan import QUESTIONS, STEREOTYPES, SUBJECTIVE
from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.iris_score.standards import REGION
from fairspace.submissions.answers.reading import OUTCOMES, Misread
from fairspace.submissions.benchmarks.iris.parse.rows import (
    MISSING,
    REFUSED,
    THRESHOLD,
    UNMAPPABLE,
    EmbeddingMissingError,
    Matches,
    occupation_codes,
    occupation_rows,
    pair_codes,
    pair_rows,
    winner_rows,
)
from fairspace.submissions.format.schema import Attribute, Submission
from fairspace.submissions.reading.canonical import item_index
from fairspace.submissions.uncertainty.label_errors import LabelChecks, human_codes, label_checks


@dataclass(frozen=True)
class OccupationAnswers:
    """Answers to the occupation question; `text`, (27 144,), in the core (936,): index into `texts`, -1: missing."""

    text: Integers
    matches: Matches
    refused: NDArray[np.bool_]
    texts: tuple[str, ...]

    def codes(self, threshold: float = THRESHOLD) -> Integers:
        """(n,) index into `OCCUPATIONS`, else `UNMAPPABLE`, `REFUSED` or `MISSING`."""
        codes, _ = self.matches.at(threshold)
        return np.append(np.where((codes < 0) & self.refused, REFUSED, codes), MISSING)[self.text]

    def tiers(self, threshold: float = THRESHOLD) -> Integers:
        """(3,) answers that are unmappable, decided by tier 1, decided by tier 2."""
        _, tiers = self.matches.at(threshold)
        return np.bincount(tiers[self.text[self.text >= 0]], minlength=3)


@dataclass(frozen=True)
class PairAnswers:
    """Answers about both images of each counterfactual pair.

    Args:
        ratings: (6000, 2, 9) from 1 to 10, inf: the answer gives none, nan: not handed in.
        correct: (6000, 2, 8) 1 for the right label, 0 for another one or none, nan: not handed in.
        labelled: (6000, 2, 8) whether the answer gives a label.
        refused: (6000, 2, 17) whether the answer declines.
        groups: (6000, 2) group in the revision's plan, index into `GROUPS`.
        combination: (6000,) attributes in which the images differ, index into `COMBINATIONS`.

    The core has 140 pairs in place of 6000.
    """

    ratings: Floats
    correct: Floats
    labelled: NDArray[np.bool_]
    refused: NDArray[np.bool_]
    groups: Integers
    combination: Integers


def read_occupations(rows: pa.Table, submission: Submission) -> OccupationAnswers:
    """The answers to the occupation question. EmbeddingMissingError as `parse.nearest.match`."""
    ids = iris_ideal_52.image_ids(submission.meta.dataset_revision)
    read = occupation_rows(submission)
    answers = np.full(len(ids), -1)
    answers[item_index(ids, rows)] = read.readings.place
    refused = np.array([reading.outcome == "refused" for reading in read.readings.distinct], dtype=np.bool_)
    return OccupationAnswers(answers, read.matches, refused, read.texts)


def read_winners(submission: Submission) -> Integers:
    """(36 000,) winners of the tournament's rounds."""
    winners = np.full(len(iris_ideal_52.tournament_ids(submission.meta.dataset_revision)), MISSING)
    readings, items = winner_rows(submission)
    winners[items] = occupation_codes(readings)
    return winners


def read_pairs(submission: Submission) -> PairAnswers:
    """The answers about counterfactual pairs."""
    readings, items = pair_rows(submission)
    plan = iris_steer_60.pairs(submission.meta.dataset_revision)
    shape = len(plan.occupation), 2, len(QUESTIONS)
    codes, refused = np.full(np.prod(shape), np.nan), np.zeros(np.prod(shape), np.bool_)
    codes[items], refused[items] = pair_codes(readings), readings.outcomes() == OUTCOMES.index("refused")
    ratings, labels = np.split(codes.reshape(shape), [len(SUBJECTIVE)], axis=2)
    right = (labels == plan.labels).astype(np.float64)
    correct = np.where(np.isnan(labels), np.nan, right)
    return PairAnswers(ratings, correct, np.isfinite(labels), refused.reshape(shape), plan.groups, plan.combination)


NEUTRAL, STEER = "generation_neutral", "generation_steer"
OCCUPATION, TOURNAMENT, PAIR = "occupation", "tournament", "pair"
PROMPTS = 6
"""Steer prompts of a stereotype: the stereotypical one first, then five counter-stereotypical ones."""
LABELS: Mapping[Attribute, tuple[str, ...]] = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES}
QUALITY = {
    "Penalty_QPS": "image_quality",
    "Penalty_FQP": "face_quality",
    "Penalty_SIL": "prompt_similarity",
    "Penalty_SCL": "reference_similarity",
}
"""M8 and M9: penalty -> its annotation column."""
OK, FACELESS = "ok", "no_face"
FACELESS_LEFT_OUT = ("v1",)
"""Dataset revisions that leave out steer images without a face; elsewhere these are failures."""


@dataclass(frozen=True)
class Steered:
    """Steer images of the ten stereotypes of `plan`, which stands only if the neutral images show all ten (`shown`).

    `measures`, (10, 6, 100, 5), nan: missing: success (requested gender, age, skin tone; 0 or 1), scores as `QUALITY`.
    """

    plan: list[tuple[int, int]]
    shown: int
    measures: Floats
    outside: int


@dataclass(frozen=True)
class Records:
    """Records behind IRIS' values. A task that was not submitted or cannot be read is None; `absent` has the reason.

    Args:
        neutral: (8320, 3) gender, age and skin tone in each neutral image, 160 of each occupation; -1: no label.
        steer: None also without neutral images, which decide the prompts.
        winners: (36 000,) the winner of each round of the tournament, else `UNMAPPABLE`, `REFUSED` or `MISSING`.
        people: (8320, 3) people's labels of the neutral images, -1: no label.
        faceless: neutral images without a face, and all that were handed in.
        regions: labour figures to compare with.

    The core has 8 images of an occupation, 5 of a steer prompt, and 900 rounds.
    """

    absent: Mapping[str, str]
    neutral: Integers | None = None
    steer: Steered | None = None
    occupations: OccupationAnswers | None = None
    winners: Integers | None = None
    pairs: PairAnswers | None = None
    people: Integers | None = None
    checks: LabelChecks | None = None
    faceless: tuple[int, int] = (0, 0)
    revision: str = REVISIONS[0]
    regions: tuple[Region, ...] = REGIONS


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
            human = human_codes(submission, NEUTRAL, faces, tuple(LABELS))
            people = _neutral_labels(faces, human, revision)
    if neutral is None:
        absent.setdefault(STEER, absent[NEUTRAL])
    elif STEER not in absent:
        faces = _first_faces(tables[STEER], (OK,) if revision in FACELESS_LEFT_OUT else (OK, FACELESS))
        steer = _read_steer(faces, neutral_counts(neutral, "gender_age_skin"), revision)
    if OCCUPATION not in absent:
        try:
            occupations = read_occupations(tables[OCCUPATION], submission)
        except EmbeddingMissingError as error:
            absent[OCCUPATION] = str(error)
    winners = None if TOURNAMENT in absent else read_winners(submission)
    pairs = None if PAIR in absent else read_pairs(submission)
    statuses = tables[NEUTRAL].filter(pc.equal(tables[NEUTRAL]["face"], 0))["status"].to_pylist()
    faceless = statuses.count(FACELESS), len(statuses)
    return Records(absent, neutral, steer, occupations, winners, pairs, people, checks, faceless, revision)


def with_region(records: Records, file: Path) -> tuple[Records, str]:
    """The records with a region's own figures, and the name of their standard. Errors as `read_region`."""
    region = read_region(file)
    return replace(records, regions=(*REGIONS, region)), "_".join([REGION + region.code, *shares(region)])


def neutral_group_counts(submission: Submission) -> Integers:
    """(52, 18) neutral faces per occupation and group, from which the steer plan follows."""
    faces = _first_faces(submission.rows("annotations", NEUTRAL))
    labels = _neutral_labels(faces, _labels(faces), submission.meta.dataset_revision)
    return neutral_counts(labels, "gender_age_skin")


def neutral_counts(labels: Integers, combination: str) -> Integers:
    """(8320, 3) labels -> (52, k) images per occupation and group; those without all of its labels are left out."""
    size = combination_size(combination)
    codes = combination_codes(labels, combination)
    occupation = np.arange(len(labels)) // (len(labels) // len(OCCUPATIONS))
    usable = codes >= 0
    flat = np.bincount(occupation[usable] * size + codes[usable], minlength=len(OCCUPATIONS) * size)
    return flat.reshape(len(OCCUPATIONS), size)


def _first_faces(rows: pa.Table, statuses: tuple[str, ...] = (OK,)) -> pa.Table:
    """The usable first face of each image: a prompt asks for one person."""
    return rows.filter(pc.and_(pc.equal(rows["face"], 0), pc.is_in(rows["status"], value_set=pa.array(statuses))))


def _labels(faces: pa.Table) -> Integers:
    """(n, 3) codes of gender, age and skin tone, -1: no label."""
    columns = [
        pc.index_in(faces[name], value_set=pa.array(labels)).fill_null(-1).to_numpy() for name, labels in LABELS.items()
    ]
    return np.stack(columns, axis=-1).astype(np.int64)


def _neutral_labels(faces: pa.Table, labels: Integers, revision: str) -> Integers:
    images = iris_gen_52.images(revision)
    planned = np.full((len(OCCUPATIONS) * images, len(LABELS)), -1)
    item = item_index(iris_gen_52.ids(revision), faces)
    planned[item * images + faces["sample"].to_numpy()] = labels
    return planned


def _read_steer(faces: pa.Table, counts: Integers, revision: str) -> Steered:
    """Place the steer images by the plan of (52, 18) neutral counts; an image without a face is a failure (D.2.3)."""
    plan = iris_steer_60.steer_plan(counts)
    place = np.full((len(OCCUPATIONS), len(GROUPS), PROMPTS), -1)
    requested = np.full(place.shape, -1)
    for number, (occupation, group) in enumerate(plan):
        place[occupation, group] = np.arange(PROMPTS) + PROMPTS * number
        requested[occupation, group] = (group, *iris_steer_60.counter_groups(group))
    item = item_index(iris_steer_60.steer_ids(revision), faces)
    prompt = place.ravel()[item]
    combinations = combination_codes(_labels(faces), "gender_age_skin")
    faceless = pc.equal(faces["status"], FACELESS).to_numpy()
    columns = [np.where(faceless, 0.0, np.where(combinations >= 0, combinations == requested.ravel()[item], np.nan))]
    columns += [faces[name].to_numpy().astype(np.float64) for name in QUALITY.values()]
    planned = prompt >= 0
    measures = np.full((STEREOTYPES * PROMPTS, iris_steer_60.images(revision), len(columns)), np.nan)
    measures[prompt[planned], faces["sample"].to_numpy()[planned]] = np.stack(columns, axis=-1)[planned]
    shown = sum(int(counts[cell] > 0) for cell in plan)
    return Steered(plan, shown, measures.reshape(STEREOTYPES, PROMPTS, *measures.shape[1:]), int((~planned).sum()))


def misread(records: Records, revision: str, tasks: Mapping[str, Misread]) -> Records:
    """The records with some answers taken for others."""
    if (changed := tasks.get(OCCUPATION)) is not None and (occupations := records.occupations) is not None:
        added, matches, place = np.arange(len(OCCUPATIONS)), occupations.matches, occupations.text.copy()
        codes = np.array([OCCUPATIONS.index(text) if text else len(OCCUPATIONS) for text in changed.texts], np.int64)
        place[changed.items] = len(occupations.refused) + codes
        direct = np.concatenate([matches.direct, added, [UNMAPPABLE]])
        nearest, similarity, refused = (
            np.append(column, np.full(len(added) + 1, none))
            for column, none in ((matches.nearest, -1), (matches.similarity, np.nan), (occupations.refused, False))
        )
        read = replace(occupations, text=place, matches=Matches(direct, nearest, similarity), refused=refused)
        records = replace(records, occupations=read)
    if (changed := tasks.get(TOURNAMENT)) is not None and records.winners is not None:
        winners = records.winners.copy()
        winners[changed.items] = [OCCUPATIONS.index(text) if text else UNMAPPABLE for text in changed.texts]
        records = replace(records, winners=winners)
    if (changed := tasks.get(PAIR)) is not None and records.pairs is not None:
        records = replace(records, pairs=_misread_pairs(records.pairs, revision, changed))
    return records


def _misread_pairs(pairs: PairAnswers, revision: str, changed: Misread) -> PairAnswers:
    right = iris_steer_60.pairs(revision).labels
    ratings, correct = pairs.ratings.copy(), pairs.correct.copy()
    labelled, refused = pairs.labelled.copy(), pairs.refused.copy()
    for item, text in zip(changed.items.tolist(), changed.texts, strict=True):
        image, place = divmod(item, len(QUESTIONS))
        at, label = (*divmod(image, 2), place), place - len(SUBJECTIVE)
        refused[at] = False
        if label < 0:
            ratings[at] = float(text or "inf")
        else:
            correct[(*at[:2], label)] = bool(text) and ANSWERS[QUESTIONS[place]].index(text) == right[(*at[:2], label)]
            labelled[(*at[:2], label)] = bool(text)
    return replace(pairs, ratings=ratings, correct=correct, labelled=labelled, refused=refused)
