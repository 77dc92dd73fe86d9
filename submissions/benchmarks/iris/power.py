"""What a run of IRIS' understanding tasks can show: AD, SPD, SDS, JSD, AC difference and DHR inconsistency."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.iris.groups import (
    COMBINATIONS,
    GROUP_NAMES,
    GROUPS,
    OCCUPATIONS,
    combination_codes,
    combination_size,
    group_attributes,
)
from fairspace.builders.iris.labour import REGIONS, shares
from fairspace.builders.iris_steer_60.plan import OBJECTIVE, SUBJECTIVE
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.iris_score.standards import GRANULAR
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.benchmarks.detectable import Chosen, Detectable, counted, empty, from_errors
from fairspace.submissions.benchmarks.iris.measure.occupations import MINIMUM_GROUP
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, OCCUPATION, PAIR, QUALITY, STEER, TOURNAMENT
from fairspace.submissions.benchmarks.power import (
    calibrated,
    chance_gap,
    gap_error,
    halfway,
    simulated,
    smallest_difference,
)
from fairspace.submissions.format.schema import RANGES
from fairspace.submissions.running.planning.images import STEREOTYPICAL

ACCURACY, CLASS_SHARE, WRONG_PAIRS, RATING_SPREAD = 0.3, 0.1, 0.2, 1.5
"""Of the usual case: accuracy, share of one class, pairs with one answer right, spread of |rating a - rating b|."""
_NAMES = {(one.metric, one.attribute, one.reference): one.name for one in GRANULAR if one.sector.endswith("_Und")}
_DRAWS, _SMALL_DRAWS = 200, 1000
"""Of simulations with 53 classes for each of 18 groups, and with two or three groups."""
_GAP = "the gap between the two smallest groups"
Counts = NDArray[np.int_]


def detectable(chosen: Chosen) -> list[Detectable]:
    """The 43 values of understanding and the 17 of generation, those whose tasks are run."""
    found = generation(chosen)
    if OCCUPATION in chosen:
        found += _gaps(chosen[OCCUPATION])
        found += _drifts(len(chosen[OCCUPATION]))
    if TOURNAMENT in chosen:
        found += _tournament(sum(one.asks for one in chosen[TOURNAMENT]), len(chosen[TOURNAMENT]))
    if PAIR in chosen:
        found += _pairs(chosen[PAIR])
    return found


def _name(metric: str, attribute: str, reference: str = "") -> str:
    """As in Table 6; there the last combination is called `joint_all` but for pairs."""
    if (metric, attribute, reference) not in _NAMES:
        attribute = "joint_all"
    return _NAMES[metric, attribute, reference]


def _gaps(stimuli: Sequence[Stimulus]) -> list[Detectable]:
    """AD and SPD: each group's own images count, and the smallest groups decide."""
    by_group = counted(stimuli, lambda one: one.stratum.split("/")[1])
    sizes = np.array([by_group.get(group, 0) for group in GROUPS])
    found: dict[str, list[Detectable]] = {"AD": [], "SPD": []}
    attributes = group_attributes(np.arange(len(GROUPS)))
    for combination in COMBINATIONS:
        merged: Counts = np.zeros(combination_size(combination), dtype=np.int64)
        np.add.at(merged, combination_codes(attributes, combination), sizes)
        kept = merged[merged >= MINIMUM_GROUP]
        for family, metric, p in (
            ("AD", "accuracy_disparity", ACCURACY),
            ("SPD", "statistical_parity_difference", CLASS_SHARE),
        ):
            name = _name(metric, combination)
            if len(kept) < 2:
                why = f"fewer than two groups of at least {MINIMUM_GROUP} images"
                found[family].append(
                    empty(name, family, OCCUPATION, int(merged.min()), "images of the smallest group", why)
                )
                continue
            floor = chance_gap(p, kept.tolist()) if family == "AD" else _class_gap(kept)
            usual, worst = (gap_error(share, kept.tolist()) for share in (p, 0.5))
            what = f"accuracy {p}" if family == "AD" else f"a class of {p:.0%}; chance: all 52 equally often"
            note = f"{_GAP}, {what}; worst: one half"
            if len(kept) < len(merged):
                note += f"; {len(merged) - len(kept)} groups are left out"
            found[family].append(
                from_errors(
                    name,
                    family,
                    OCCUPATION,
                    int(kept.min()),
                    "images of the smallest group",
                    usual,
                    worst,
                    floor,
                    note=note,
                )
            )
    return [*found["AD"], *found["SPD"]]


def _class_gap(sizes: Counts) -> float:
    """SPD of a model that names each occupation equally often, whoever is shown."""

    def widest(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.ptp(counts / sizes[:, None], axis=1).max(axis=-1))

    even = np.full((len(sizes), len(OCCUPATIONS)), 1 / len(OCCUPATIONS))
    return simulated(widest, sizes, even, _DRAWS).mean


def _drifts(images: int) -> list[Detectable]:
    """|SDS|: the mean over wrong answers of the difference of two occupations' shares, picked at random."""
    found = []
    for one in GRANULAR:
        if one.metric != "stereotype_drift":
            continue
        attribute, group = one.attribute.split("_", 1)
        region = next(region for region in REGIONS if region.code == one.reference)
        column = shares(region)[attribute][:, GROUP_NAMES[attribute].index(group)]
        listed = float((~np.isnan(column)).mean())  # both the true and the named occupation need figures
        wrong = max(1, round(images * (1 - ACCURACY) * listed**2))
        error = float(np.nanstd(column)) * math.sqrt(2 / wrong)
        floor = error * math.sqrt(2 / math.pi)
        note = f"accuracy {ACCURACY}, wrong answers at random; chance: mean of the absolute value about 0"
        found.append(
            from_errors(one.name, "SDS", OCCUPATION, wrong, "wrong answers with figures", error, floor=floor, note=note)
        )
    return found


def _tournament(rounds: int, blocks: int) -> list[Detectable]:
    """JSD of the winners' groups from labour figures, by occupation: about a 52nd of the rounds each."""
    note = "a model that ignores the figures; worst: all rounds of a block alike; chance: a model that follows them"
    sizes, worst = (np.full(len(OCCUPATIONS), number // len(OCCUPATIONS)) for number in (rounds, blocks))
    return divergences("Und", TOURNAMENT, sizes, worst, note)


def divergences(side: str, task: str, sizes: Counts, worst: Counts | None, note: str) -> list[Detectable]:
    """JSD of every region and attribute.

    Args:
        side: `Und` or `Gen`.
        task: of the submission.
        sizes: (52,) answers or images of an occupation.
        worst: (52,) as many of them as are surely independent; None if all are, or nobody knows.
        note: of the values.
    """
    found = []
    for one in GRANULAR:
        if one.metric != "distribution_divergence" or not one.sector.endswith(side):
            continue
        region = next(region for region in REGIONS if region.code == one.reference)
        reference = shares(region)[one.attribute]
        listed = ~np.isnan(reference).any(axis=1)
        n, of = int(sizes[listed].min()), "of an occupation"
        if not n:
            why = f"{int((sizes[listed] == 0).sum())} of {int(listed.sum())} occupations have nothing"
            found.append(empty(one.name, "JSD", task, n, of, why))
            continue
        q = reference[listed]

        def mean(counts: NDArray[np.float64], q: NDArray[np.float64] = q) -> NDArray[np.float64]:
            return np.asarray(divergence(counts / counts.sum(axis=-1, keepdims=True), q).mean(axis=-1))

        even = np.full(q.shape, 1 / q.shape[1])
        usual = calibrated(mean, sizes[listed], even, q, _SMALL_DRAWS)
        alike = None
        if worst is not None:
            alike = calibrated(mean, worst[listed], even, q, _SMALL_DRAWS).error if worst[listed].all() else math.inf
        bound = math.log(2)
        found.append(from_errors(one.name, "JSD", task, n, of, usual.error, alike, usual.chance, "nats", note, bound))
    return found


def _pairs(stimuli: Sequence[Stimulus]) -> list[Detectable]:
    """AC difference and DHR inconsistency: a combination has about a seventh of the pairs."""
    pairs = dict.fromkeys(COMBINATIONS, 0)
    for one in stimuli:
        pairs[one.stratum.split("/")[0]] += 1
    found: dict[str, list[Detectable]] = {"ac_diff": [], "dhr_inconsistency": []}
    for combination, n in pairs.items():
        for family, metric, questions in (
            ("ac_diff", "answer_consistency_difference", len(SUBJECTIVE)),
            ("dhr_inconsistency", "hallucination_inconsistency", len(OBJECTIVE)),
        ):
            name, of = _name(metric, combination), "pairs of the combination"
            if not n:
                found[family].append(empty(name, family, PAIR, 0, of, "no pair of the combination"))
                continue
            spread = RATING_SPREAD if family == "ac_diff" else math.sqrt(WRONG_PAIRS * (1 - WRONG_PAIRS))
            largest, unit = (4.5, "points") if family == "ac_diff" else (0.5, "share")
            what = f"standard deviation {RATING_SPREAD} of 9" if family == "ac_diff" else f"{WRONG_PAIRS:.0%} of pairs"
            note = f"{what}, each question on its own; worst: half at either end, and all questions of a pair alike"
            found[family].append(
                Detectable(
                    name,
                    family,
                    PAIR,
                    n,
                    of,
                    smallest_difference(spread / math.sqrt(n * questions)),
                    smallest_difference(largest / math.sqrt(n)),
                    unit=unit,
                    note=note,
                )
            )
    return [*found["ac_diff"], *found["dhr_inconsistency"]]


_GENERATION_DRAWS = 200


def generation(chosen: Chosen) -> list[Detectable]:
    """The 17 values, those whose tasks are run."""
    found: list[Detectable] = []
    if NEUTRAL in chosen:
        by_item = counted(chosen[NEUTRAL], lambda one: one.stratum.split("/")[1])
        sizes = np.array([by_item.get(occupation, 0) for occupation in OCCUPATIONS])
        found += _disparities(sizes)
        note = "a model that ignores the figures; chance: a model that follows them"
        found += divergences("Gen", NEUTRAL, sizes, None, note)
    if STEER in chosen:
        found += _penalties(chosen[STEER])
    return found


def _disparities(sizes: NDArray[np.int_]) -> list[Detectable]:
    found = []
    n, of = int(sizes.min()), "images of an occupation"
    for combination in COMBINATIONS:
        name = f"RD_{'joint_all' if combination == 'gender_age_skin' else combination}"
        if not n:
            why = f"{int((sizes == 0).sum())} of {len(sizes)} occupations have no image"
            found.append(empty(name, "RD", NEUTRAL, n, of, why))
            continue
        k = combination_size(combination)
        even = np.full((len(sizes), k), 1 / k)
        usual = calibrated(_mean_disparity, sizes, halfway(len(sizes), k), even, _GENERATION_DRAWS)
        note = "a model half way from even-handed to one-sided; every image has its labels"
        found.append(from_errors(name, "RD", NEUTRAL, n, of, usual.error, None, usual.chance, note=note))
    return found


def _mean_disparity(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """(draws, occupations, k) images -> the mean RD of each draw."""
    return np.asarray(disparity(counts / counts.sum(axis=-1, keepdims=True)).mean(axis=-1))


def _penalties(images: Sequence[Stimulus]) -> list[Detectable]:
    """Stereotypical against counter-stereotypical prompts; max(0, difference) is above 0 by chance."""
    stereo = sum(one.stratum.endswith(STEREOTYPICAL) for one in images)
    sizes = (stereo, len(images) - stereo)
    names = ("Penalty_delta_GSR", *QUALITY)
    if not all(sizes):
        why = "one of the two kinds of prompts has no image"
        return [empty(name, "penalties", STEER, len(images), "images", why) for name in names]
    spread = math.sqrt(sum(1 / size for size in sizes))
    found = []
    for name in names:
        low, high = RANGES[QUALITY[name]] if name in QUALITY else (0.0, 1.0)
        sd = (high - low) / 2
        usual = sd / 3 if name in QUALITY else sd
        note = "half of the images as asked"
        if name in QUALITY:
            note = (
                f"standard deviation {usual:.2f}, a sixth of the range {low:g} to {high:g}; worst: half at either end"
            )
        note += "; chance: of a model that follows both kinds alike"
        floor = usual * spread / math.sqrt(2 * math.pi)
        found.append(
            from_errors(name, "penalties", STEER, sum(sizes), "images", usual * spread, sd * spread, floor, note=note)
        )
    return found
