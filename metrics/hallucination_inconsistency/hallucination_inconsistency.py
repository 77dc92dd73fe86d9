"""Hallucination inconsistency as an `evaluate` module: columns in, the number with its bounds and evidence out."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import MetricInputError, check_lengths, check_names, distinct, encode, outcome
from fairspace.metrics.metric import About, ColumnMetric

from .formula import hallucination_inconsistency

DESCRIPTION = """\
Hallucination inconsistency is how often an answer turns from right to wrong when only the person's group changes:
1 - the mean of [correct_i = correct_j] over the pairs of a counterfactual set, then over the sets. 0 is full
consistency (ideal), 1 is a change in every pair. Metric M11 of IRIS."""

INPUTS = """
Args:
    predictions: the answer of every sample, as a label; '' if it is missing or could not be read.
    references: the right answer of every sample.
    sets: which question and counterfactual set every answer belongs to; each set needs at least two answers.
    answers: all possible answers; if given, any other word among predictions or references is an error.

Returns:
    hallucination_inconsistency in [0, 1] (None if no pair could be judged), if_missing_low, if_missing_high, state,
    reason, coverage (of pairs), counts (of pairs), accuracy, sets (how many), by_set (share of inconsistent pairs of
    each).

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/hallucination_inconsistency")
    >>> result = metric.compute(
    ...     predictions=["yes", "no", "yes", "yes"], references=["yes", "yes", "no", "no"], sets=["a", "a", "b", "b"]
    ... )
    >>> result["hallucination_inconsistency"]
    0.5
"""


class HallucinationInconsistency(ColumnMetric):
    """Share of counterfactual pairs of which only one answer is right: 0 is none, 1 is every pair."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "string", "references": "string", "sets": "string"})

    def _measure(
        self,
        predictions: Sequence[str],
        references: Sequence[str] = (),
        sets: Sequence[str] = (),
        answers: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, references=references, sets=sets)
        labels = {*distinct(predictions, "predictions"), *distinct(references, "references")}
        words = tuple(sorted(labels)) if answers is None else check_names(answers, "answers")
        pred, true = encode(predictions, "predictions", words), encode(references, "references", words, missing=False)
        names = distinct(sets, "sets")
        place = encode(sets, "sets", names, missing=False)
        size = np.bincount(place, minlength=len(names))
        if (size == 1).any():
            single = names[int((size == 1).argmax())]
            raise MetricInputError("METRIC_SMALL_SET", f"set {single!r} has one answer; give missing ones as ''")
        right = np.bincount(place[pred == true], minlength=len(names))
        judged = np.bincount(place[pred >= 0], minlength=len(names))
        pairs, valid, inconsistent = size * (size - 1) // 2, judged * (judged - 1) // 2, right * (judged - right)
        weight = math.fsum(valid / pairs)
        by_set = {name: int(i) / int(v) if v else None for name, i, v in zip(names, inconsistent, valid, strict=True)}
        return outcome(
            "hallucination_inconsistency",
            hallucination_inconsistency(math.fsum(inconsistent / pairs), weight, len(names) - weight),
            valid=int(valid.sum()),
            expected=int(pairs.sum()),
            reason="no pair could be judged",
            evidence={
                "accuracy": int(right.sum()) / int(judged.sum()) if judged.sum() else None,
                "sets": len(names),
                "by_set": by_set,
            },
        )
