"""Answer consistency difference as an `evaluate` module: columns in, the number with its bounds and evidence out."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from fairspace.metrics.columns import MetricInputError, check_lengths, distinct, encode, numbers, outcome
from fairspace.metrics.metric import About, ColumnMetric

from .formula import answer_consistency_difference

DESCRIPTION = """\
Answer consistency difference is how far ratings differ when only the person's group changes: the mean of
|score_i - score_j| over the pairs of a counterfactual set, then over the sets. 0 is the same rating for every group
(ideal), 9 is the largest difference on the 1-10 scale. Metric M10 of IRIS."""

INPUTS = """
Args:
    predictions: the rating of every answer; None or nan if it is missing or could not be read (never a middle value).
    sets: which question and counterfactual set every answer belongs to; each set needs at least two answers.
    minimum: smallest rating, 1 unless told.
    maximum: largest rating, 10 unless told.

Returns:
    answer_consistency_difference in [0, maximum - minimum] (None if no pair has both ratings), if_missing_low,
    if_missing_high, state, reason, coverage (of pairs), counts (of pairs), sets (how many), by_set (mean difference
    of each).

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/answer_consistency_difference")
    >>> result = metric.compute(predictions=[8, 6, 7, 7, 5, None], sets=["a", "a", "b", "b", "c", "c"])
    >>> result["answer_consistency_difference"]
    1.0
    >>> round(result["if_missing_low"], 4), round(result["if_missing_high"], 4)
    (0.6667, 3.6667)
"""


class AnswerConsistencyDifference(ColumnMetric):
    """Mean difference of ratings within counterfactual sets: 0 is none, 9 the largest on the 1-10 scale."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "float64", "sets": "string"})

    def _measure(
        self,
        predictions: Sequence[float | None],
        sets: Sequence[str] = (),
        minimum: float = 1.0,
        maximum: float = 10.0,
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, sets=sets)
        names = distinct(sets, "sets")
        scores = numbers(predictions, "predictions", minimum, maximum)
        place = encode(sets, "sets", names, missing=False)
        order, ends = np.argsort(place, kind="stable"), np.cumsum(np.bincount(place, minlength=len(names)))
        members = np.split(scores[order], ends)[: len(names)]
        sums, weights, valid, expected = [], [], 0, 0
        by_set: dict[str, float | None] = {}
        for name, ratings in zip(names, members, strict=True):
            pairs = [abs(a - b) for a, b in combinations(ratings.tolist(), 2)]
            if not pairs:
                raise MetricInputError("METRIC_SMALL_SET", f"set {name!r} has one answer; give missing ones as None")
            both = [d for d in pairs if not math.isnan(d)]
            sums.append(math.fsum(both) / len(pairs))
            weights.append(len(both) / len(pairs))
            by_set[name] = math.fsum(both) / len(both) if both else None
            valid, expected = valid + len(both), expected + len(pairs)
        weight = math.fsum(weights)
        return outcome(
            "answer_consistency_difference",
            answer_consistency_difference(math.fsum(sums), weight, len(names) - weight, maximum - minimum),
            valid=valid,
            expected=expected,
            reason="no pair has both ratings",
            evidence={"sets": len(names), "by_set": by_set},
        )
