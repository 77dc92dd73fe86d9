"""The answers of an IRIS submission to the understanding tasks, read once into arrays in the order of the plans."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import PAIRS, QUESTIONS, SUBJECTIVE
from fairspace.submissions.answers.reading import OUTCOMES
from fairspace.submissions.benchmarks.iris.parse.nearest import THRESHOLD, Matches
from fairspace.submissions.benchmarks.iris.parse.rows import (
    MISSING,
    REFUSED,
    occupation_codes,
    occupation_rows,
    pair_codes,
    pair_rows,
    winner_rows,
)
from fairspace.submissions.benchmarks.short_answers import item_index
from fairspace.submissions.format.schema import Submission

Integers = NDArray[np.int_]
Floats = NDArray[np.float64]


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
        groups: (6000, 2) index into `GROUPS` of what the images show by the revision's plan.
    """

    ratings: Floats
    correct: Floats
    labelled: NDArray[np.bool_]
    refused: NDArray[np.bool_]
    groups: Integers


def read_occupations(rows: pa.Table, submission: Submission) -> OccupationAnswers:
    """The answers to the occupation question. EmbeddingMissingError as `parse.nearest.match`."""
    ids = iris_ideal_52.image_ids(submission.meta.dataset_revision)
    read = occupation_rows(submission)
    answers = np.full(len(ids), -1)
    answers[item_index(ids, rows)] = read.readings.place
    refused = np.array([reading.outcome == "refused" for reading in read.readings.distinct], dtype=np.bool_)
    return OccupationAnswers(answers, read.matches, refused, read.texts)


def read_winners(submission: Submission) -> Integers:
    """(36 000,) the winners of the tournament's rounds."""
    winners = np.full(len(iris_ideal_52.tournament_competitors()), MISSING)
    readings, items = winner_rows(submission)
    winners[items] = occupation_codes(readings)
    return winners


def read_pairs(submission: Submission) -> PairAnswers:
    """The answers about counterfactual pairs."""
    readings, items = pair_rows(submission)
    codes, refused = np.full(PAIRS * 2 * len(QUESTIONS), np.nan), np.zeros(PAIRS * 2 * len(QUESTIONS), np.bool_)
    codes[items], refused[items] = pair_codes(readings), readings.outcomes() == OUTCOMES.index("refused")
    ratings, labels = np.split(codes.reshape(PAIRS, 2, len(QUESTIONS)), [len(SUBJECTIVE)], axis=2)
    plan = iris_steer_60.pairs(submission.meta.dataset_revision)
    right = (labels == plan.labels).astype(np.float64)
    correct = np.where(np.isnan(labels), np.nan, right)
    return PairAnswers(ratings, correct, np.isfinite(labels), refused.reshape(PAIRS, 2, len(QUESTIONS)), plan.groups)
