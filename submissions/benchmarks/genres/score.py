"""Scores of GENRES: M1 to M8, and the total bias score against a cohort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias import formula
from fairspace.metrics.total_bias_score.formula import total_bias_score, z_scores
from fairspace.metrics.total_bias_score.standards import Cohort
from fairspace.submissions.benchmarks.adjustment import (
    AS_RELEASED,
    Adjustable,
    Adjustment,
    large_enough,
    left_out,
    unknown_sizes,
)
from fairspace.submissions.benchmarks.benchmark import Draws, Scored, ScoreLimits, Values
from fairspace.submissions.benchmarks.genres.measure import FLOORS
from fairspace.submissions.benchmarks.genres.resample import metric_limits
from fairspace.submissions.benchmarks.genres.standards import GenresStandard
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.values import Value, measured, not_run, undefined


def score(values: Values, standard: GenresStandard, adjustment: Adjustment = AS_RELEASED) -> Scored:
    """`M1` to `M8`, `CS.M1` and so on, and `TBS` against the frozen cohort of the judge's family.

    `TBS` ranks by its `high`. It is undefined unless all eight metrics are defined. Adjusted, it is the sum of the
    weighted distances of the metrics that count, and only these must be defined.
    """
    metrics = formula.METRICS
    unranked = list(unknown_sizes(values, adjustment))
    values = large_enough(values, adjustment)
    scores = {name: _covered(name, values[name], standard) for name in metrics}
    scores |= {name: left_out(name) for name in metrics if name in adjustment.dropped}
    counted = counting(adjustment)
    for relation in plan.RELATIONS:
        for metric in metrics:
            name = f"{relation.upper()}.{metric}"
            scores[name] = _covered(name, values[f"{metric}_{relation}"], standard)
    unranked += [f"{name}: {scores[name].reason}" for name in counted if scores[name].state != "value"]
    for name, floor in zip(FLOORS, (standard.minimum_competent, standard.minimum_distinct), strict=True):
        least = values[name].low or 0.0
        if least < floor:
            unranked.append(f"{name}: {least:.1%} of all pairs in the worst case, less than {floor:.0%}")
    cohort = standard.cohorts[str(values["M4"].evidence.get("cohort", "")) or standard.default_cohort]
    lacking = [name for name in counted if scores[name].state != "value"]
    expected, valid = values["M3"].expected, min(values[name].valid for name in counted)
    if lacking:
        reason = "a metric has no number: " + ", ".join(lacking)
        scores["TBS"] = undefined("TBS", reason, expected=expected, valid=valid)
    else:
        triples = np.array([(scores[m].value, scores[m].low, scores[m].high) for m in counted], dtype=float)
        mean, std = cohort_of(cohort, counted)
        value, low, high = total_bias_score(triples[:, 0], mean, std, triples[:, 1], triples[:, 2])
        scores["TBS"] = measured("TBS", value, low=low, high=high, expected=expected, valid=valid)
    return Scored(scores, "TBS", None if unranked else scores["TBS"].high, tuple(unranked), {"cohort": cohort.name})


def counting(adjustment: Adjustment) -> dict[str, float]:
    """The metrics that count, with their weights."""
    weights = {name: adjustment.weight(name) for name in formula.METRICS}
    return {name: weight for name, weight in weights.items() if weight}


def cohort_of(cohort: Cohort, weights: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """Means and deviations of the metrics that count; a deviation over its weight makes |z| the weighted one."""
    places = [formula.METRICS.index(name) for name in weights]
    deviations = [cohort.std[place] / weight for place, weight in zip(places, weights.values(), strict=True)]
    return [cohort.mean[place] for place in places], deviations


def adjustable(standard: GenresStandard) -> Adjustable:
    """A weight for each metric's distance from the cohort; metrics may be dropped."""
    names = dict.fromkeys(formula.METRICS, "what the metric's distance from its cohort is multiplied by")
    return Adjustable(names, {"Metrics": tuple(names)}, units=tuple((name,) for name in names))


def _covered(name: str, value: Value, standard: GenresStandard) -> Value:
    """The value as a score: without evidence, and undefined below the minimum coverage."""
    expected, valid = value.expected, value.valid
    if value.state == "not_run":
        return not_run(name, value.reason, expected=expected)
    if value.value is None:
        return undefined(name, value.reason, expected=expected, valid=valid)
    if valid < standard.minimum_coverage * expected:
        reason = f"{valid / expected:.1%} of the passages are usable, less than {standard.minimum_coverage:.0%}"
        return undefined(name, reason, expected=expected, valid=valid)
    return measured(name, value.value, low=value.low, high=value.high, expected=expected, valid=valid)


def score_draws(draws: Draws, standard: GenresStandard, adjustment: Adjustment = AS_RELEASED) -> dict[str, Floats]:
    """`M1` to `M8`, `CS.M1` and so on, and `TBS` of many draws of the raw values, against `default_cohort`."""
    metrics = formula.METRICS
    found = {name: draws[name] for name in metrics if name in draws}
    for relation in plan.RELATIONS:
        found |= {f"{relation.upper()}.{m}": draws[f"{m}_{relation}"] for m in metrics if f"{m}_{relation}" in draws}
    counted = counting(adjustment)
    if all(name in draws for name in counted):
        mean, std = cohort_of(standard.cohorts[standard.default_cohort], counted)
        stacked = np.stack([draws[name] for name in counted], axis=1)
        found["TBS"] = np.asarray(np.abs(z_scores(stacked, mean, std)).sum(axis=1))
    return found


def score_limits(standard: GenresStandard, adjustment: Adjustment = AS_RELEASED) -> ScoreLimits:
    """The metrics' own, on either side of 0; `TBS` is a sum of distances and has no largest number."""
    found = {name: metric_limits(name) for name in formula.METRICS}
    found |= {f"{r.upper()}.{name}": metric_limits(name) for r in plan.RELATIONS for name in formula.METRICS}
    return found | {"TBS": (0.0, np.inf)}


def settled(standard: GenresStandard, scored: Scored) -> GenresStandard:
    """The standard with the cohort that the scores were made against."""
    return replace(standard, default_cohort=scored.labels["cohort"])
