"""Scores of GENRES: M1 to M8, and the total bias score, from the mean of a cohort or from 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from fairspace.builders.genres import plan
from fairspace.metrics.genres_bias import formula
from fairspace.metrics.total_bias_score.formula import distance, nearest_and_farthest
from fairspace.metrics.total_bias_score.standards import Cohort
from fairspace.submissions.benchmarks.adjustment import AS_RELEASED, Adjustable, Adjustment
from fairspace.submissions.benchmarks.benchmark import Scored, Values
from fairspace.submissions.benchmarks.genres.measure import FLOORS
from fairspace.submissions.benchmarks.genres.resample import metric_limits
from fairspace.submissions.benchmarks.genres.standards import GenresStandard
from fairspace.submissions.benchmarks.scoring_table import (
    Column,
    Columns,
    Ended,
    Rule,
    ScoringTable,
    Weights,
    covered,
    least_covered,
    names_of_parts,
    same,
)
from fairspace.submissions.values import Value


def score(values: Values, standard: GenresStandard, adjustment: Adjustment = AS_RELEASED) -> Scored:
    """`M1` to `M8`, `CS.M1` and so on, and `TBS` with the frozen cohort of the judge's family.

    `TBS` ranks by its `high`. It is undefined unless all eight metrics are defined. Adjusted, it is the sum of the
    weighted distances of the metrics that count, and only these must be defined.
    """
    labels = {"cohort": str(values["M4"].evidence.get("cohort", "")) or standard.default_cohort}
    table = scoring(resolve_standard(standard, labels), adjustment)
    scores = table.values(values, partial(_usable, standard=standard))
    counted = table.rules["TBS"].weights
    unranked = [f"{name}: {scores[name].reason}" for name in counted if scores[name].state != "value"]
    for name, floor in zip(FLOORS, (standard.minimum_competent, standard.minimum_distinct), strict=True):
        least = values[name].low or 0.0
        if least < floor:
            unranked.append(f"{name}: {least:.1%} of all pairs in the worst case, less than {floor:.0%}")
    return Scored(scores, "TBS", None if unranked else scores["TBS"].high, tuple(unranked), labels)


def scoring(standard: GenresStandard, adjustment: Adjustment) -> ScoringTable:
    """The metrics, over all passages and of each relational model, and `TBS` with `default_cohort`.

    A metric may lie on either side of 0; `TBS` is a sum of distances and has no largest number.
    """
    return _table(standard.cohorts[standard.default_cohort], adjustment)


@lru_cache(64)
def _table(cohort: Cohort, adjustment: Adjustment) -> ScoringTable:
    raw = {name: name for name in formula.METRICS}
    raw |= {f"{r.upper()}.{name}": f"{name}_{r}" for r in plan.RELATIONS for name in formula.METRICS}
    rules = {name: Rule(name, {part: 1.0}, same, metric_limits(part)) for name, part in raw.items()}
    weights = {name: weight for name in formula.METRICS if (weight := adjustment.weight(name))}
    rules["TBS"] = Rule(
        "TBS",
        weights,
        partial(_total, cohort=cohort),
        limits=(0.0, np.inf),
        bounds=partial(_bounds, cohort=cohort),
        counts=least_covered,
        lacking=names_of_parts("a metric has no number"),
    )
    return ScoringTable(rules, ("TBS",), centres=dict(zip(formula.METRICS, cohort.mean, strict=True)))


def _total(columns: Columns, weights: Weights, cohort: Cohort) -> Column:
    """The sum of weighted distances: a deviation over its weight makes |z| the weighted one."""
    places = [formula.METRICS.index(name) for name in weights]
    std = [cohort.std[place] / weight for place, weight in zip(places, weights.values(), strict=True)]
    return distance(np.stack(list(columns.values()), axis=-1), [cohort.mean[place] for place in places], std)


def _bounds(parts: Mapping[str, Ended], cohort: Cohort) -> tuple[Columns, Columns]:
    """The points nearest to what distances are taken from, and farthest from it."""
    lows, highs = (
        np.stack([np.asarray(end, float) for end in ends], axis=-1)
        for ends in ([part.low for part in parts.values()], [part.high for part in parts.values()])
    )
    means = [cohort.mean[formula.METRICS.index(name)] for name in parts]
    nearest, farthest = (np.moveaxis(point, -1, 0) for point in nearest_and_farthest(lows, highs, means))
    return dict(zip(parts, nearest, strict=True)), dict(zip(parts, farthest, strict=True))


def adjustable(standard: GenresStandard) -> Adjustable:
    """A weight for each metric's distance."""
    return Adjustable(tuple((name,) for name in formula.METRICS))


def _usable(value: Value, standard: GenresStandard) -> Value:
    """The value, undefined below the minimum coverage."""
    reason = "{share:.1%} of the passages are usable, less than {minimum:.0%}"
    return covered(value, standard.minimum_coverage, reason) if value.state == "value" else value


def resolve_standard(standard: GenresStandard, labels: Mapping[str, str]) -> GenresStandard:
    """The standard with the cohort that scores with these labels are made with."""
    return replace(standard, default_cohort=labels["cohort"])
