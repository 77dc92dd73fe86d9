"""IRIS' sector scores, overall score and profile code from the raw values (A.2.3, Algorithm 1; A.3.2).

Which values they are, and in which sectors, the standard says: the 60 of Table 6 in those of the paper.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from .granular import SKIN_DRIFT, Granular
from .standard import IrisStandard

Column: TypeAlias = Any
"""A number, or an array of them with any leading axes (replicates of it, models): what goes in comes out."""
Columns = Mapping[str, Column]
Weights = Mapping[str, float]
"""Value -> the weight of its squared deviation; a value that is not in it does not count."""


def sector_metrics(sector: str, standard: IrisStandard) -> tuple[Granular, ...]:
    """The granular metrics of a sector under a standard, in its order; a KeyError if it has no such sector."""
    return standard.by_sector[sector]


@lru_cache
def sector_values(sector: str, standard: IrisStandard) -> tuple[str, ...]:
    """Names of the values that a sector's score needs: its metrics, and the drifts that Table 27 adds to RFS_Und."""
    names = tuple(metric.name for metric in sector_metrics(sector, standard))
    return names + SKIN_DRIFT if sector == "RFS_Und" and standard.fidelity_by_goodness else names


def normalised(
    metric: Granular, value: Column, divisor: Mapping[str, float], scale: Mapping[str, float] = {}
) -> Column:
    """A value in the deviation space (A.2.3): over its divisor, or log1p in the units of `scale` if it has no bound.

    0 is ideal. A column is cut at 0: replicates are kept rounded, and no value is below 0. `scale`: `quality_scale`.
    """
    column = isinstance(value, np.ndarray)
    value = np.maximum(value, 0.0) if column else value
    if metric.bound is None:
        return (np.log1p if column else math.log1p)(value * scale.get(metric.name, 1.0))
    return value / divisor.get(metric.metric, 1.0)


def norm(*groups: Sequence[tuple[float, Column]]) -> Column:
    """L2 norm of deviations, sqrt(sum of w x^2); nan where one of them is nan.

    Numbers are summed by `math.hypot`, columns by numpy, group by group: the last digits may differ.

    Args:
        groups: weight and deviation of each value that counts; all are numbers, or all are columns of one shape.
    """
    if not any(isinstance(x, np.ndarray) for group in groups for _, x in group[:1]):
        return math.hypot(*[math.sqrt(weight) * x for group in groups for weight, x in group])
    return np.sqrt(sum(sum(weight * np.square(x) for weight, x in group) for group in groups))


def sector_magnitude(values: Columns, sector: str, standard: IrisStandard, weights: Weights | None = None) -> Column:
    """Distance of one sector from its ideal; smaller is better. nan if one of its values is nan or absent.

    The L2 norm of the normalised values (Algorithm 1, step 4), except RFS_Und under a standard with
    `fidelity_by_goodness`: 1 - sqrt(G_JSD * G_SDS) with G_JSD = 1 - |JSD| / sqrt(5) and G_SDS = |SDS| / sqrt(13)
    (exact for Table 27; it rewards larger drift). With weights, 5 and 13 are the sums of the weights of the values that
    count, and where those of one goodness do not count at all, the other one stands alone.

    Args:
        values: raw values by name, each a number or a column of replicates.
        sector: one of the standard's.
        standard: the standard.
        weights: Weights of the values that count; without them all values of the sector count alike.
    """
    if weights is None:
        weights = dict.fromkeys(sector_values(sector, standard), 1.0)
    if sector == "RFS_Und" and standard.fidelity_by_goodness:
        return _by_goodness(values, standard, weights)
    return norm(_deviations(values, sector, standard, weights, standard.sector_divisor))


def _deviations(
    values: Columns, sector: str, standard: IrisStandard, weights: Weights, divisor: Mapping[str, float]
) -> list[tuple[float, Column]]:
    """Weight and normalised value of each metric of a sector that counts."""
    metrics = [metric for metric in sector_metrics(sector, standard) if metric.name in weights]
    scale = standard.quality_scale
    return [(weights[m.name], normalised(m, values.get(m.name, math.nan), divisor, scale)) for m in metrics]


def _by_goodness(values: Columns, standard: IrisStandard, weights: Weights) -> Column:
    jsds, drifts = ([name for name in names if name in weights] for names in fidelity_values(standard))
    jsd, drift = (norm([(weights[n], values.get(n, math.nan)) for n in names]) for names in (jsds, drifts))
    largest_jsd, largest_drift = (math.sqrt(sum(weights[name] for name in names)) for names in (jsds, drifts))
    goodness = np.maximum(0.0, 1 - jsd / largest_jsd) if jsds else math.nan
    if not drifts:
        return 1 - goodness
    return 1 - (np.sqrt(goodness * drift / largest_drift) if jsds else drift / largest_drift)


@lru_cache
def fidelity_values(standard: IrisStandard) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the 5 divergences and of the 13 drifts of Table 27."""
    metrics = sector_metrics("RFS_Und", standard)
    jsds = tuple(m.name for m in metrics if m.metric == "distribution_divergence")
    return jsds, (*(m.name for m in metrics if m.metric == "stereotype_drift"), *SKIN_DRIFT)


def sector_score(magnitude: Column, sector: str, standard: IrisStandard) -> Column:
    """S * exp(-K * magnitude) of a sector or of the `total` (Algorithm 1, step 5).

    At least 0, no upper bound; higher is better; nan stays nan.
    """
    exp = np.exp if isinstance(magnitude, np.ndarray) else math.exp
    return standard.scale[sector] * exp(-standard.decay[sector] * magnitude)


def total_magnitude(values: Columns, standard: IrisStandard, weights: Weights | None = None) -> Column:
    """D_tot, the L2 norm of all normalised values (steps 7 to 9); nan if one is nan or absent.

    Under a standard with `fidelity_by_goodness` the drifts are the 13 of Table 27, as in the printed scores. With
    weights it is that of the weighted values that count.
    """
    if weights is None:
        weights = dict.fromkeys((name for s in standard.sectors for name in sector_values(s, standard)), 1.0)
    groups = [_deviations(values, s, standard, weights, standard.total_divisor) for s in standard.sectors]
    further = SKIN_DRIFT if standard.fidelity_by_goodness else ()
    drifts = [(weights[name], values.get(name, math.nan)) for name in further if name in weights]
    return norm(*groups, drifts)


def total_score(values: Mapping[str, float], standard: IrisStandard, weights: Weights | None = None) -> float:
    """The overall score alone, S * exp(-K * D_tot); nan if a value is nan or absent."""
    return sector_score(total_magnitude(values, standard, weights), "total", standard)


def iris_score(values: Mapping[str, float], standard: IrisStandard) -> dict[str, float]:
    """Every sector's score and the overall `iris_score` of the raw values.

    Args:
        values: raw values by the names of `standard.metrics` (and `SKIN_DRIFT`); absent ones count as nan, never as 0.
        standard: Standard to score under.

    Returns:
        Every sector's score and `iris_score`; higher is better, may exceed 100; nan where an input is nan or absent.
    """
    scores = {s: sector_score(sector_magnitude(values, s, standard), s, standard) for s in standard.sectors}
    return scores | {"iris_score": total_score(values, standard)}


def profile_code(ifs: float, rfs: float, bis: float, tau: float = 60.0) -> str | None:
    """The three-letter code of one task (equations 1 to 3); None if one of the scores is nan."""
    if any(math.isnan(score) for score in (ifs, rfs, bis)):
        return None
    return ("U" if ifs >= tau else "H") + ("A" if rfs >= tau else "D") + ("F" if bis >= tau else "R")
