"""IRIS' sector scores, overall score and profile code from the raw values (A.2.3, Algorithm 1; A.3.2).

Which values they are, and in which sectors, the standard says: the 60 of Table 6 in those of the paper.
"""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .granular import SKIN_DRIFT, Granular
from .standard import IrisStandard

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


def normalised(metric: Granular, value: float, divisor: Mapping[str, float]) -> float:
    """A value in the deviation space (A.2.3): over its divisor, or log1p where the metric has no bound; 0 is ideal."""
    return math.log1p(value) if metric.bound is None else value / divisor.get(metric.metric, 1.0)


def norm(deviations: Iterable[tuple[str, float]], weights: Weights | None = None) -> float:
    """L2 norm of named deviations, of those that count; nan if one of them is nan. Without weights all count alike."""
    if weights is None:
        return math.hypot(*[deviation for _, deviation in deviations])
    return math.hypot(*[math.sqrt(weights[name]) * x for name, x in deviations if name in weights])


def sector_magnitude(
    values: Mapping[str, float], sector: str, standard: IrisStandard, weights: Weights | None = None
) -> float:
    """Distance of one sector from its ideal; smaller is better. nan if one of its values is nan or absent.

    The L2 norm of the normalised values (Algorithm 1, step 4), except RFS_Und under a standard with
    `fidelity_by_goodness`: 1 - sqrt(G_JSD * G_SDS) with G_JSD = 1 - |JSD| / sqrt(5) and G_SDS = |SDS| / sqrt(13)
    (exact for Table 27; it rewards larger drift). With weights, 5 and 13 are the sums of the weights of the values that
    count, and where those of one goodness do not count at all, the other one stands alone.
    """
    if sector == "RFS_Und" and standard.fidelity_by_goodness:
        return _by_goodness(values, standard, weights)
    metrics = sector_metrics(sector, standard)
    terms = [(m.name, normalised(m, values.get(m.name, math.nan), standard.sector_divisor)) for m in metrics]
    return norm(terms, weights)


def _by_goodness(values: Mapping[str, float], standard: IrisStandard, weights: Weights | None) -> float:
    jsd, drift = fidelity_norms(values, standard, weights)
    jsds, drifts = (_largest(names, weights) for names in fidelity_values(standard))
    if not drifts or not jsds:
        return 1 - (max(0.0, 1 - jsd / jsds) if jsds else drift / drifts if drifts else math.nan)
    goodness = max(0.0, 1 - jsd / jsds) * drift / drifts
    return 1 - math.sqrt(goodness) if not math.isnan(goodness) else math.nan


def _largest(names: Iterable[str], weights: Weights | None) -> float:
    """The norm of deviations that are all 1."""
    return math.sqrt(sum(1.0 if weights is None else weights.get(name, 0.0) for name in names))


@lru_cache
def fidelity_values(standard: IrisStandard) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the 5 divergences and of the 13 drifts of Table 27."""
    metrics = sector_metrics("RFS_Und", standard)
    jsds = tuple(m.name for m in metrics if m.metric == "distribution_divergence")
    return jsds, (*(m.name for m in metrics if m.metric == "stereotype_drift"), *SKIN_DRIFT)


def fidelity_norms(
    values: Mapping[str, float], standard: IrisStandard, weights: Weights | None = None
) -> tuple[float, float]:
    """Norm_JSD over 5 and Norm_ASDS over 13 absolute drifts, the columns of Table 27."""
    jsds, drifts = fidelity_values(standard)
    jsd, drift = (norm(((name, values.get(name, math.nan)) for name in names), weights) for names in (jsds, drifts))
    return jsd, drift


def sector_score(magnitude: float, sector: str, standard: IrisStandard) -> float:
    """S * exp(-K * magnitude) of a sector or of the `total` (Algorithm 1, step 5).

    At least 0, no upper bound; higher is better; nan stays nan.
    """
    return standard.scale[sector] * math.exp(-standard.decay[sector] * magnitude)


def total_magnitude(values: Mapping[str, float], standard: IrisStandard, weights: Weights | None = None) -> float:
    """D_tot, the L2 norm of all normalised values (steps 7 to 9); nan if one is nan or absent.

    Under a standard with `fidelity_by_goodness` the drifts are the 13 of Table 27, as in the printed scores. With
    weights it is that of the weighted values that count.
    """
    terms = [(m.name, normalised(m, values.get(m.name, math.nan), standard.total_divisor)) for m in standard.metrics]
    if standard.fidelity_by_goodness:
        terms += [(name, values.get(name, math.nan)) for name in SKIN_DRIFT]
    return norm(terms, weights)


def total_score(values: Mapping[str, float], standard: IrisStandard, weights: Weights | None = None) -> float:
    """The overall score alone, S * exp(-K * D_tot); nan if a value is nan or absent."""
    return sector_score(total_magnitude(values, standard, weights), "total", standard)


def iris_score(values: Mapping[str, float], standard: IrisStandard) -> dict[str, float]:
    """Every sector's score and the overall `iris_score` of the raw values.

    Args:
        values: raw values by the names of `standard.metrics` (and `SKIN_DRIFT`); absent ones count as nan, never as 0.
        standard: which standard to score under.

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
