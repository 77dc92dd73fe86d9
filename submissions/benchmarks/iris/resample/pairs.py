"""How IRIS' counterfactual pairs are drawn anew: both images with all their answers are one cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import COMBINATIONS, GROUP_NAMES, GROUPS
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.submissions.benchmarks.iris.measure.pairs import differences, value_names
from fairspace.submissions.benchmarks.iris.measure.refusals import refusal_disparities, refusal_names
from fairspace.submissions.benchmarks.iris.records import PAIR
from fairspace.submissions.benchmarks.iris.resample.parts import indicator, ratio
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Times

_NOTE = "no floor: how far a fair model's two answers differ by chance shows only where a question is asked twice"


def pair_design(
    ratings: Floats,
    correct: Floats,
    labelled: NDArray[np.bool_] | None = None,
    refused: NDArray[np.bool_] | None = None,
    groups: Integers | None = None,
) -> Design:
    """AC difference and DHR inconsistency over the seven combinations, the objective accuracy, and refusal gaps.

    Args:
        ratings: (6 000, 2, 9) from 1 to 10, inf: none is given, nan: not handed in.
        correct: (6 000, 2, 8) 0 or 1, nan: not handed in.
        labelled: (6 000, 2, 8) whether a label is given; None: always.
        refused: (6 000, 2, 17) whether the answer declines; None: never.
        groups: (6 000, 2) the group that each image shows; None: as the shipped plan has it. What differs in a pair is
            the same in every plan.
    """
    combination = iris_steer_60.pairs().combination
    members = indicator(combination, len(COMBINATIONS))
    columns = []
    handed_in = np.concatenate([~np.isnan(ratings), ~np.isnan(correct)], axis=-1)
    clear = (np.isfinite(ratings), ~np.isnan(correct) if labelled is None else labelled)
    for apart, both in zip((differences(ratings), np.abs(correct[:, 0] - correct[:, 1])), clear, strict=True):
        sums, pairs = np.nansum(apart, axis=1), (~np.isnan(apart)).sum(axis=1)
        measured = members * (np.asarray(both.all(axis=1)).any(axis=1) @ members > 0)
        columns += [measured * sums[:, None], measured * pairs[:, None]]
    by_group = None
    if refused is not None and refused.any():
        shown = iris_steer_60.pairs().groups if groups is None else groups
        by_group = np.concatenate([_by_group(shown, refused), _by_group(shown, handed_in)], axis=1)
    judged = [np.nansum(correct, axis=(1, 2)), (~np.isnan(correct)).sum(axis=(1, 2))]
    weights = np.concatenate([*columns, np.stack(judged, axis=1)], axis=1)

    def statistic(times: Times) -> Floats:
        drawn = times.astype(np.float64)
        totals = drawn @ weights
        sums, counts, changed, judged = np.split(totals[:, :-2], 4, axis=1)
        consistency, _, _ = answer_consistency_difference(sums, counts, 0)
        inconsistency, _, _ = hallucination_inconsistency(changed, judged, 0)
        refusals = np.zeros((len(times), len(GROUP_NAMES)))
        if by_group is not None:
            refusals = refusal_disparities(*np.split(drawn @ by_group, 2, axis=1))
        return np.concatenate([consistency, inconsistency, ratio(totals[:, -2:-1], totals[:, -1:]), refusals], axis=1)

    consistencies, inconsistencies = value_names()
    compared = (*consistencies, *inconsistencies)
    names = (*compared, "competence_objective_accuracy", *refusal_names(PAIR))
    return Design(
        task=f"iris/{PAIR}",
        unit="pair of a combination",
        strata=combination,
        names=names,
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, 1.0)) | dict.fromkeys(consistencies, (0.0, 9.0)),
        notes=dict.fromkeys(compared, _NOTE),
        intervals=dict.fromkeys(compared, "normal"),
    )


def _by_group(groups: Integers, answers: NDArray[np.bool_]) -> Floats:
    """(6 000, 2, q) -> (6 000, 18) how many answers hold, by the group that the image shows."""
    counts = answers.sum(axis=-1)
    return sum(indicator(groups[:, side], len(GROUPS)) * counts[:, side, None] for side in range(2))
