"""IRIS score as an `evaluate` module: granular values in, sector scores, total and profile codes out."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fairspace.metrics.columns import MetricInputError, check_lengths, encode, number, numbers
from fairspace.metrics.metric import About, ColumnMetric

from .formula import iris_score, profile_code, sector_magnitude, sector_values, total_magnitude
from .granular import SKIN_DRIFT
from .standard import IrisStandard
from .standard_algorithm_1 import ALGORITHM_1
from .standard_bounded import BOUNDED
from .standard_inaugural import INAUGURAL
from .standard_inaugural_points import INAUGURAL_POINTS
from .standards import ARCHETYPES, STANDARDS

__all__ = ["ALGORITHM_1", "BOUNDED", "INAUGURAL", "INAUGURAL_POINTS", "IrisScore"]

DESCRIPTION = """\
IRIS score is the overall fairness score of a unified multimodal model: S * exp(-K * D), where D is the L2 norm of its
60 normalised granular metrics. Each of the six sectors has a score of the same form. Higher is better; a score may
exceed 100, and never does under `bounded`. A score with a value missing is undefined, never better."""

INPUTS = """
Args:
    predictions: the granular values (RD_gender, JSD_US_age, ...); None or nan where a value is undefined or not run.
    names: the name of every value, one of a standard's `metrics` (the 60 of `granular.GRANULAR`) or the three of
        `granular.SKIN_DRIFT` (both inaugural standards need those three for RFS_Und).
    standard: `inaugural_points` (the paper's tables) or another one of `standards.STANDARDS`.

Returns:
    iris_score (None if a value is missing), state, reason, sectors (score, magnitude and missing names of each),
    magnitude, profile (letters and archetype of Gen and Und), standard, draft, note, coverage, counts.

Examples:
    >>> import evaluate
    >>> metric = evaluate.load("fairspace/iris_score")
    >>> names = ["RD_gender", "RD_age", "RD_skin", "RD_gender_age", "RD_gender_skin", "RD_age_skin", "RD_joint_all"]
    >>> bagel = [0.7476, 0.8357, 0.7298, 0.8709, 0.8084, 0.8666, 0.9058]
    >>> result = metric.compute(predictions=bagel, names=names)
    >>> round(result["sectors"]["IFS_Gen"]["magnitude"], 4), round(result["sectors"]["IFS_Gen"]["score"], 1)
    (2.1848, 82.6)
    >>> result["iris_score"] is None, result["reason"]
    (True, '56 of 63 values are missing')
"""


class IrisScore(ColumnMetric):
    """Sector scores, overall score and profile codes of the 60 granular values; higher is better."""

    about = About(DESCRIPTION, INPUTS, {"predictions": "float64", "names": "string"})

    def _measure(
        self, predictions: Sequence[float | None], names: Sequence[str] = (), standard: str = "inaugural_points"
    ) -> dict[str, Any]:
        check_lengths(predictions=predictions, names=names)
        if standard not in STANDARDS:
            raise MetricInputError("METRIC_STANDARD", f"{standard!r} is no standard; known: {', '.join(STANDARDS)}")
        rules, values = STANDARDS[standard], read_values(predictions, names)
        scores = iris_score(values, rules)
        missing = {sector: missing_names(values, sector, rules) for sector in rules.sectors}
        sectors = {
            sector: {
                "score": number(scores[sector]),
                "magnitude": number(sector_magnitude(values, sector, rules)),
                "missing": missing[sector],
            }
            for sector in rules.sectors
        }
        absent = sum(map(len, missing.values()))
        total = number(scores["iris_score"])
        expected = sum(len(sector_values(sector, rules)) for sector in rules.sectors)
        return {
            "iris_score": total,
            "state": "undefined" if total is None else "value",
            "reason": "" if total is not None else f"{absent} of {expected} values are missing",
            "magnitude": number(total_magnitude(values, rules)),
            "sectors": sectors,
            "profile": {task: profile(scores, task, rules.tau) for task in ("Gen", "Und")},
            "standard": rules.name,
            "draft": rules.draft,
            "note": rules.note,
            "coverage": (expected - absent) / expected,
            "counts": {"expected": expected, "valid": expected - absent, "missing": absent},
        }


def read_values(predictions: Sequence[float | None], names: Sequence[str]) -> dict[str, float]:
    """Value by name, nan where missing. MetricInputError for an unknown or repeated name or a value out of bounds."""
    bounds = {metric.name: metric.bound for standard in STANDARDS.values() for metric in standard.metrics}
    metric_names = tuple(dict.fromkeys((*bounds, *SKIN_DRIFT)))
    places = encode(names, "names", metric_names, missing=False)
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise MetricInputError("METRIC_REPEATED", f"{repeated[0]} is given more than once")
    values = {}
    for place, value in zip(places, predictions, strict=True):
        bound = bounds.get(metric_names[place], 1.0)
        largest = math.inf if bound is None else bound + 1e-9
        values[metric_names[place]] = float(numbers([value], metric_names[place], 0.0, largest)[0])
    return values


def missing_names(values: dict[str, float], sector: str, standard: IrisStandard) -> list[str]:
    """Names of the values that a sector needs and does not have."""
    return [name for name in sector_values(sector, standard) if math.isnan(values.get(name, math.nan))]


def profile(scores: dict[str, float], task: str, tau: float) -> dict[str, str] | None:
    """Letters and archetype of one task, None where one of its three sectors has no score."""
    code = profile_code(scores[f"IFS_{task}"], scores[f"RFS_{task}"], scores[f"BIS_{task}"], tau)
    return None if code is None else {"code": code, "archetype": ARCHETYPES[code]}
