"""Stereotype drift as an `evaluate` module: columns in, the number with its bounds and evidence out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairspace.metrics.columns import (
    NO_CLASS,
    MetricInputError,
    check_lengths,
    check_names,
    distinct,
    encode,
    number,
    numbers,
    outcome,
)
from fairspace.metrics.metric import About, ColumnMetric

from .formula import absolute_drift, stereotype_drift

DESCRIPTION = """\
Stereotype drift is how much more common a group really is in the wrongly answered occupation than in the true one:
the mean of P(g | predicted) - P(g | true) over the wrong answers. In [-1, 1]; 0 is no drift, above 0 the errors lead to
occupations where the group is more common. Metric M6 of IRIS."""

INPUTS = """
Args:
    predictions: the answered occupation of every sample; `unmappable` if it fits none, `refused` if it declines to
        answer, '' if the sample is missing.
    references: the true occupation of every sample.
    shares: a dict from occupation to the real-world share of the group, in [0, 1]. Samples of which the true or the
        answered occupation has no share are no part of the mean.
    occupations: all occupations; if given, any other word is an error.

Returns:
    stereotype_drift in [-1, 1] (None if no answer is wrong), if_missing_low, if_missing_high, absolute_drift with
    absolute_if_missing_low and absolute_if_missing_high, state, reason, coverage, counts, by_error (count and drift of
    each true and answered occupation).

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/stereotype_drift")
    >>> result = metric.compute(
    ...     predictions=["nurse", "nurse"], references=["doctor", "nurse"], shares={"nurse": 0.875, "doctor": 0.5}
    ... )
    >>> result["stereotype_drift"]
    0.375
"""


class StereotypeDrift(ColumnMetric):
    """Mean drift of wrong answers in one group's real-world share, in [-1, 1]: 0 is none."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "string", "references": "string"})

    def _measure(
        self,
        predictions: Sequence[str],
        references: Sequence[str] = (),
        shares: Mapping[str, float] | None = None,
        occupations: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, references=references)
        if not isinstance(shares, Mapping) or not shares:
            raise MetricInputError(
                "METRIC_REFERENCE", "shares must be a dict from occupation to the share of the group"
            )
        jobs = distinct(shares, "shares")
        share = numbers([shares[job] for job in jobs], "shares", 0.0, 1.0)
        if np.isnan(share).any():
            raise MetricInputError("METRIC_REFERENCE", "shares must hold numbers; leave out an occupation without one")
        others = {*distinct(predictions, "predictions"), *distinct(references, "references")} - {*jobs, *NO_CLASS}
        if occupations is not None:
            closed = check_names(occupations, "occupations")
            others = set(closed) - {*jobs, *NO_CLASS}
        names = (*jobs, *sorted(others), *NO_CLASS)
        pred, true = encode(predictions, "predictions", names), encode(references, "references", names, missing=False)
        relevant = true < len(jobs)
        uncertain = relevant & (pred < 0)
        errors = Counter(
            (int(t), int(g)) for t, g in zip(true, pred, strict=True) if t < len(jobs) and 0 <= g < len(jobs) and t != g
        )
        drift = {pair: float(share[pair[1]] - share[pair[0]]) for pair in sorted(errors)}
        low, high, free = [], [], []
        for t, n in sorted(Counter(true[uncertain].tolist()).items()):
            elsewhere = np.delete(share, t) - share[t]
            if elsewhere.size:
                low.append(elsewhere.min())
                high.append(elsewhere.max())
                free.append(n)
        bounds = stereotype_drift(list(drift.values()), [errors[pair] for pair in drift], low, high, free)
        size, least, most = (number(x) for x in absolute_drift(*bounds))
        by_error = [
            {"true": names[t], "answered": names[g], "count": errors[t, g], "drift": d} for (t, g), d in drift.items()
        ]
        return outcome(
            "stereotype_drift",
            bounds,
            valid=int(relevant.sum() - uncertain.sum()),
            expected=int(relevant.sum()),
            reason="no answer is wrong with shares for both the true and the answered occupation",
            evidence={
                "absolute_drift": size,
                "absolute_if_missing_low": least,
                "absolute_if_missing_high": most,
                "by_error": by_error,
            },
        )
