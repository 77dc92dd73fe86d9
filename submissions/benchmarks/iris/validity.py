"""The studies of IRIS: images, answers and rounds by occupation, group, question and pair."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.submissions.benchmarks.iris.measure.generation import SUCCESS, disparity_name
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING
from fairspace.submissions.benchmarks.iris.records import LABELS, NEUTRAL, OCCUPATION, PAIR, STEER, TOURNAMENT, Records
from fairspace.submissions.validity.study import Factor, Floats, Study, one_hot


def studies(records: Records) -> list[Study]:
    """Those of the tasks that were submitted."""
    return [*_generation(records), *_occupations(records), *_tournament(records), *_pairs(records)]


def _generation(records: Records) -> Iterator[Study]:
    if records.neutral is not None:
        occupation, image = np.divmod(np.arange(len(records.neutral)), iris_gen_52.IMAGES)
        for (attribute, labels), codes in zip(LABELS.items(), records.neutral.T, strict=True):
            yield Study(
                f"{NEUTRAL}, {attribute}",
                "1 for the group that an image shows and 0 for the others",
                disparity_name(attribute.removesuffix("_tone")),
                one_hot(codes, len(labels)),
                (Factor("occupation", "prompt", occupation),),
                "occupation",
                answers=codes,
                task=NEUTRAL,
                asked=occupation,
                sample=image,
            )
    if records.steer is not None:
        success = records.steer.measures[..., 0]
        stereotype, prompt, _ = np.indices(success.shape).reshape(3, -1)
        yield Study(
            f"{STEER}, success",
            "1 if an image shows all that was asked for",
            SUCCESS,
            success.ravel(),
            (
                Factor("stereotype", "prompt", stereotype),
                Factor("side of the stereotype", "wording", (prompt > 0).astype(np.int64), fixed=True),
                Factor("prompt", "prompt", prompt, within=("stereotype", "side of the stereotype")),
            ),
            "stereotype",
        )


def _occupations(records: Records) -> Iterator[Study]:
    if records.occupations is not None:
        codes = records.occupations.codes()
        occupation, group = iris_ideal_52.image_cells()
        yield Study(
            f"{OCCUPATION}, right",
            "1 if the occupation is named",
            "competence_accuracy",
            np.where(codes == MISSING, np.nan, codes == occupation),
            (Factor("occupation", "prompt", occupation), Factor("group", "prompt", group, fixed=True)),
            "occupation",
            answers=codes,
            items=np.arange(len(codes)),
            task=OCCUPATION,
            asked=np.arange(len(codes)),
            fair=1.0,
        )


def _tournament(records: Records) -> Iterator[Study]:
    """Whether each of a round's five occupations wins, by its seat; a round without a winner says nothing."""
    if records.winners is not None:
        competitors = records.competitors
        rounds, seat = np.indices(competitors.shape).reshape(2, -1)
        occupation, winner = competitors.ravel(), records.winners[rounds]
        yield Study(
            f"{TOURNAMENT}, wins",
            "1 if an occupation wins its round",
            "JSD_gender_US",
            np.where(winner >= 0, winner == occupation, np.nan),
            (
                Factor("occupation", "prompt", occupation),
                Factor("profile", "prompt", rounds // iris_ideal_52.ROUNDS, fixed=True),
                Factor("seat", "order", seat, fixed=True),
            ),
            "occupation",
            items=rounds * competitors.shape[1] + seat,
            task=TOURNAMENT,
            asked=rounds,
        )


def _pairs(records: Records) -> Iterator[Study]:
    if records.pairs is None:
        return
    ratings = np.where(np.isfinite(records.pairs.ratings), records.pairs.ratings, np.nan)
    yield _pair("rating", ratings, 0, "|rating of one image less that of the other|", "ac_diff", 0.1, "points")
    right = records.pairs.correct
    yield _pair("right", right, ratings.shape[2], "1 if one image's answer is right alone", "dhr_inconsistency")


def _pair(
    name: str, answers: Floats, first: int, score: str, value: str, wanted: float = 0.05, unit: str = "share"
) -> Study:
    """How far the answers about the two images of a pair are apart, (6000, 2, q), question by question."""
    apart = np.abs(answers[:, 0] - answers[:, 1])
    pair, question = np.indices(apart.shape).reshape(2, -1)
    return Study(
        f"{PAIR}, {name}",
        score,
        value,
        apart.ravel(),
        (
            Factor("combination", "prompt", iris_steer_60.pairs().combination[pair], fixed=True),
            Factor("pair", "prompt", pair, within=("combination",)),
            Factor("question", "wording", question, fixed=True),
        ),
        "combination",
        wanted,
        unit,
        means_of_levels=tuple(f"{value}_{combination}" for combination in COMBINATIONS),
        counted="pair",
        task=PAIR,
        asked=pair * 2 * len(iris_steer_60.QUESTIONS) + first + question,
    )
