"""Scores of IRIS: six sectors, the total and two profile codes, under a standard."""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from fairspace.metrics.columns import Floats
from fairspace.metrics.iris_score import formula
from fairspace.metrics.iris_score.standards import ARCHETYPES, REGION, SKIN_DRIFT, STANDARDS, IrisStandard
from fairspace.submissions.benchmarks.benchmark import Draws, Scored
from fairspace.submissions.benchmarks.scoring_table import (
    AS_RELEASED,
    Adjustable,
    Adjustment,
    Columns,
    Ended,
    Parts,
    Rule,
    ScoringTable,
    Weights,
    falling,
    is_left_out,
    least_covered,
)
from fairspace.submissions.values import Value, not_run, undefined

TOTAL = "iris_score"
DRIFT_REWARDED = "a larger drift from labour statistics counts as better"
PROFILES = {
    f"profile_{task.lower()}": tuple(f"{dimension}_{task}" for dimension in ("IFS", "RFS", "BIS"))
    for task in ("Gen", "Und")
}
"""Profile code -> the sectors of its three letters."""


def score(values: Mapping[str, Value], standard: IrisStandard, adjustment: Adjustment = AS_RELEASED) -> Scored:
    """Sector scores, the total and the two profile codes of the raw values under a standard.

    `value` is the score of the valid samples; `low`, by which the total ranks and the letters go, allows for missing
    ones. A sector of which nothing counts is left out and needs no coverage, but every measured competence keeps its
    floor.
    """
    regional = standard.name.startswith(REGION)
    unranked = [f"{standard.name} has a region's own labour figures, which no board ranks"] if regional else []
    table = scoring(standard, adjustment)
    scores = table.values(values)
    faults = {
        sector: _thin(values, sector, standard, table.rules[sector].weights) + _too_weak(values, sector, standard)
        for sector in standard.sectors
    }
    for sector in standard.sectors:
        if not adjustment.weight(sector) or is_left_out(scores[sector]):
            unranked += _too_weak(values, sector, standard, counts=False)
            continue
        undefined_as = [f"{sector} is undefined: {scores[sector].reason}"]
        unranked += faults[sector] if scores[sector].state == "value" else undefined_as
    labels: dict[str, str] = {}
    for profile, sectors in PROFILES.items():
        if not any(faults[sector] for sector in sectors):
            labels |= _labels(profile, [scores[sector].low for sector in sectors], _threshold(standard, adjustment))
    return Scored(scores, TOTAL, None if unranked else scores[TOTAL].low, tuple(unranked), labels)


@lru_cache(64)
def scoring(standard: IrisStandard, adjustment: Adjustment) -> ScoringTable:
    """Sectors and total as scaled exponentials of norms, from 0 to S; RFS_Und by goodness if the standard says so.

    By goodness RFS_Und is 0 where every divergence is 0 and every drift 1.
    """
    weights = _weights(standard, adjustment)
    rules = [_sector_rule(sector, weights[sector], standard) for sector in standard.sectors]
    rules.append(_total_rule({rule.name: rule.weights for rule in rules}, weights["total"], standard))
    return ScoringTable(rules={rule.name: rule for rule in rules}, ranking=(TOTAL,))


def _weights(standard: IrisStandard, adjustment: Adjustment) -> Mapping[str, Weights]:
    """Sector, or `total` -> its values with their weights.

    A sector's weight multiplies its squared deviations in the total, D^2 = sum of w_s * sum of u^2; a value's (Table 6,
    and the drifts of Table 27) holds in its sector and in the total.
    """
    weights: dict[str, dict[str, float]] = {"total": {}}
    for sector in standard.sectors:
        values = {name: adjustment.weight(name) for name in formula.sector_values(sector, standard)}
        weights[sector] = {name: weight for name, weight in values.items() if weight}
        if part := adjustment.weight(sector):
            weights["total"] |= {name: part * weight for name, weight in weights[sector].items()}
    return weights


def adjustable(standard: IrisStandard) -> Adjustable:
    """Weights of each sector and of its values, and the threshold of the letters."""
    units = tuple((sector, name) for sector in standard.sectors for name in formula.sector_values(sector, standard))
    return Adjustable(units, standard.tau)


def _sector_rule(sector: str, weights: Weights, standard: IrisStandard) -> Rule:
    def lacking(name: str, parts: Parts, expected: int, valid: int) -> Value:
        missing = [part for part in parts.values() if part.state != "value"]
        if all(part.state == "not_run" for part in parts.values()):
            return not_run(name, missing[0].reason, expected=expected)
        first = f"the first is {missing[0].name}: {missing[0].reason}"
        reason = f"{len(missing)} of {len(parts)} values are missing, {first}"
        return undefined(name, reason, expected=expected, valid=valid)

    return Rule(
        sector,
        weights,
        lambda columns, weights: formula.sector_magnitude(columns, sector, standard, weights),
        bounds=_with_rewarded_drift if sector == "RFS_Und" and standard.fidelity_by_goodness else falling,
        lacking=lacking,
        **_scaled(sector, standard),
    )


def _total_rule(sectors: Mapping[str, Weights], weights: Weights, standard: IrisStandard) -> Rule:
    sector_of = {name: sector for sector, names in sectors.items() for name in names}

    def lacking(name: str, parts: Parts, expected: int, valid: int) -> Value:
        missing = dict.fromkeys(sector_of[part] for part, value in parts.items() if value.state != "value")
        return undefined(name, f"partial: {', '.join(missing)} undefined or not run", expected=expected, valid=valid)

    return Rule(
        TOTAL,
        weights,
        lambda columns, weights: formula.total_magnitude(columns, standard, weights),
        bounds=falling,
        lacking=lacking,
        **_scaled("total", standard),
    )


def _scaled(part: str, standard: IrisStandard) -> dict[str, Any]:
    rescale = partial(formula.sector_score, sector=part, standard=standard)
    return {"limits": (0.0, standard.scale[part]), "rescale": rescale, "counts": least_covered}


def _with_rewarded_drift(parts: Mapping[str, Ended]) -> tuple[Columns, Columns]:
    """Points as by `falling`, with larger drifts as better."""
    ends = {name: (part.low, part.high) for name, part in parts.items()}
    worst = {name: low if name.startswith("AbsSDS") else high for name, (low, high) in ends.items()}
    return worst, {name: high if name.startswith("AbsSDS") else low for name, (low, high) in ends.items()}


def _thin(values: Mapping[str, Value], sector: str, standard: IrisStandard, weights: Weights) -> list[str]:
    """Reasons why a scored sector is not ranked: too few usable samples."""
    expected, valid = least_covered(values[name] for name in weights if name in values)
    if not expected or valid / expected >= standard.minimum_coverage:
        return []
    share = f"{valid / expected:.1%} of {expected} samples are usable"
    return [f"{sector}: {share}, below the minimum coverage of {standard.minimum_coverage:.0%}"]


def _too_weak(values: Mapping[str, Value], sector: str, standard: IrisStandard, counts: bool = True) -> list[str]:
    """Reasons why a sector that counts, or the model, is not ranked: a competence below that of a constant answer."""
    reasons = []
    for name, floor in standard.floors.get(sector, {}).items():
        value, at_most = values.get(name), name.endswith("_max")
        if not counts and (value is None or value.state != "value"):
            continue
        bound = None if value is None or value.state != "value" else value.high if at_most else value.low
        if bound is None:
            reasons.append(f"{sector}: {name} is not known")
            continue
        shortfall = f"{sector}: {name} is {bound:.3f} in the worst case; {floor}"
        if at_most and bound > floor:
            reasons.append(f"{shortfall} is the most, and a constant answer has more")
        elif not at_most and bound < floor:
            reasons.append(f"{shortfall} is needed, which no constant answer reaches")
    return reasons


def _threshold(standard: IrisStandard, adjustment: Adjustment) -> float:
    return standard.tau if adjustment.tau is None else adjustment.tau


def _labels(profile: str, numbers: Iterable[float | None], threshold: float) -> dict[str, str]:
    ifs, rfs, bis = (math.nan if number is None else number for number in numbers)
    code = formula.profile_code(ifs, rfs, bis, threshold)
    return {} if code is None else {profile: code, profile.replace("profile", "archetype"): ARCHETYPES[code]}


def profiles_of(scores: Parts, threshold: float) -> dict[str, str]:
    """Codes and archetypes of scores; none for a task of which a sector has no score."""
    codes: dict[str, str] = {}
    for profile, sectors in PROFILES.items():
        of_sectors = [scores.get(sector) for sector in sectors]
        codes |= _labels(profile, [None if score is None else score.value for score in of_sectors], threshold)
    return codes


DRAWN = frozenset((*(metric.name for standard in STANDARDS.values() for metric in standard.metrics), *SKIN_DRIFT))
"""Raw values behind the scores of the released standards."""


def chances(
    draws: Draws, scored: Scored, standard: IrisStandard, adjustment: Adjustment = AS_RELEASED
) -> dict[str, float]:
    """Probability that each sector reaches tau, and each task has the letters of `labels`, by sampling error alone.

    Draws are multiplied by low / value, because letters follow a sector's `low`.
    """
    threshold = _threshold(standard, adjustment)
    reached: dict[str, Floats] = {}
    for sector in standard.sectors:
        score = scored.scores.get(sector)
        if sector in draws and score is not None and score.value and score.low is not None:
            column = draws[sector] * (score.low / score.value)
            reached[sector] = np.where(np.isnan(column), np.nan, column >= threshold)
    shares = {sector: float(np.nanmean(column)) for sector, column in reached.items()}
    for profile, sectors in PROFILES.items():
        code = scored.labels.get(profile)
        if code is None or not all(sector in reached for sector in sectors):
            continue
        letters = np.array([letter in "UAF" for letter in code])
        columns = np.stack([reached[sector] for sector in sectors], axis=1)
        columns = columns[~np.isnan(columns).any(axis=1)]
        if len(columns):
            shares[profile] = float((columns == letters).all(axis=1).mean())
    return shares
