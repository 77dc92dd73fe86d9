"""Between-group variance as an `evaluate` module: a value per group in, the unbiased variance out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import MetricInputError, check_lengths, check_names, number, numbers, outcome
from fairspace.metrics.metric import About, ColumnMetric

from .formula import between_group_variance, plain_variance, rate_variance

DESCRIPTION = """\
Between-group variance is how far the rates of groups differ, as a variance, less what sampling error adds to it: the
double-corrected variance of Lum, Zhang and Bower (2022). 0 is ideal. Groups that are all alike have 0 on average, so
about half of their estimates are negative; these are not cut."""

CITATION = """\
@inproceedings{lum2022debiasing,
  title = {De-biasing "bias" measurement},
  author = {Lum, Kristian and Zhang, Yunfeng and Bower, Amanda},
  booktitle = {Proceedings of the 2022 ACM Conference on Fairness, Accountability, and Transparency},
  year = {2022},
  doi = {10.1145/3531146.3533105}
}
"""

INPUTS = """
Args:
    predictions: the rate or mean of each group; None where it has none.
    groups: the name of each group.
    samples: for rates: how many samples are behind each, at least 2.
    variances: for other values, in place of `samples`: the unbiased variance of each value's sampling error.

Returns:
    between_group_variance (None if fewer than two groups have a value), if_missing_low, if_missing_high (the value;
    None where a group has no value, as it could be anything), state, reason, coverage and counts of groups, plain
    (the variance before the correction), by_group (value, variance).

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/between_group_variance")
    >>> result = metric.compute(predictions=[0.5, 1.0], groups=["female", "male"], samples=[11, 11])
    >>> result["between_group_variance"], result["plain"]
    (0.1125, 0.125)
"""

MOST = 1e9


class BetweenGroupVariance(ColumnMetric):
    """Variance between groups without the part of sampling error: 0 is ideal, and estimates can be negative."""

    about = About(
        DESCRIPTION,
        INPUTS,
        {"predictions": "float64", "groups": "string"},
        CITATION,
        ("https://arxiv.org/abs/2205.05770",),
    )

    def _measure(
        self,
        predictions: Sequence[float],
        groups: Sequence[str] = (),
        samples: Sequence[int] | None = None,
        variances: Sequence[float] | None = None,
    ) -> dict[str, Any]:
        if (samples is None) == (variances is None):
            raise MetricInputError("METRIC_ARGUMENT", "give one of samples (of rates) and variances (of other values)")
        given: Sequence[float] = samples if samples is not None else variances or ()
        check_lengths(predictions=predictions, groups=groups, given=given)
        names = check_names(groups, "groups", 1)
        if samples is not None:
            values = numbers(predictions, "predictions", 0, 1)
            errors = rate_variance(values, numbers(samples, "samples", 2, MOST))
        else:
            values = numbers(predictions, "predictions", -MOST, MOST)
            errors = numbers(given, "variances", 0, MOST)
        unknown = np.flatnonzero(~np.isnan(values) & np.isnan(errors))
        if len(unknown):
            raise MetricInputError("METRIC_NUMBER", f"{names[unknown[0]]} has a value, and no samples or variance")
        value, plain = float(between_group_variance(values, errors)), float(plain_variance(values))
        valid = int((~np.isnan(values)).sum())
        bound = value if valid == len(names) else math.nan
        return outcome(
            "between_group_variance",
            (value, bound, bound),
            valid=valid,
            expected=len(names),
            reason="fewer than two groups have a value",
            evidence={
                "plain": number(plain),
                "by_group": {
                    name: {"value": number(v), "variance": number(e)}
                    for name, v, e in zip(names, values, errors, strict=True)
                },
            },
        )
