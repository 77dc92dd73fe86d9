"""How IRIS' counterfactual pairs are drawn anew: both images with all their answers are one cluster."""

from __future__ import annotations

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.submissions.benchmarks.iris.records import PAIR, parsed_answers
from fairspace.submissions.benchmarks.iris.resample.parts import indicator
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.uncertainty.design import Design, Floats, Times

_NOTE = "no floor: how far a fair model's two answers differ by chance shows only where a question is asked twice"


def pair_designs(submission: Submission) -> list[Design]:
    """The design of the pairs, if they were run."""
    if not submission.rows("responses", PAIR).num_rows:
        return []
    return [pair_design(*parsed_answers(submission))]


def pair_design(ratings: Floats, correct: Floats) -> Design:
    """AC difference and DHR inconsistency over the seven combinations, and the objective accuracy.

    Args:
        ratings: (6 000, 2, 9) from 1 to 10, nan: missing.
        correct: (6 000, 2, 8) 0 or 1, nan: missing.
    """
    combination = iris_steer_60.pairs().combination
    own = indicator(combination, len(COMBINATIONS))
    kinds = []
    for answers in (ratings, correct):
        difference = np.abs(answers[:, 0] - answers[:, 1])
        kinds += [own * np.nansum(difference, axis=1)[:, None], own * (~np.isnan(difference)).sum(axis=1)[:, None]]
    weights = np.concatenate([*kinds, np.nansum(correct, axis=(1, 2))[:, None] / correct.size], axis=1)

    def statistic(times: Times) -> Floats:
        found = times.astype(np.float64) @ weights
        sums, counts, changed, judged = np.split(found[:, :-1], 4, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.concatenate([sums / counts, changed / judged, found[:, -1:]], axis=1)

    differences, inconsistencies = (
        [f"{metric}_{name}" for name in COMBINATIONS] for metric in ("ac_diff", "dhr_inconsistency")
    )
    names = (*differences, *inconsistencies, "competence_objective_accuracy")
    return Design(
        task=f"iris/{PAIR}",
        unit="pair of a combination",
        strata=combination,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, 1.0)) | dict.fromkeys(differences, (0.0, 9.0)),
        notes=dict.fromkeys(names[:-1], _NOTE),
    )
