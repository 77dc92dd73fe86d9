"""All raw values of an IRIS submission, in the order of Table 6, their tables, and the samples behind them.

A value of images is in `image_quantities`, one of answers in `answer_quantities`.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.iris_score.standards import GRANULAR
from fairspace.metrics.resampling import Sample
from fairspace.submissions.answers.reading import Samples, one_hot
from fairspace.submissions.benchmarks.iris import image_quantities
from fairspace.submissions.benchmarks.iris.answer_quantities import (
    ACCURACY,
    DISTANCES,
    measure_occupations,
    measure_pairs,
    measure_tournament,
    occupation_design,
    pair_design,
    tournament_design,
)
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING
from fairspace.submissions.benchmarks.iris.records import LABELS, NEUTRAL, OCCUPATION, PAIR, TOURNAMENT, Records
from fairspace.submissions.values import Value

MEASURES: tuple[Callable[[Records], Iterable[Value]], ...] = (
    image_quantities.measure_neutral,
    image_quantities.measure_steer,
    measure_occupations,
    measure_tournament,
    measure_pairs,
)
"""Measures of a submission; a standard says which values are scored."""


def measure(records: Records) -> dict[str, Value]:
    """The raw values: the 60 in the order of Table 6, then further groups and regions, refusal gaps, competences."""
    values = {value.name: value for part in MEASURES for value in part(records)}
    printed = [metric.name for metric in GRANULAR if metric.name in values]
    further = [name for name in values if name not in set(printed)]
    last = sorted(further, key=lambda name: (name.startswith("competence"), name.startswith("refusal")))
    return {name: values[name] for name in (*printed, *last)}


def designs(records: Records) -> list[Sample]:
    """The designs of the tasks that were run: all 60 values, further drifts, and three competences."""
    parts: list[Sample] = []
    regions, revision, steer = records.regions, records.revision, records.steer
    if records.neutral is not None:
        parts.append(image_quantities.neutral_design(records.neutral, regions))
    if steer is not None and steer.shown == len(steer.plan):
        parts.append(image_quantities.steer_design(steer.measures.reshape(-1, steer.measures.shape[-1])))
    if records.occupations is not None:
        parts.append(occupation_design(records.occupations.codes(), regions, revision))
    if records.winners is not None:
        parts.append(tournament_design(records.winners, regions, revision))
    if records.pairs is not None:
        parts.append(pair_design(records.pairs))
    return parts


def samples(records: Records) -> Iterator[Samples]:
    """Samples behind the values of the tasks that were submitted: images, answers and rounds."""
    if records.neutral is not None:
        occupation, image = np.divmod(np.arange(len(records.neutral)), iris_gen_52.images(records.revision))
        for (attribute, labels), codes in zip(LABELS.items(), records.neutral.T, strict=True):
            yield Samples(
                image_quantities.disparity_name(attribute.removesuffix("_tone")),
                "1 for the group that an image shows and 0 for the others",
                one_hot(codes, len(labels)),
                NEUTRAL,
                occupation,
                sample=image,
                levels=occupation,
            )
    if records.occupations is not None:
        codes = records.occupations.codes()
        occupation, _ = iris_ideal_52.image_cells(records.revision)
        right = np.where(codes == MISSING, np.nan, codes == occupation)
        place = np.arange(len(codes))
        yield Samples(ACCURACY, "1 if the occupation is named", right, OCCUPATION, place, levels=occupation, fair=1.0)
    if records.winners is not None:
        competitors = iris_ideal_52.tournament_competitors(records.revision)
        rounds, occupation = np.indices(competitors.shape)[0].ravel(), competitors.ravel()
        winner = records.winners[rounds]
        won = np.where(winner >= 0, winner == occupation, np.nan)  # a round without a winner says nothing
        yield Samples("JSD_gender_US", "1 if an occupation wins its round", won, TOURNAMENT, rounds, levels=occupation)
    if (pairs := records.pairs) is not None:
        ratings = np.where(np.isfinite(pairs.ratings), pairs.ratings, np.nan)
        words = "|rating of one image less that of the other|", "1 if one image's answer is right alone"
        first = 0
        for (prefix, *_), score, answers in zip(DISTANCES, words, (ratings, pairs.correct), strict=True):
            apart = np.abs(answers[:, 0] - answers[:, 1])
            pair, question = np.indices(apart.shape).reshape(2, -1)
            place = pair * 2 * len(iris_steer_60.QUESTIONS) + first + question
            yield Samples(prefix, score, apart.ravel(), PAIR, place, levels=pairs.combination[pair])
            first += apart.shape[1]
