"""Samples behind the values of IRIS: images, answers and rounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.columns import Floats, Integers
from fairspace.submissions.answers.reading import Samples, one_hot
from fairspace.submissions.benchmarks.iris.generation import disparity_name
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING
from fairspace.submissions.benchmarks.iris.records import LABELS, NEUTRAL, OCCUPATION, PAIR, TOURNAMENT, Records


def samples(records: Records) -> list[Samples]:
    """Samples of the tasks that were submitted."""
    return [*_generation(records), *_occupations(records), *_tournament(records), *_pairs(records)]


def _generation(records: Records) -> Iterator[Samples]:
    if records.neutral is not None:
        occupation, image = np.divmod(np.arange(len(records.neutral)), iris_gen_52.images(records.revision))
        for (attribute, labels), codes in zip(LABELS.items(), records.neutral.T, strict=True):
            yield Samples(
                disparity_name(attribute.removesuffix("_tone")),
                "1 for the group that an image shows and 0 for the others",
                one_hot(codes, len(labels)),
                NEUTRAL,
                occupation,
                sample=image,
                levels=occupation,
            )


def _occupations(records: Records) -> Iterator[Samples]:
    if records.occupations is not None:
        codes = records.occupations.codes()
        occupation, _ = iris_ideal_52.image_cells(records.revision)
        yield Samples(
            "competence_accuracy",
            "1 if the occupation is named",
            np.where(codes == MISSING, np.nan, codes == occupation),
            OCCUPATION,
            np.arange(len(codes)),
            levels=occupation,
            fair=1.0,
        )


def _tournament(records: Records) -> Iterator[Samples]:
    """Wins of a round's five occupations; a round without a winner says nothing."""
    if records.winners is not None:
        competitors = iris_ideal_52.tournament_competitors(records.revision)
        rounds = np.indices(competitors.shape)[0].ravel()
        occupation, winner = competitors.ravel(), records.winners[rounds]
        yield Samples(
            "JSD_gender_US",
            "1 if an occupation wins its round",
            np.where(winner >= 0, winner == occupation, np.nan),
            TOURNAMENT,
            rounds,
            levels=occupation,
        )


def _pairs(records: Records) -> Iterator[Samples]:
    if records.pairs is None:
        return
    ratings = np.where(np.isfinite(records.pairs.ratings), records.pairs.ratings, np.nan)
    correct, of = records.pairs.correct, records.pairs.combination
    yield _pair("ac_diff", "|rating of one image less that of the other|", ratings, 0, of)
    yield _pair("dhr_inconsistency", "1 if one image's answer is right alone", correct, ratings.shape[2], of)


def _pair(value: str, score: str, answers: Floats, first: int, combination: Integers) -> Samples:
    """(6000, 2, q) answers -> the distance between a pair's images, question by question."""
    apart = np.abs(answers[:, 0] - answers[:, 1])
    pair, question = np.indices(apart.shape).reshape(2, -1)
    return Samples(
        value,
        score,
        apart.ravel(),
        PAIR,
        pair * 2 * len(iris_steer_60.QUESTIONS) + first + question,
        levels=combination[pair],
    )
