"""IRIS: from a submission to the 60 raw values, and from raw values to six sector scores, a total and profile codes.

Source: arXiv:2603.00590. The values are measured in `iris_generation`, `iris_understanding` and `iris_pairs`; this
module puts them in Table 6's order and scores them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from builders import iris_gen_52, iris_ideal_52, iris_steer_60
from builders.labour import REGIONS, Region
from metrics.iris_score.formula import (
    Weights,
    profile_code,
    sector_magnitude,
    sector_score,
    sector_values,
    total_magnitude,
)
from metrics.iris_score.standards import ARCHETYPES, GRANULAR, STANDARDS, IrisStandard
from submissions.benchmark import Benchmark, Scored, Task, together
from submissions.format import Submission
from submissions.iris_designs import counts, designs
from submissions.iris_draws import DRAWN, chances, score_draws, score_limits
from submissions.iris_generation import NEUTRAL, STEER, measure_neutral, measure_steer
from submissions.iris_labels import LIMITS, corrected
from submissions.iris_occupations import EMBEDDING, THRESHOLD
from submissions.iris_pairs import PAIR, measure_pairs
from submissions.iris_sensitivity import adjustable, counting, referred
from submissions.iris_understanding import OCCUPATION, TOURNAMENT, measure_occupations, measure_tournament
from submissions.iris_variants import variants
from submissions.sensitivity import AS_RELEASED, Adjustment, is_left_out, large_enough, left_out, unknown_sizes
from submissions.values import Value, measured, not_run, undefined

TASKS = (
    Task(NEUTRAL, "annotations", iris_gen_52.IMAGES, iris_gen_52.ids, ("RD_gender", "IFS_Gen.RD_gender")),
    Task(
        STEER, "annotations", iris_steer_60.IMAGES, iris_steer_60.steer_ids, ("Penalty_delta_GSR", "BIS_Gen.magnitude")
    ),
    Task(OCCUPATION, "responses", 1, iris_ideal_52.image_ids, ("AD_single_gender", "IFS_Und.AD_single")),
    Task(TOURNAMENT, "responses", 1, iris_ideal_52.tournament_ids, ("JSD_gender_US", "RFS_Und.norm_JSD_US")),
    Task(PAIR, "responses", 1, iris_steer_60.pair_ids, ("ac_diff_gender", "BIS_Und.AC_single")),
)


Measure = Callable[[Submission, Sequence[Region]], Iterable[Value]]
MEASURES: tuple[Measure, ...] = (
    measure_neutral,
    lambda submission, regions: measure_steer(submission),
    measure_occupations,
    measure_tournament,
    lambda submission, regions: measure_pairs(submission),
)
"""What measures a submission; a new dimension adds its own here, and a standard says which values are scored."""


def measure(submission: Submission, regions: Sequence[Region] = REGIONS) -> dict[str, Value]:
    """The raw values: the 60 in the order of Table 6, then those of further groups and regions, then competences."""
    found = {value.name: value for one in MEASURES for value in one(submission, regions)}
    first = [metric.name for metric in GRANULAR if metric.name in found]
    rest = sorted(set(found) - set(first), key=lambda name: (name.startswith("competence"), list(found).index(name)))
    return {name: found[name] for name in first + rest}


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


BENCHMARK = Benchmark(
    name="iris",
    title="IRIS",
    dataset_revisions=("v1",),
    tasks=TASKS,
    measure=measure,
    standards=STANDARDS,
    score=score,
    higher_is_better=True,
    signature=lambda submission: {"occupation_mapping": f"aliases+{EMBEDDING}>={THRESHOLD}"},
    designs=designs,
    variants=together(variants, corrected),
    score_draws=score_draws,
    label_limits=LIMITS,
    score_limits=score_limits,
    logarithmic=True,
    drawn=DRAWN,
    counts=counts,
    chances=chances,
    adjustable=adjustable,
    referred=referred,
)
