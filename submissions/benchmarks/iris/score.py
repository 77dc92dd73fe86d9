"""Scores of IRIS: six sectors, the total and two profile codes, under a standard."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fairspace.metrics.iris_score.formula import (
    Weights,
    fidelity_values,
    profile_code,
    sector_magnitude,
    sector_metrics,
    sector_score,
    sector_values,
    total_magnitude,
)
from fairspace.metrics.iris_score.standards import ARCHETYPES, SKIN_DRIFT, STANDARDS, Granular, IrisStandard
from fairspace.submissions.benchmarks.adjustment import (
    AS_RELEASED,
    OWN,
    Adjustment,
    is_left_out,
    large_enough,
    left_out,
    unknown_sizes,
)
from fairspace.submissions.benchmarks.benchmark import Draws, Scored, ScoreLimits
from fairspace.submissions.benchmarks.iris.adjust import counting
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.values import Value, measured, not_run, undefined


def score(values: Mapping[str, Value], standard: IrisStandard, adjustment: Adjustment = AS_RELEASED) -> Scored:
    """Sector scores, the total and the two profile codes of the raw values under a standard.

    A score's `value` is what the valid samples say; `low` is the score of the worst values that the missing samples
    allow, and `high` of the best. The total ranks the board, by `low`. Letters follow the sectors' `low`, too.

    Adjusted, only the values that count must have a number (see `iris_sensitivity`); a sector of which none counts is
    left out, of the total too, and one of weight 0 of the total alone. Such a sector needs no coverage, but wherever a
    competence was measured, its floor holds: who answers at random is not ranked, whatever a reader leaves out.
    """
    unranked = list(unknown_sizes(values, adjustment))
    known, values = values, large_enough(values, adjustment)
    scores: dict[str, Value] = {}
    weights = None if adjustment is AS_RELEASED else counting(standard, adjustment)
    faults = {
        sector: _thin(values, sector, standard, weights) + _too_weak(known, sector, standard)
        for sector in standard.sectors
    }
    for sector in standard.sectors:
        scores[sector] = _sector(values, sector, standard, weights)
        if not adjustment.weight(sector) or is_left_out(scores[sector]):
            unranked += _too_weak(known, sector, standard, counts=False)
            continue
        undefined_as = [f"{sector} is undefined: {scores[sector].reason}"]
        unranked += faults[sector] if scores[sector].state == "value" else undefined_as
    scores["iris_score"] = _total(values, scores, standard, weights)
    ranked = None if unranked else scores["iris_score"].low
    labels = _profiles(faults, scores, standard.tau if adjustment.tau is None else adjustment.tau)
    return Scored(scores, "iris_score", ranked, tuple(unranked), labels)


Counting = Mapping[str, Weights] | None
"""Sector, or `total` -> the values that count, each with its weight; None: all of them alike."""


def _names(part: str, standard: IrisStandard, weights: Counting) -> Sequence[str]:
    """The values that count in a sector."""
    return sector_values(part, standard) if weights is None else tuple(weights[part])


def _sector(values: Mapping[str, Value], sector: str, standard: IrisStandard, weights: Counting) -> Value:
    names = _names(sector, standard, weights)
    if not names:
        return left_out(sector)
    own = None if weights is None else weights[sector]
    expected, valid = _counts(values, names)
    missing = [name for name in names if name not in values or values[name].state != "value"]
    if missing and all(name in values and values[name].state == "not_run" for name in names):
        return not_run(sector, values[names[0]].reason, expected=expected)
    if missing:
        first = values.get(missing[0])
        why = first.reason if first is not None else "the result does not hold it"
        reason = f"{len(missing)} of {len(names)} values are missing, the first is {missing[0]}: {why}"
        return undefined(sector, reason, expected=expected, valid=valid)
    rewarded = sector == "RFS_Und" and standard.fidelity_by_goodness
    plain, worst, best = (_numbers(values, names, side, rewarded) for side in ("value", "worst", "best"))
    magnitude = sector_magnitude(plain, sector, standard, own)
    largest, least = (magnitude if s == plain else sector_magnitude(s, sector, standard, own) for s in (worst, best))
    return measured(
        sector,
        sector_score(magnitude, sector, standard),
        low=sector_score(largest, sector, standard),
        high=sector_score(least, sector, standard),
        expected=expected,
        valid=valid,
        evidence={"magnitude": round(magnitude, 9)},
    )


def _numbers(values: Mapping[str, Value], names: Sequence[str], side: str, drift_rewarded: bool) -> dict[str, float]:
    """The values, or their worst or best bounds: larger is worse, but for a drift where the standard rewards it."""
    numbers = {}
    for name in names:
        value = values[name]
        upper = (side == "worst") != (drift_rewarded and name.startswith("AbsSDS"))
        chosen = value.value if side == "value" else value.high if upper else value.low
        numbers[name] = math.nan if chosen is None else chosen
    return numbers


def _total(
    values: Mapping[str, Value], scores: Mapping[str, Value], standard: IrisStandard, weights: Counting
) -> Value:
    own = None if weights is None else weights["total"]
    names = [name for s in standard.sectors for name in _names(s, standard, weights) if own is None or name in own]
    if not names:
        return left_out("iris_score")
    expected, valid = _counts(values, names)
    sectors = [s for s in standard.sectors if any(name in names for name in sector_values(s, standard))]
    missing = [sector for sector in sectors if scores[sector].state != "value"]
    if missing:
        reason = f"partial: {', '.join(missing)} undefined or not run"
        return undefined("iris_score", reason, expected=expected, valid=valid)
    plain, worst, best = (_numbers(values, names, side, False) for side in ("value", "worst", "best"))
    distance = total_magnitude(plain, standard, own)
    largest, least = (distance if s == plain else total_magnitude(s, standard, own) for s in (worst, best))
    return measured(
        "iris_score",
        sector_score(distance, "total", standard),
        low=sector_score(largest, "total", standard),
        high=sector_score(least, "total", standard),
        expected=expected,
        valid=valid,
        evidence={"magnitude": round(distance, 9)},
    )


def _counts(values: Mapping[str, Value], names: Sequence[str]) -> tuple[int, int]:
    """Expected and valid samples of the least covered value, so that a score's coverage hides no gap."""
    known = [values[name] for name in names if name in values and values[name].expected]
    if not known:
        return 0, 0
    least = min(known, key=lambda value: value.valid / value.expected)
    return least.expected, least.valid


def _thin(values: Mapping[str, Value], sector: str, standard: IrisStandard, weights: Counting) -> list[str]:
    """Why a sector that has a score is still not ranked: too few of the samples that count are usable."""
    expected, valid = _counts(values, _names(sector, standard, weights))
    if not expected or valid / expected >= standard.minimum_coverage:
        return []
    share = f"{valid / expected:.1%} of {expected} samples are usable"
    return [f"{sector}: {share}, below the minimum coverage of {standard.minimum_coverage:.0%}"]


def _too_weak(values: Mapping[str, Value], sector: str, standard: IrisStandard, counts: bool = True) -> list[str]:
    """Why a sector is not ranked, or the model with it: no more competent than a constant answer.

    Args:
        values: as measured, whatever a reader changes.
        sector: whose floors.
        standard: with the floors.
        counts: whether the sector does; if not, its competences need not be known (the model may not have run it).
    """
    reasons = []
    for name, floor in standard.floors.get(sector, {}).items():
        value, at_most = values.get(name), name.endswith("_max")
        if not counts and (value is None or value.state != "value"):
            continue
        bound = None if value is None or value.state != "value" else value.high if at_most else value.low
        if bound is None:
            reasons.append(f"{sector}: {name} is not known")
        elif at_most and bound > floor:
            reasons.append(f"{sector}: {name} is {bound:.3f}, above {floor}: no better than a constant answer")
        elif not at_most and bound < floor:
            reasons.append(f"{sector}: {name} is {bound:.3f}, below {floor}: no better than a constant answer")
    return reasons


def _profiles(faults: Mapping[str, Sequence[str]], scores: Mapping[str, Value], tau: float) -> dict[str, str]:
    """The codes of the tasks whose sectors have no fault."""
    labels = {}
    for task in ("Gen", "Und"):
        sectors = [f"{dimension}_{task}" for dimension in ("IFS", "RFS", "BIS")]
        if any(faults[sector] for sector in sectors):
            continue
        ifs, rfs, bis = (math.nan if (low := scores[sector].low) is None else low for sector in sectors)
        code = profile_code(ifs, rfs, bis, tau)
        if code is not None:
            labels[f"profile_{task.lower()}"] = code
            labels[f"archetype_{task.lower()}"] = ARCHETYPES[code]
    return labels


DRAWN = frozenset((*(metric.name for standard in STANDARDS.values() for metric in standard.metrics), *SKIN_DRIFT))
"""The raw values that scores of the released standards are made of."""


def score_draws(draws: Draws, standard: IrisStandard, adjustment: Adjustment = AS_RELEASED) -> dict[str, Floats]:
    """`fairspace.metrics.iris_score.formula.iris_score` of every draw: the sectors and `iris_score`, each (b,).

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
