"""IRIS' scores of many draws of the raw values at once, and the chances of what the threshold decides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metrics.iris_score.formula import Weights, fidelity_values, sector_metrics
from metrics.iris_score.standards import SKIN_DRIFT, STANDARDS, Granular, IrisStandard
from submissions.benchmark import Draws, Scored, ScoreLimits
from submissions.iris_sensitivity import counting
from submissions.sensitivity import AS_RELEASED, OWN, Adjustment
from submissions.uncertainty.design import Floats

DRAWN = frozenset((*(metric.name for standard in STANDARDS.values() for metric in standard.metrics), *SKIN_DRIFT))
"""The raw values that scores of the released standards are made of."""


def score_draws(draws: Draws, standard: IrisStandard, adjustment: Adjustment = AS_RELEASED) -> dict[str, Floats]:
    """`metrics.iris_score.formula.iris_score` of every draw: the sectors and `iris_score`, each (b,).

    A score for which a raw value has no draws is left out; it is nan where a draw of one has no number. The draws know
    nothing of a reader's own reference, so what is compared with it is left out, too.
    """
    weights = counting(standard, adjustment)
    own = adjustment.reference == OWN
    magnitudes = {
        sector: _sector_magnitude(draws, sector, standard, weights[sector])
        for sector in standard.sectors
        if not (own and sector in ("RFS_Gen", "RFS_Und"))
    }
    found = {
        sector: standard.scale[sector] * np.exp(-standard.decay[sector] * magnitude)
        for sector, magnitude in magnitudes.items()
        if magnitude is not None
    }
    restated = own and any(set(weights["total"]) & set(weights[sector]) for sector in ("RFS_Gen", "RFS_Und"))
    total = None if restated else _total_magnitude(draws, standard, weights["total"])
    if total is not None:
        found["iris_score"] = standard.scale["total"] * np.exp(-standard.decay["total"] * total)
    return found


def score_limits(standard: IrisStandard, adjustment: Adjustment = AS_RELEASED) -> ScoreLimits:
    """From 0 to S, the score of the ideal: a magnitude is 0 at least, whatever counts and with whatever weights.

    So it is in RFS_Und by goodness, whose magnitude is 0 where every divergence is 0 and every drift 1.
    """
    largest = {sector: standard.scale[sector] for sector in standard.sectors} | {"iris_score": standard.scale["total"]}
    return {name: (0.0, scale) for name, scale in largest.items()}


def _sector_magnitude(draws: Draws, sector: str, standard: IrisStandard, weights: Weights) -> Floats | None:
    if not weights or not _drawn(draws, list(weights)):
        return None
    if sector == "RFS_Und" and standard.fidelity_by_goodness:
        jsds, drifts = ({n: weights[n] for n in names if n in weights} for names in fidelity_values(standard))
        goodness: list[Floats] = []
        if jsds:
            norm = _norm([(w, draws[name]) for name, w in jsds.items()])
            goodness.append(np.maximum(0.0, 1 - norm / np.sqrt(sum(jsds.values()))))
        if drifts:
            norm = _norm([(w, draws[name]) for name, w in drifts.items()])
            goodness.append(norm / np.sqrt(sum(drifts.values())))
        return 1 - (np.sqrt(goodness[0] * goodness[1]) if len(goodness) == 2 else goodness[0])
    metrics = [metric for metric in sector_metrics(sector, standard) if metric.name in weights]
    return _norm(
        [(weights[m.name], _normalised(m, draws, standard.sector_divisor.get(m.metric, 1.0))) for m in metrics]
    )


def _total_magnitude(draws: Draws, standard: IrisStandard, weights: Weights) -> Floats | None:
    if not weights or not _drawn(draws, list(weights)):
        return None
    metrics = [metric for metric in standard.metrics if metric.name in weights]
    terms = [(weights[m.name], _normalised(m, draws, standard.total_divisor.get(m.metric, 1.0))) for m in metrics]
    return _norm(terms + [(weights[name], draws[name]) for name in SKIN_DRIFT if name in weights])


def _drawn(draws: Draws, names: Sequence[str]) -> bool:
    return all(name in draws for name in names)


def _normalised(metric: Granular, draws: Draws, divisor: float) -> Floats:
    """`formula.normalised` of every draw; kept draws are rounded, and none may fall below a value's smallest number."""
    column = np.maximum(draws[metric.name], 0.0)
    return np.asarray(np.log1p(column) if metric.bound is None else column / divisor)


def _norm(terms: Sequence[tuple[float, Floats]]) -> Floats:
    """The norm of weighted columns."""
    return np.asarray(np.sqrt(np.sum([weight * np.square(column) for weight, column in terms], axis=0)))


def chances(
    draws: Draws, scored: Scored, standard: IrisStandard, adjustment: Adjustment = AS_RELEASED
) -> dict[str, float]:
    """How likely each sector reaches tau, and each task's three letters are those that `labels` shows.

    Letters follow the worst case of a sector, `low`, and draws lie around its `value`: they are multiplied by
    low / value, so that the chance is of what decides the letter. It is the sampling error alone: what the missing
    samples could have been is in `low` already.
    """
    tau = standard.tau if adjustment.tau is None else adjustment.tau
    reached: dict[str, Floats] = {}
    for sector in standard.sectors:
        score = scored.scores.get(sector)
        if sector in draws and score is not None and score.value and score.low is not None:
            column = draws[sector] * (score.low / score.value)
            reached[sector] = np.where(np.isnan(column), np.nan, column >= tau)
    found = {sector: float(np.nanmean(column)) for sector, column in reached.items()}
    for task in ("gen", "und"):
        code = scored.labels.get(f"profile_{task}")
        sectors = [f"{dimension}_{task.title()}" for dimension in ("IFS", "RFS", "BIS")]
        if code is None or not all(sector in reached for sector in sectors):
            continue
        letters = np.array([letter in "UAF" for letter in code])
        columns = np.stack([reached[sector] for sector in sectors], axis=1)
        columns = columns[~np.isnan(columns).any(axis=1)]
        if len(columns):
            found[f"profile_{task}"] = float((columns == letters).all(axis=1).mean())
    return found
