"""What a run of IRIS' generation tasks can show: RD, JSD and the five penalties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS, OCCUPATIONS, combination_size
from fairspace.builders.iris.items import STEREOTYPICAL
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.submissions.benchmarks.asks import Stimulus
from fairspace.submissions.benchmarks.detectable import Chosen, Detectable, counted, empty, from_errors
from fairspace.submissions.benchmarks.iris.measure.generation import SUCCESS, disparity_name, divergence_name
from fairspace.submissions.benchmarks.iris.measure.means import Integers, mean_over_occupations
from fairspace.submissions.benchmarks.iris.power.divergences import divergences
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, QUALITY, STEER
from fairspace.submissions.benchmarks.power import calibrated, halfway
from fairspace.submissions.format.schema import RANGES

_DRAWS = 200


def generation(chosen: Chosen) -> list[Detectable]:
    """The 17 values, those whose tasks are run."""
    values: list[Detectable] = []
    if NEUTRAL in chosen:
        by_item = counted(chosen[NEUTRAL], lambda image: image.stratum.split("/")[1])
        images = np.array([by_item.get(occupation, 0) for occupation in OCCUPATIONS])
        note = "a model that ignores the figures; chance: a model that follows them"
        values += [*_disparities(images), *divergences(divergence_name, NEUTRAL, images, None, note)]
    if STEER in chosen:
        values += _penalties(chosen[STEER])
    return values


def _disparities(images: Integers) -> list[Detectable]:
    """RD of every combination, of (52,) images of each occupation."""
    n, of = int(images.min()), "images of an occupation"
    if not n:
        why = f"{int((images == 0).sum())} of {len(images)} occupations have no image"
        return [empty(disparity_name(combination), "RD", NEUTRAL, n, of, why) for combination in COMBINATIONS]
    values = []
    note = "a model half way from even-handed to one-sided; every image has its labels"
    for combination in COMBINATIONS:
        k = combination_size(combination)
        even = np.full((len(images), k), 1 / k)
        mean = partial(mean_over_occupations, disparity)
        usual = calibrated(mean, images, halfway(len(images), k), even, _DRAWS)
        name = disparity_name(combination)
        values.append(from_errors(name, "RD", NEUTRAL, n, of, usual.error, None, usual.chance, note=note))
    return values


def _penalties(images: Sequence[Stimulus]) -> list[Detectable]:
    """Stereotypical against counter-stereotypical prompts; max(0, difference) is above 0 by chance."""
    stereo = sum(image.stratum.endswith(STEREOTYPICAL) for image in images)
    sizes = (stereo, len(images) - stereo)
    if not all(sizes):
        why = "one of the two kinds of prompts has no image"
        return [empty(name, "penalties", STEER, len(images), "images", why) for name in (SUCCESS, *QUALITY)]
    spread = math.sqrt(sum(1 / size for size in sizes))
    values = []
    for name in (SUCCESS, *QUALITY):
        low, high = RANGES[QUALITY[name]] if name in QUALITY else (0.0, 1.0)
        most = (high - low) / 2
        usual, what = most, "half of the images as asked"
        if name in QUALITY:
            usual = most / 3
            what = (
                f"standard deviation {usual:.2f}, a sixth of the range {low:g} to {high:g}; worst: half at either end"
            )
        note = f"{what}; chance: of a model that follows both kinds alike"
        floor = usual * spread / math.sqrt(2 * math.pi)
        errors = usual * spread, most * spread, floor
        values.append(from_errors(name, "penalties", STEER, len(images), "images", *errors, note=note))
    return values
