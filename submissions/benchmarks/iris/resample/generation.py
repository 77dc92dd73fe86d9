"""How the images of IRIS' generation sectors are drawn anew: RD and JSD in one design, the penalties in another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS, OCCUPATIONS, combination_codes, combination_size
from fairspace.builders.iris.labour import REGIONS, Region
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.representation_disparity.formula import disparity, disparity_along
from fairspace.submissions.benchmarks.iris.measure.generation import SUCCESS, disparity_name, divergence_name
from fairspace.submissions.benchmarks.iris.measure.means import mean_over_occupations, references
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, PROMPTS, QUALITY, STEER
from fairspace.submissions.benchmarks.iris.resample.parts import SIZE, indicator, multinomial, ratio
from fairspace.submissions.format.schema import RANGES
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Sizes, Tally, Times

PENALTIES = (SUCCESS, *QUALITY)
_PATTERNS = np.stack(np.meshgrid(*map(np.arange, (3, 4, 4)), indexing="ij"), axis=-1).reshape(-1, 3) - 1
"""(48, 3) what a face may show of gender, age and skin tone, -1: no label."""
_STEER_NOTE = "given the model's own ten stereotypes: which prompts are asked is not drawn anew"
_LEAST, _MOST = np.array([RANGES[column] for column in QUALITY.values()]).T


def neutral_design(attributes: Integers, regions: Sequence[Region] = REGIONS) -> Design:
    """RD over the seven combinations, and JSD against each region's figures, of the images of each occupation.

    Args:
        attributes: (8 320, 3) gender, age and skin tone of every planned image, -1: no label.
        regions: whose figures the divergences are from.
    """
    n = len(OCCUPATIONS)
    occupation = np.repeat(np.arange(n), iris_gen_52.IMAGES)
    pattern = ((attributes[:, 0] + 1) * 4 + attributes[:, 1] + 1) * 4 + attributes[:, 2] + 1
    labelled = (attributes >= 0).any(axis=1)
    tally = Tally(np.where(labelled, occupation * len(_PATTERNS) + pattern, -1), n * len(_PATTERNS))
    merge = {name: indicator(combination_codes(_PATTERNS, name), combination_size(name)) for name in COMBINATIONS}
    figures = list(references(regions))

    def statistic(times: Times) -> Floats:
        patterns = tally(times).reshape(-1, n, len(_PATTERNS))
        counts = {combination: patterns @ matrix for combination, matrix in merge.items()}
        disparities = [mean_over_occupations(disparity, counts[combination]) for combination in COMBINATIONS]
        divergences = [
            mean_over_occupations(partial(divergence, q=f.shares), counts[f.attribute][:, f.listed]) for f in figures
        ]
        return np.stack([*disparities, *divergences], axis=1)

    def by_combination(patterns: Floats, combination: str) -> Floats:
        return patterns.reshape(-1, n, len(_PATTERNS)) @ merge[combination]

    def along(order: Floats, counts: Floats) -> Floats:
        """RD of each combination: the mean over occupations of the sum of gaps in the order of the other counts."""
        sums = []
        for combination in COMBINATIONS:
            some, others = (by_combination(patterns, combination) for patterns in (order, counts))
            shares = others / np.where(others.sum(-1, keepdims=True) > 0, others.sum(-1, keepdims=True), np.nan)
            sums.append(disparity_along(some, shares).mean(axis=-1))
        return np.stack(sums, axis=1)

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """RD: every group is as likely as any other; JSD: every group is as likely as in the reference."""
        once = tally(np.ones((1, len(occupation)), np.float32)).reshape(n, -1)
        faces = {combination: (once @ matrix).sum(axis=1).astype(np.int64) for combination, matrix in merge.items()}
        columns = []
        for combination, images in faces.items():
            k = combination_size(combination)
            counts = multinomial(rng, images, np.full((n, k), 1 / k), models)
            columns.append(mean_over_occupations(disparity, counts))
        for f in figures:
            counts = multinomial(rng, faces[f.attribute][f.listed], f.shares, models)
            columns.append(mean_over_occupations(partial(divergence, q=f.shares), counts))
        return np.stack(columns, axis=1)

    rd = [disparity_name(combination) for combination in COMBINATIONS]
    jsd = [divergence_name(f.region, f.attribute) for f in figures]
    return Design(
        task=f"iris/{NEUTRAL}",
        unit="image of an occupation",
        strata=occupation,
        names=(*rd, *jsd),
        statistic=statistic,
        limits=dict.fromkeys(rd, (0.0, 1.0)) | dict.fromkeys(jsd, (0.0, float(np.log(2)))),
        biased=frozenset((*rd, *jsd)),
        fair=fair,
        intervals=dict.fromkeys(jsd, "basic"),
        sizes=Sizes(tuple(rd), tally, along),
        notes=dict.fromkeys(rd, SIZE),
    )


def steer_design(measures: Floats) -> Design:
    """The success penalty, the four quality penalties, and the success rate.

    Args:
        measures: (6 000, 5) of every image of the plan's 60 prompts, six per stereotype, the stereotypical one first:
            success as 0 or 1 and the four scores; nan: missing.
    """
    prompt = np.arange(len(measures)) // iris_steer_60.IMAGES
    stereo = (prompt % PROMPTS == 0).astype(np.float64)
    measured = ~np.isnan(measures)
    parts = np.concatenate([np.where(measured, measures, 0.0), measured], axis=1)  # sums, then counts
    kinds = np.concatenate([parts * stereo[:, None], parts * (1 - stereo)[:, None]], axis=1)

    def statistic(times: Times) -> Floats:
        sums = (times.astype(np.float64) @ kinds).reshape(len(times), 2, -1)
        success = ratio(sums[:, :, 0].sum(axis=1), sums[:, :, parts.shape[1] // 2].sum(axis=1))
        return np.column_stack([_penalties(sums[:, 0], sums[:, 1]), success])

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """Which images of a stereotype's six prompts are the stereotypical ones makes no difference."""
        by_stereotype = parts.reshape(iris_steer_60.STEREOTYPES, -1, parts.shape[1])
        keys = rng.random((models, *by_stereotype.shape[:2]), np.float32)
        cut = np.partition(keys, iris_steer_60.IMAGES, axis=-1)[..., iris_steer_60.IMAGES, None]
        chosen = (keys < cut).reshape(models, -1).astype(np.float64) @ parts
        gaps = _penalties(chosen, parts.sum(axis=0) - chosen)
        return np.column_stack([gaps, np.full(models, np.nan)])

    names = (*PENALTIES, "competence_steer_success")
    largest = [1.0, *(_MOST - _LEAST).tolist(), 1.0]
    return Design(
        task=f"iris/{STEER}",
        unit="image of a prompt",
        strata=prompt,
        names=names,
        statistic=statistic,
        limits={name: (0.0, high) for name, high in zip(names, largest, strict=True)},
        biased=frozenset(PENALTIES),
        fair=fair,
        notes=dict.fromkeys(names, _STEER_NOTE),
        intervals=dict.fromkeys(PENALTIES, "percentile"),
    )


def _penalties(stereo: Floats, counter: Floats) -> Floats:
    """(b, 10) sums and counts of both kinds of prompts -> (b, 5) penalties, nan where a kind has no image."""
    (sums, counts), (other_sums, other_counts) = (np.split(kind, 2, axis=1) for kind in (stereo, counter))
    success, _, _ = generation_success_penalty(sums[:, 0], counts[:, 0], 0, other_sums[:, 0], other_counts[:, 0], 0)
    quality, _, _ = counter_stereotype_penalty(
        *(sums[:, 1:], counts[:, 1:], 0, other_sums[:, 1:], other_counts[:, 1:], 0), *(_LEAST, _MOST)
    )
    return np.column_stack([success, quality])
