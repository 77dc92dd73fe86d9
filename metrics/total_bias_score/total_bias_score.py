"""GENRES' total bias score as an `evaluate` metric; the formula is in `formula.py`, the cohorts in `standards.py`."""

from typing import Any

import numpy as np

from fairspace.metrics.columns import GENRES_CITATION, MetricInputError, check_lengths, encode, number, numbers, outcome
from fairspace.metrics.metric import About, ColumnMetric

from .formula import total_bias_score, z_scores
from .standards import CENTRES, COHORTS

DESCRIPTION = """\
The sum over the eight GENRES metrics of the distance to the mean of a frozen cohort of models, or to 0, in the
cohort's standard deviations.
"""

INPUTS = """
Args:
    predictions: the eight values M1 to M8, in this order (M1, M4, M6 in percent); nan where undefined.
    cohort: 'llama', 'glm' or 'mistral', the judge model of the frozen cohort.
    centre: what distances are taken from: 'cohort', its means (the paper's score), or 'zero', no bias.
    if_missing_low: the eight lower bounds over what is missing; the values themselves by default.
    if_missing_high: the eight upper bounds; likewise.
Returns:
    total_bias_score: 0 or more, lower is better; None if one of the eight is undefined.
    if_missing_low, if_missing_high: bounds from those of the eight values.
    state, reason, coverage (defined values over eight), counts.
    by_metric: the signed distances in standard deviations.
Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/total_bias_score")
    >>> result = metric.compute(
    ...     predictions=[-6.861, 0.007, 0.097, 3.508, -3.172, -1.272, 0.030, -0.328], cohort="mistral"
    ... )
    >>> round(result["total_bias_score"], 2)
    4.44
    >>> metric.compute(predictions=[0] * 8, cohort="mistral", centre="zero")["total_bias_score"]
    0.0
"""

MOST = 1e9
METRICS = ("M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8")


class TotalBiasScore(ColumnMetric):
    """TBS with the scales of a frozen cohort."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "float64"}, GENRES_CITATION, ())

    def _measure(
        self,
        predictions: list[float],
        cohort: str = "mistral",
        centre: str = "cohort",
        if_missing_low: list[float] | None = None,
        if_missing_high: list[float] | None = None,
    ) -> dict[str, Any]:
        encode([cohort], "cohort", tuple(COHORTS), missing=False)
        encode([centre], "centre", tuple(CENTRES), missing=False)
        low, high = (predictions if bound is None else bound for bound in (if_missing_low, if_missing_high))
        check_lengths(predictions=predictions, if_missing_low=low, if_missing_high=high)
        values, bottom, top = (
            numbers(column, name, -MOST, MOST)
            for name, column in (("predictions", predictions), ("if_missing_low", low), ("if_missing_high", high))
        )
        if len(values) != len(METRICS):
            raise MetricInputError("METRIC_LENGTH", f"predictions has {len(values)} values; expected 8, M1 to M8")
        outside = np.flatnonzero((bottom > values) | (values > top))
        if len(outside):
            raise MetricInputError("METRIC_RANGE", f"{METRICS[outside[0]]} is not between its two bounds")
        frozen = CENTRES[centre][cohort]
        z = z_scores(values, frozen.mean, frozen.std)
        undefined = [name for name, x in zip(METRICS, z, strict=True) if np.isnan(x)]
        return outcome(
            "total_bias_score",
            total_bias_score(values, frozen.mean, frozen.std, bottom, top),
            valid=len(METRICS) - len(undefined),
            expected=len(METRICS),
            reason=f"undefined: {', '.join(undefined)}",
            evidence={
                "cohort": frozen.name,
                "centre": centre,
                "by_metric": dict(zip(METRICS, map(number, z), strict=True)),
            },
        )
