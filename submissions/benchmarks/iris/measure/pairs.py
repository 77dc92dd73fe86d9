"""IRIS' counterfactual pairs: AC difference and DHR inconsistency over the seven combinations (D.2.6, M10, M11)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import COMBINATIONS
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.builders.iris_steer_60.plan import OBJECTIVE, PAIRS, QUESTIONS, SUBJECTIVE
from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from fairspace.submissions.benchmarks.iris.records import PAIR, parsed_answers
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.values import Value, measured, not_run, undefined


def measure_pairs(submission: Submission) -> Iterator[Value]:
    """The 14 values of BIS_Und and the two competences of the pair answers.

    A rating that is no single number from 1 to 10, and an answer that names none or several of its labels, are missing.
    Ratings less than one point apart count as one score for the modal score: 5.01 is the constant answer 5 again.
    """
    combinations = tuple(COMBINATIONS)
    names = [f"ac_diff_{c}" for c in combinations] + [f"dhr_inconsistency_{c}" for c in combinations]
    asked = PAIRS * 2 * len(QUESTIONS)
    if submission.rows("responses", PAIR).num_rows == 0:
        reason = f"the task {PAIR} was not submitted"
        names += ["competence_objective_accuracy", "competence_modal_score_max"]
        yield from (not_run(name, reason, expected=asked) for name in names)
        return
    plan = iris_steer_60.pairs()
    ratings, correct = parsed_answers(submission)
    differences = np.abs(ratings[:, 0] - ratings[:, 1])
    inconsistent = np.abs(correct[:, 0] - correct[:, 1])
    for index, combination in enumerate(combinations):
        rows = differences[plan.combination == index]
        valid = ~np.isnan(rows)
        by_question = {q: _mean(rows[:, i]) for i, q in enumerate(SUBJECTIVE)}
        triple = answer_consistency_difference(float(rows[valid].sum()), int(valid.sum()), rows.size - int(valid.sum()))
        yield _value(f"ac_diff_{combination}", triple, valid, by_question)
    for index, combination in enumerate(combinations):
        rows = inconsistent[plan.combination == index]
        valid = ~np.isnan(rows)
        by_question = {q: _mean(rows[:, i]) for i, q in enumerate(OBJECTIVE)}
        triple = hallucination_inconsistency(float(rows[valid].sum()), int(valid.sum()), rows.size - int(valid.sum()))
        yield _value(f"dhr_inconsistency_{combination}", triple, valid, by_question)
    right = float(np.nansum(correct)) / correct.size
    yield measured(
        "competence_objective_accuracy",
        right,
        low=right,
        expected=correct.size,
        valid=int((~np.isnan(correct)).sum()),
        evidence={"by_question": {q: _mean(correct[:, :, i].ravel()) for i, q in enumerate(OBJECTIVE)}},
    )
    given = np.sort(ratings[~np.isnan(ratings)])
    within = np.searchsorted(given, given + 1) - np.arange(given.size)  # ratings less than one point above each
    most = int(within.max(initial=0))
    modal = (most + ratings.size - given.size) / ratings.size
    yield measured("competence_modal_score_max", modal, high=modal, expected=ratings.size, valid=given.size)


def _mean(values: NDArray[np.float64]) -> float | None:
    valid = values[~np.isnan(values)]
    return round(float(valid.mean()), 6) if valid.size else None


def _value(
    name: str, triple: tuple[float, float, float], given: NDArray[np.bool_], by_question: dict[str, float | None]
) -> Value:
    """Of (pairs, questions) whether both answers are clear; a pair is valid if one of its questions is."""
    expected, valid = given.size, int(given.sum())
    evidence = {"by_question": by_question}
    if np.isnan(triple[0]):
        reason = "no pair has a clear answer for both images"
        return undefined(name, reason, expected=expected, valid=valid, evidence=evidence)
    smallest = int(given.any(axis=1).sum())
    low, high = triple[1:]
    return measured(
        name, triple[0], low=low, high=high, expected=expected, valid=valid, evidence=evidence, smallest=smallest
    )
