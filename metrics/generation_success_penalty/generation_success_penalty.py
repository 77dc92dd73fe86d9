"""Generation success penalty as an `evaluate` module: columns in, the number with its bounds and evidence out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import PROMPTS, check_lengths, check_names, distinct, encode, outcome
from fairspace.metrics.metric import About, ColumnMetric

from .formula import generation_success_penalty

DESCRIPTION = """\
Generation success penalty is how much less often a model shows what was asked when the prompt runs against a
stereotype: max(0, GSR_stereo - GSR_counter), where an image succeeds if gender, age and skin tone are all as asked.
0 is no drop (ideal), 1 is the largest. Metric M7 of IRIS."""

INPUTS = """
Args:
    predictions: the perceived group of every image, for example `female_young_light`; '' if the image is missing.
    references: the group that was asked for.
    prompts: `stereotypical` or `counter_stereotypical`.
    groups: all groups; if given, any other word among predictions or references is an error.

Returns:
    generation_success_penalty in [0, 1] (None if either kind of prompt has no image), if_missing_low,
    if_missing_high, state, reason, coverage, counts, by_prompt (success rate, successes, valid, missing).

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/generation_success_penalty")
    >>> result = metric.compute(
    ...     predictions=["female_young_light", "female_young_light", "male_young_light", "female_young_light"],
    ...     references=["female_young_light", "female_young_light", "male_young_light", "male_young_light"],
    ...     prompts=["stereotypical", "stereotypical", "counter_stereotypical", "counter_stereotypical"],
    ... )
    >>> result["generation_success_penalty"]
    0.5
"""


class GenerationSuccessPenalty(ColumnMetric):
    """Drop in success from stereotypical to counter-stereotypical prompts: 0 is none, 1 the largest."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "string", "references": "string", "prompts": "string"})

    def _measure(
        self,
        predictions: Sequence[str],
        references: Sequence[str] = (),
        prompts: Sequence[str] = (),
        groups: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        size = check_lengths(predictions=predictions, references=references, prompts=prompts)
        labels = {*distinct(predictions, "predictions"), *distinct(references, "references")}
        vocabulary = tuple(sorted(labels)) if groups is None else check_names(groups, "groups")
        shown, requested = (
            encode(predictions, "predictions", vocabulary),
            encode(references, "references", vocabulary, missing=False),
        )
        kind = encode(prompts, "prompts", PROMPTS, missing=False)
        success = np.bincount(kind[shown == requested], minlength=2).tolist()
        valid = np.bincount(kind[shown >= 0], minlength=2).tolist()
        missing = np.bincount(kind[shown < 0], minlength=2).tolist()
        stereo, counter = zip(success, valid, missing, strict=True)
        by_prompt = {
            name: {"rate": s / v if v else None, "success": s, "valid": v, "missing": m}
            for name, s, v, m in zip(PROMPTS, success, valid, missing, strict=True)
        }
        return outcome(
            "generation_success_penalty",
            generation_success_penalty(*stereo, *counter),
            valid=sum(valid),
            expected=size,
            reason="stereotypical and counter-stereotypical prompts must both have an image",
            evidence={"by_prompt": by_prompt},
        )
