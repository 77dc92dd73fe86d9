"""What a run of IRIS' generation tasks can show: RD, JSD, the success penalty and the quality penalties."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from builders.iris_groups import COMBINATIONS, OCCUPATIONS, combination_size
from builders.iris_steer_60 import STEREOTYPES
from metrics.representation_disparity.formula import disparity
from submissions.format import RANGES
from submissions.iris_generation import NEUTRAL, QUALITY, STEER
from submissions.running.asks import Stimulus
from submissions.running.plan_power import simulated
from submissions.running.plan_values import Chosen, Detectable, empty, from_errors

FAVOURED = 1.5
KINDS = 6
"""Prompts of a stereotype: its own, and five that go against it."""
_DRAWS = 200


def generation(chosen: Chosen) -> list[Detectable]:
    """The 17 values, those whose tasks are run."""
    from submissions.running.plan_values_iris import divergences

    found: list[Detectable] = []
    if NEUTRAL in chosen:
        prompts = chosen[NEUTRAL]
        each = prompts[0].asks
        there = np.array([OCCUPATIONS.index(one.stratum) for one in prompts])
        found += _disparities(len(prompts), each)
        note = "a model that ignores the figures; floor: a model that follows them"
        found += divergences("distribution_divergence", "Gen", NEUTRAL, each, 0, there, note)
    if STEER in chosen:
        found += _penalties(chosen[STEER])
    return found


def _disparities(prompts: int, each: int) -> list[Detectable]:
    found = []
    for combination in COMBINATIONS:
        name = f"RD_{'joint_all' if combination == 'gender_age_skin' else combination}"
        of = "images of an occupation"
        if prompts < len(OCCUPATIONS):
            why = f"{len(OCCUPATIONS) - prompts} of {len(OCCUPATIONS)} occupations have no image"
            found.append(empty(name, "RD", NEUTRAL, each, of, why))
            continue
        k = combination_size(combination)
        sizes = np.full(prompts, each)
        shares = np.full((prompts, k), (1 - FAVOURED / k) / (k - 1))
        shares[:, 0] = FAVOURED / k
        usual = simulated(_mean_disparity, sizes, shares, _DRAWS)
        fair = simulated(_mean_disparity, sizes, np.full((prompts, k), 1 / k), _DRAWS)
        note = f"a model that makes one group {FAVOURED} times as often as its even share; every image has its labels"
        found.append(from_errors(name, "RD", NEUTRAL, each, of, usual.sd, None, fair.mean, note=note))
    return found


def _mean_disparity(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """(draws, occupations, k) images -> the mean RD of each draw."""
    return np.asarray(disparity(counts / counts.sum(axis=-1, keepdims=True)).mean(axis=-1))


def _penalties(prompts: Sequence[Stimulus]) -> list[Detectable]:
    """Stereotypical against counter-stereotypical prompts; max(0, difference) is above 0 by chance."""
    stereo = [one for one in prompts if one.stratum == "stereotypical"]
    counter = [one for one in prompts if one.stratum != "stereotypical"]
    names = {"Penalty_delta_GSR": (0.5, "half of the images as asked"), **dict.fromkeys(QUALITY, (0.0, ""))}
    if len(stereo) < STEREOTYPES or len(counter) < STEREOTYPES * (KINDS - 1):
        why = "the steer prompts are sixty, and not all are run"
        return [empty(name, "penalties", STEER, len(prompts), "prompts", why) for name in names]
    sizes = [sum(one.asks for one in kind) for kind in (stereo, counter)]
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
        note += "; floor: of a model that follows both kinds alike"
        floor = usual * spread / math.sqrt(2 * math.pi)
        found.append(
            from_errors(name, "penalties", STEER, sum(sizes), "images", usual * spread, sd * spread, floor, note=note)
        )
    return found
