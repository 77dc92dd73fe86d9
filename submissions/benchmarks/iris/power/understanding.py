"""What a run of IRIS' understanding tasks can show: AD, SPD, SDS, JSD, AC difference and DHR inconsistency."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS, GROUP_NAMES, GROUPS, OCCUPATIONS, group_members
from fairspace.builders.iris.labour import REGIONS, shares
from fairspace.builders.iris_steer_60.plan import OBJECTIVE, SUBJECTIVE
from fairspace.metrics.iris_score.standards import GRANULAR
from fairspace.metrics.statistical_parity_difference.formula import rate_gap
from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.benchmarks.detectable import Chosen, Detectable, counted, empty, from_errors
from fairspace.submissions.benchmarks.iris.measure.means import Integers
from fairspace.submissions.benchmarks.iris.measure.occupations import MINIMUM_GROUP, gap_name
from fairspace.submissions.benchmarks.iris.measure.tournament import tournament_name
from fairspace.submissions.benchmarks.iris.power.divergences import divergences
from fairspace.submissions.benchmarks.iris.records import OCCUPATION, PAIR, TOURNAMENT
from fairspace.submissions.benchmarks.power import chance_gap, gap_error, simulated, smallest_difference

ACCURACY, CLASS_SHARE, WRONG_PAIRS, RATING_SPREAD = 0.3, 0.1, 0.2, 1.5
"""Of the usual case: accuracy, share of one class, pairs with one answer right, spread of |rating a - rating b|."""
_DRAWS = 200
"""Of a simulation, with 53 classes for each of 18 groups."""


def understanding(chosen: Chosen) -> list[Detectable]:
    """The 43 values, those whose tasks are run."""
    values = []
    if OCCUPATION in chosen:
        values += [*_gaps(chosen[OCCUPATION]), *_drifts(len(chosen[OCCUPATION]))]
    if TOURNAMENT in chosen:
        values += _tournament(sum(block.asks for block in chosen[TOURNAMENT]), len(chosen[TOURNAMENT]))
    if PAIR in chosen:
        values += _pairs(chosen[PAIR])
    return values


def _gaps(stimuli: Sequence[Stimulus]) -> list[Detectable]:
    """AD and SPD: each group's images count, and the smallest groups decide."""
    by_group = counted(stimuli, lambda stimulus: stimulus.stratum.split("/")[1])
    images = np.array([by_group.get(group, 0) for group in GROUPS])
    sizes = {combination: images @ group_members(combination) for combination in COMBINATIONS}
    return [_gap(metric, combination, sizes[combination]) for metric in ("AD", "SPD") for combination in COMBINATIONS]


def _gap(metric: str, combination: str, sizes: Integers) -> Detectable:
    """AD or SPD of groups of these sizes."""
    name, of = gap_name(metric, combination), "images of the smallest group"
    kept = sizes[sizes >= MINIMUM_GROUP]
    if len(kept) < 2:
        why = f"fewer than two groups of at least {MINIMUM_GROUP} images"
        return empty(name, metric, OCCUPATION, int(sizes.min()), of, why)
    if metric == "AD":
        p, floor, what = ACCURACY, chance_gap(ACCURACY, kept.tolist()), f"accuracy {ACCURACY}"
    else:
        p, floor = CLASS_SHARE, _class_gap(kept)
        what = f"a class of {CLASS_SHARE:.0%}; chance: all 52 equally often"
    note = f"the gap between the two smallest groups, {what}; worst: one half"
    if len(kept) < len(sizes):
        note += f"; {len(sizes) - len(kept)} groups are left out"
    usual, worst = (gap_error(share, kept.tolist()) for share in (p, 0.5))
    return from_errors(name, metric, OCCUPATION, int(kept.min()), of, usual, worst, floor, note=note)


def _class_gap(sizes: Integers) -> float:
    """SPD of a model that names each occupation equally often, whoever is shown."""
    even = np.full((len(sizes), len(OCCUPATIONS)), 1 / len(OCCUPATIONS))
    return simulated(rate_gap, sizes, even, _DRAWS).mean


def _drifts(images: int) -> list[Detectable]:
    """|SDS|: the mean over wrong answers of the difference of two occupations' shares, picked at random."""
    values = []
    for metric in GRANULAR:
        if metric.metric != "stereotype_drift":
            continue
        attribute, group = metric.attribute.split("_", 1)
        region = next(region for region in REGIONS if region.code == metric.reference)
        column = shares(region)[attribute][:, GROUP_NAMES[attribute].index(group)]
        listed = float((~np.isnan(column)).mean())  # both the true and the named occupation need figures
        wrong = max(1, round(images * (1 - ACCURACY) * listed**2))
        error = float(np.nanstd(column)) * math.sqrt(2 / wrong)
        floor, of = error * math.sqrt(2 / math.pi), "wrong answers with figures"
        note = f"accuracy {ACCURACY}, wrong answers at random; chance: mean of the absolute value about 0"
        values.append(from_errors(metric.name, "SDS", OCCUPATION, wrong, of, error, floor=floor, note=note))
    return values


def _tournament(rounds: int, blocks: int) -> list[Detectable]:
    """JSD of the winners' groups from labour figures, by occupation: about a 52nd of the rounds each."""
    note = "a model that ignores the figures; worst: all rounds of a block alike; chance: a model that follows them"
    sizes, worst = (np.full(len(OCCUPATIONS), number // len(OCCUPATIONS)) for number in (rounds, blocks))
    return divergences(lambda region, attribute: tournament_name(attribute, region), TOURNAMENT, sizes, worst, note)


def _pairs(stimuli: Sequence[Stimulus]) -> list[Detectable]:
    """AC difference and DHR inconsistency: a combination has about a seventh of the pairs."""
    pairs = dict.fromkeys(COMBINATIONS, 0)
    for stimulus in stimuli:
        pairs[stimulus.stratum.split("/")[0]] += 1
    return [
        *(_difference("ac_diff", combination, n) for combination, n in pairs.items()),
        *(_difference("dhr_inconsistency", combination, n) for combination, n in pairs.items()),
    ]


def _difference(family: str, combination: str, pairs: int) -> Detectable:
    """AC difference or DHR inconsistency of that many pairs."""
    name, of = f"{family}_{combination}", "pairs of the combination"
    if not pairs:
        return empty(name, family, PAIR, 0, of, "no pair of the combination")
    if family == "ac_diff":
        questions, largest, unit = len(SUBJECTIVE), 4.5, "points"
        spread, what = RATING_SPREAD, f"standard deviation {RATING_SPREAD} of 9"
    else:
        questions, largest, unit = len(OBJECTIVE), 0.5, "share"
        spread, what = math.sqrt(WRONG_PAIRS * (1 - WRONG_PAIRS)), f"{WRONG_PAIRS:.0%} of pairs"
    note = f"{what}, each question on its own; worst: half at either end, and all questions of a pair alike"
    usual = smallest_difference(spread / math.sqrt(pairs * questions))
    worst = smallest_difference(largest / math.sqrt(pairs))
    return Detectable(name, family, PAIR, pairs, of, usual, worst, unit=unit, note=note)
