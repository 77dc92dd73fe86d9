"""How IRIS' counterfactual pairs are drawn anew: both images with all their answers are one cluster."""

from __future__ import annotations

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.submissions.benchmarks.iris.measure.pairs import value_names
from fairspace.submissions.benchmarks.iris.records import PAIR
from fairspace.submissions.benchmarks.iris.resample.parts import indicator
from fairspace.submissions.uncertainty.design import Design, Floats, Times

_NOTE = "no floor: how far a fair model's two answers differ by chance shows only where a question is asked twice"


def pair_design(ratings: Floats, correct: Floats) -> Design:
    """AC difference and DHR inconsistency over the seven combinations, and the objective accuracy.

    Args:
        ratings: (6 000, 2, 9) from 1 to 10, nan: missing.
        correct: (6 000, 2, 8) 0 or 1, nan: missing.
    """
    combination = iris_steer_60.pairs().combination
    members = indicator(combination, len(COMBINATIONS))
    columns = []
    for answers in (ratings, correct):
        difference = np.abs(answers[:, 0] - answers[:, 1])
        sums, pairs = np.nansum(difference, axis=1), (~np.isnan(difference)).sum(axis=1)
        columns += [members * sums[:, None], members * pairs[:, None]]
    weights = np.concatenate([*columns, np.nansum(correct, axis=(1, 2))[:, None] / correct.size], axis=1)

    def statistic(times: Times) -> Floats:
        totals = times.astype(np.float64) @ weights
        sums, counts, changed, judged = np.split(totals[:, :-1], 4, axis=1)
        consistency, _, _ = answer_consistency_difference(sums, counts, 0)
        inconsistency, _, _ = hallucination_inconsistency(changed, judged, 0)
        return np.concatenate([consistency, inconsistency, totals[:, -1:]], axis=1)

    differences, inconsistencies = value_names()
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
