"""IRIS' counterfactual pairs: AC difference and DHR inconsistency over the seven combinations (D.2.6, M10, M11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import COMBINATIONS
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import OBJECTIVE, PAIRS, QUESTIONS, SUBJECTIVE
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference, rating_differences
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.submissions.benchmarks.iris.records import PAIR, Records
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.values import Value, measured, measured_share, not_run, undefined

Formula = Callable[[float, int, int], tuple[Floats, Floats, Floats]]
"""Sum of the differences, pairs, missing pairs -> value and bounds."""


def measure_pairs(records: Records) -> Iterator[Value]:
    """The 14 values of BIS_Und and the two competences of the pair answers.

    An answer that declines, or names none or several of its labels, is a wrong one; one that gives no single number
    from 1 to 10 differs from the rating of the other image as far as the scale allows.
    Ratings less than one point apart count as one score for the modal score: 5.01 is the constant answer 5 again.
    """
    consistency, inconsistency = value_names()
    pairs = records.pairs
    if pairs is None:
        names = (*consistency, *inconsistency, "competence_objective_accuracy", "competence_modal_score_max")
        expected = PAIRS * 2 * len(QUESTIONS)
        yield from (not_run(name, records.absent[PAIR], expected=expected) for name in names)
        return
    ratings, correct = pairs.ratings, pairs.correct
    rated = np.asarray(np.isfinite(ratings).all(axis=1))
    labelled = np.asarray(pairs.labelled.all(axis=1))
    changes = np.abs(correct[:, 0] - correct[:, 1])
    yield from _differences(consistency, differences(ratings), rated, tuple(SUBJECTIVE), answer_consistency_difference)
    yield from _differences(inconsistency, changes, labelled, tuple(OBJECTIVE), hallucination_inconsistency)
    by_question = {"by_question": {q: _mean(correct[:, :, i].ravel()) for i, q in enumerate(OBJECTIVE)}}
    judged = int((~np.isnan(correct)).sum())
    yield measured_share("competence_objective_accuracy", float(np.nansum(correct)), judged, correct.size, by_question)
    given = np.sort(ratings[np.isfinite(ratings)])
    within = np.searchsorted(given, given + 1) - np.arange(given.size)  # ratings less than one point above each
    handed_in = int((~np.isnan(ratings)).sum())
    modal = int(within.max(initial=0)) + handed_in - given.size
    yield measured_share("competence_modal_score_max", modal, handed_in, ratings.size)


def value_names() -> tuple[list[str], list[str]]:
    """The names of the AC differences and of the DHR inconsistencies, by combination."""
    return [f"ac_diff_{name}" for name in COMBINATIONS], [f"dhr_inconsistency_{name}" for name in COMBINATIONS]


def differences(ratings: Floats) -> Floats:
    """(6000, 9) how far the ratings of both images of a pair differ, nan where one was not handed in."""
    return rating_differences(ratings[:, 0], ratings[:, 1])


def _differences(
    names: Sequence[str], apart: Floats, clear: NDArray[np.bool_], questions: Sequence[str], formula: Formula
) -> Iterator[Value]:
    """How far the answers about both images differ, for the pairs of each combination.

    Args:
        names: of the values, by combination.
        apart: (6000, q) how far they differ, nan: one was not handed in.
        clear: (6000, q) whether both give a rating or a label.
        questions: (q,) their names.
        formula: of the values.
    """
    combination = iris_steer_60.pairs().combination
    for index, name in enumerate(names):
        rows = apart[combination == index]
        handed_in = ~np.isnan(rows)
        expected, valid, both = rows.size, int(handed_in.sum()), int(clear[combination == index].sum())
        evidence = {
            "by_question": {question: _mean(rows[:, i]) for i, question in enumerate(questions)},
            "both_clear": both,
        }
        value, low, high = map(float, formula(float(rows[handed_in].sum()), valid, expected - valid))
        if np.isnan(value) or not both:
            reason = "no pair has a clear answer for both images"
            yield undefined(name, reason, expected=expected, valid=valid, evidence=evidence)
            continue
        smallest = int(handed_in.any(axis=1).sum())  # a pair counts if one of its questions does
        yield measured(
            name, value, low=low, high=high, expected=expected, valid=valid, evidence=evidence, smallest=smallest
        )


def _mean(values: Floats) -> float | None:
    valid = values[~np.isnan(values)]
    return round(float(valid.mean()), 6) if valid.size else None
