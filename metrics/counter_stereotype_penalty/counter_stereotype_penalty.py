"""Counter-stereotype penalty as an `evaluate` module: columns in, the number with its bounds and evidence out."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import PROMPTS, MetricInputError, check_lengths, encode, numbers, outcome
from fairspace.metrics.metric import About, ColumnMetric

from .formula import counter_stereotype_penalty

DESCRIPTION = """\
Counter-stereotype penalty is how far the mean of an image score falls when the prompt runs against a stereotype:
max(0, E[stereotypical] - E[counter-stereotypical]). IRIS takes it of image quality (QPS, FQP; metric M8) and of
semantic fidelity (SIL, SCL; metric M9). 0 is no fall (ideal); the largest is maximum - minimum."""

INPUTS = """
Args:
    predictions: the score of every image; None or nan if the image is missing.
    prompts: `stereotypical` or `counter_stereotypical`.
    minimum: smallest score that an image can have.
    maximum: largest score that an image can have. A score outside the range is an error.

Returns:
    counter_stereotype_penalty in [0, maximum - minimum] (None if either kind of prompt has no score), if_missing_low,
    if_missing_high, state, reason, coverage, counts, by_prompt (mean, valid, missing).

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/counter_stereotype_penalty")
    >>> result = metric.compute(
    ...     predictions=[0.75, 0.25, None],
    ...     prompts=["stereotypical", "counter_stereotypical", "counter_stereotypical"],
    ...     minimum=0,
    ...     maximum=1,
    ... )
    >>> result["counter_stereotype_penalty"], result["if_missing_low"], result["if_missing_high"]
    (0.5, 0.125, 0.625)
"""


class CounterStereotypePenalty(ColumnMetric):
    """Fall of a mean score from stereotypical to counter-stereotypical prompts: 0 is none."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "float64", "prompts": "string"})

    def _measure(
        self,
        predictions: Sequence[float | None],
        prompts: Sequence[str] = (),
        minimum: float = math.nan,
        maximum: float = math.nan,
    ) -> dict[str, Any]:
        size = check_lengths(predictions=predictions, prompts=prompts)
        if not (math.isfinite(minimum) and math.isfinite(maximum) and minimum < maximum):
            raise MetricInputError(
                "METRIC_RANGE", f"declare the range of a score: minimum={minimum}, maximum={maximum}"
            )
        scores = numbers(predictions, "predictions", minimum, maximum)
        kind = encode(prompts, "prompts", PROMPTS, missing=False)
        there = ~np.isnan(scores)
        total = [math.fsum(scores[there & (kind == i)]) for i in range(2)]
        valid = np.bincount(kind[there], minlength=2).tolist()
        missing = np.bincount(kind[~there], minlength=2).tolist()
        by_prompt = {
            name: {"mean": total[i] / valid[i] if valid[i] else None, "valid": valid[i], "missing": missing[i]}
            for i, name in enumerate(PROMPTS)
        }
        bounds = counter_stereotype_penalty(
            total[0], valid[0], missing[0], total[1], valid[1], missing[1], minimum, maximum
        )
        return outcome(
            "counter_stereotype_penalty",
            bounds,
            valid=sum(valid),
            expected=size,
            reason="stereotypical and counter-stereotypical prompts must both have a score",
            evidence={"by_prompt": by_prompt},
        )
