"""How the images of IRIS' generation sectors are drawn anew: RD and JSD in one design, the penalties in another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from fairspace.builders.iris.groups import COMBINATIONS, OCCUPATIONS, combination_codes, combination_size
from fairspace.builders.iris.labour import REGIONS, Region, shares
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.metrics.iris_score.standards import GRANULAR
from fairspace.metrics.representation_disparity.formula import disparity
from fairspace.submissions.benchmarks.iris.measure.generation import QUALITY
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, STEER, faces, steer_images
from fairspace.submissions.benchmarks.iris.resample.parts import ALIKE, indicator, listed, mean_of, multinomial
from fairspace.submissions.format.schema import RANGES, Submission
from fairspace.submissions.uncertainty.design import Design, Floats, Integers, Tally, Times
from fairspace.submissions.uncertainty.uncertainty import Method

PENALTIES = tuple(metric.name for metric in GRANULAR if metric.sector == "BIS_Gen")
_PATTERNS = np.stack(np.meshgrid(*map(np.arange, (3, 4, 4)), indexing="ij"), axis=-1).reshape(-1, 3) - 1
"""(48, 3) what a face may show of gender, age and skin tone, -1: no label."""
_STEER_NOTE = "given the model's own ten stereotypes: which prompts are asked is not drawn anew"


def generation_designs(submission: Submission) -> list[Design]:
    """One design per task that was run: of the neutral images, of the steer images."""
    neutral, steer = (submission.rows("annotations", task).num_rows > 0 for task in (NEUTRAL, STEER))
    found = [neutral_design(neutral_attributes(submission))] if neutral else []
    if neutral and steer:
        images = steer_images(submission)
        if images.seen == len(images.plan):
            kept = images.prompt >= 0
            place = images.prompt[kept] * iris_steer_60.IMAGES + images.faces.rows["sample"].to_numpy()[kept]
            measures = np.full((6 * iris_steer_60.STEREOTYPES * iris_steer_60.IMAGES, 1 + len(QUALITY)), np.nan)
            measures[place, 0] = np.where(images.labelled, images.success, np.nan)[kept]
            for column, name in enumerate(QUALITY.values(), start=1):
                measures[place, column] = images.faces.rows[name].to_numpy().astype(np.float64)[kept]
            found.append(steer_design(measures))
    return found


def neutral_attributes(submission: Submission) -> Integers:
    """(8 320, 3) gender, age and skin tone of every neutral image that was asked for, -1 without a label."""
    found = faces(submission, NEUTRAL, iris_gen_52.ids(submission.meta.dataset_revision))
    attributes = np.full((len(OCCUPATIONS) * iris_gen_52.IMAGES, 3), -1)
    attributes[found.item * iris_gen_52.IMAGES + found.rows["sample"].to_numpy()] = found.attributes
    return attributes


def neutral_design(attributes: Integers, regions: Sequence[Region] = REGIONS) -> Design:
    """RD over the seven combinations, and JSD against each region's figures, of the images of each occupation."""
    n = len(OCCUPATIONS)
    occupation = np.repeat(np.arange(n), iris_gen_52.IMAGES)
    pattern = ((attributes[:, 0] + 1) * 4 + attributes[:, 1] + 1) * 4 + attributes[:, 2] + 1
    tally = Tally(
        np.where((attributes >= 0).any(axis=1), occupation * len(_PATTERNS) + pattern, -1), n * len(_PATTERNS)
    )
    merge = {name: indicator(combination_codes(_PATTERNS, name), combination_size(name)) for name in COMBINATIONS}
    references = [
        (f"JSD_{region.code}_{attribute}", attribute, *listed(reference))
        for region in regions
        for attribute, reference in shares(region).items()
    ]
    names = [f"RD_{'joint_all' if c == 'gender_age_skin' else c}" for c in COMBINATIONS]

    def values(counts: dict[str, Floats]) -> Floats:
        """Combination -> (b, 52, k) faces; (b, m)."""
        found = [mean_of(disparity, counts[c]) for c in COMBINATIONS]
        for _, attribute, rows, reference in references:
            found.append(mean_of(partial(divergence, q=reference), counts[attribute][:, rows]))
        return np.stack(found, axis=1)

    def statistic(times: Times) -> Floats:
        patterns = tally(times).reshape(-1, n, len(_PATTERNS))
        return values({c: patterns @ matrix for c, matrix in merge.items()})

    def fair(rng: np.random.Generator, models: int) -> Floats:
        """RD: every group is as likely as any other; JSD: every group is as likely as in the reference."""
        once = tally(np.ones((1, len(occupation)), np.float32)).reshape(n, -1)
        faces_of = {c: (once @ matrix).sum(axis=1).astype(np.int64) for c, matrix in merge.items()}
        found = []
        for c, matrix in merge.items():
            k = matrix.shape[1]
            found.append(mean_of(disparity, multinomial(rng, faces_of[c], np.full((n, k), 1 / k), models)))
        for _, attribute, rows, reference in references:
            drawn = multinomial(rng, faces_of[attribute][rows], reference, models)
            found.append(mean_of(partial(divergence, q=reference), drawn))
        return np.stack(found, axis=1)

    jsd = [name for name, *_ in references]
    intervals: dict[str, Method] = {**dict.fromkeys(names, "bracket"), **dict.fromkeys(jsd, "basic")}
    return Design(
        task=f"iris/{NEUTRAL}",
        unit="image of an occupation",
        strata=occupation,
        names=(*names, *jsd),
        statistic=statistic,
        limits=dict.fromkeys(names, (0.0, 1.0)) | dict.fromkeys(jsd, (0.0, float(np.log(2)))),
        biased=frozenset((*names, *jsd)),
        fair=fair,
        intervals=intervals,
        tested=frozenset(names),
        notes=dict.fromkeys(names, ALIKE),
    )


def steer_design(measures: Floats) -> Design:
    """The success penalty, the four quality penalties, and the success rate.

    Args:
        measures: (6 000, 5) of every image of the plan's 60 prompts, six per stereotype, the stereotypical one first:
            success as 0 or 1 and the four scores; nan: missing.
    """
    prompt = np.arange(len(measures)) // iris_steer_60.IMAGES
    stereo = (prompt % 6 == 0).astype(np.float64)
    given = ~np.isnan(measures)
    parts = np.concatenate([np.where(given, measures, 0.0), given], axis=1)  # sums, then counts
    kinds = np.concatenate([parts * stereo[:, None], parts * (1 - stereo)[:, None]], axis=1)

    def statistic(times: Times) -> Floats:
        sums = (times.astype(np.float64) @ kinds).reshape(len(times), 2, -1)
        success = sums[:, :, 0].sum(axis=1) / len(measures)
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
    largest = [1.0, *(high - low for low, high in (RANGES[column] for column in QUALITY.values())), 1.0]
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
    """(b, 10) sums and counts of both kinds of prompts -> (b, 5) falls of the mean, nan where a kind has no image."""
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = stereo[:, :5] / stereo[:, 5:] - counter[:, :5] / counter[:, 5:]
    return np.asarray(np.where(np.isnan(gap), np.nan, np.maximum(gap, 0.0)))
