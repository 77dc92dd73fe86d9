"""What a run of IRIS' generation tasks can show: RD, JSD, the success penalty and the quality penalties."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from builders.iris_groups import COMBINATIONS, OCCUPATIONS, combination_size
from metrics.representation_disparity.formula import disparity
from submissions.format import RANGES
from submissions.iris_generation import NEUTRAL, QUALITY, STEER
from submissions.running.asks import Stimulus
from submissions.running.plan_images import STEREOTYPICAL
from submissions.running.plan_power import calibrated, halfway
from submissions.running.plan_values import Chosen, Detectable, counted, empty, from_errors

_DRAWS = 200


def generation(chosen: Chosen) -> list[Detectable]:
    """The 17 values, those whose tasks are run."""
    from submissions.running.plan_values_iris import divergences

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
        usual = calibrated(_mean_disparity, sizes, halfway(len(sizes), k), even, _DRAWS)
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
