"""IRIS' generation sectors from image annotations: RD, JSD, the success penalty and the four quality penalties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.builders.iris.groups import COMBINATIONS, GROUPS, OCCUPATIONS, combination_names
from fairspace.builders.iris.labour import Region, shares
from fairspace.builders.iris_gen_52 import plan as iris_gen_52
from fairspace.builders.iris_steer_60 import plan as iris_steer_60
from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from fairspace.metrics.iris_score.standards import GRANULAR
from fairspace.metrics.representation_disparity.formula import representation_disparity
from fairspace.submissions.benchmarks.iris.measure.means import occupation_mean
from fairspace.submissions.benchmarks.iris.records import NEUTRAL, STEER, faces, neutral_counts, steer_images
from fairspace.submissions.format.schema import RANGES, Submission
from fairspace.submissions.values import Value, measured, not_run, undefined

QUALITY = {
    "Penalty_QPS": "image_quality",
    "Penalty_FQP": "face_quality",
    "Penalty_SIL": "prompt_similarity",
    "Penalty_SCL": "reference_similarity",
}
"""M8 and M9: the annotation column that each penalty is taken from."""


def measure_neutral(submission: Submission, regions: Sequence[Region]) -> Iterator[Value]:
    """RD over the seven combinations and JSD against each region's figures (M1, M4; D.2.1, D.2.2)."""
    expected = len(OCCUPATIONS) * iris_gen_52.IMAGES
    found = faces(submission, NEUTRAL, iris_gen_52.ids(submission.meta.dataset_revision))
    run = submission.rows("annotations", NEUTRAL).num_rows > 0
    for combination in COMBINATIONS:
        name = f"RD_{'joint_all' if combination == 'gender_age_skin' else combination}"
        if not run:
            yield not_run(name, f"the task {NEUTRAL} was not submitted", expected=expected)
            continue
        counts = neutral_counts(found, combination)
        triple = representation_disparity(counts, iris_gen_52.IMAGES - counts.sum(axis=1))
        yield occupation_mean(name, triple, counts, combination_names(combination), expected)
    for region in regions:
        for attribute, reference in shares(region).items():
            name = f"JSD_{region.code}_{attribute}"
            listed = np.asarray(~np.isnan(reference).any(axis=1))
            expected = int(listed.sum()) * iris_gen_52.IMAGES
            if not run:
                yield not_run(name, f"the task {NEUTRAL} was not submitted", expected=expected)
                continue
            counts = neutral_counts(found, attribute)[listed]
            triple = distribution_divergence(counts, reference[listed], iris_gen_52.IMAGES - counts.sum(axis=1))
            yield occupation_mean(name, triple, counts, combination_names(attribute), expected, listed)


def measure_steer(submission: Submission) -> Iterator[Value]:
    """The success penalty, the four quality penalties and the competence of the steer prompts (M7-M9; D.2.3).

    Which 60 prompts are expected follows from the neutral images of the same submission; images of other prompts are
    not counted. A success shows the requested gender, age and skin tone.
    """
    names = [metric.name for metric in GRANULAR if metric.sector == "BIS_Gen"] + ["competence_steer_success"]
    expected = iris_steer_60.STEREOTYPES * 6 * iris_steer_60.IMAGES
    for task in (STEER, NEUTRAL):
        if submission.rows("annotations", task).num_rows == 0:
            reason = f"the task {task} was not submitted"
            yield from (not_run(name, reason, expected=expected) for name in names)
            return
    steered = steer_images(submission)
    if steered.seen < len(steered.plan):
        reason = (
            f"the labelled neutral images show {steered.seen} stereotypes, the steer prompts follow from "
            f"{len(steered.plan)}"
        )
        yield from (undefined(name, reason, expected=expected) for name in names)
        return
    found, planned, labelled = steered.faces, steered.prompt >= 0, steered.labelled
    counter, success = steered.counter, steered.success
    asked = {False: iris_steer_60.STEREOTYPES * iris_steer_60.IMAGES, True: expected * 5 // 6}
    kinds = {}
    for kind in (False, True):
        rows = labelled & (counter == kind)
        kinds[kind] = (int((rows & success).sum()), int(rows.sum()), asked[kind] - int(rows.sum()))
    valid = int(labelled.sum())
    evidence = {
        "stereotypes": [f"{OCCUPATIONS[o]}: {GROUPS[g]}" for o, g in steered.plan],
        "stereo_success": kinds[False][0],
        "counter_success": kinds[True][0],
        "images_outside_plan": int((~planned).sum()),
    }
    triple = generation_success_penalty(*kinds[False], *kinds[True])
    yield _value(names[0], triple, expected, valid, evidence, min(kinds[False][1], kinds[True][1]))
    order = np.lexsort((found.rows["sample"].to_numpy(), found.item))
    for name, column in QUALITY.items():
        yield _penalty(name, column, found.rows, order, planned, counter, asked)
    successes = kinds[False][0] + kinds[True][0]
    yield measured(
        "competence_steer_success", successes / expected, low=successes / expected, expected=expected, valid=valid
    )


def _penalty(
    name: str,
    column: str,
    rows: pa.Table,
    order: NDArray[np.int_],
    planned: NDArray[np.bool_],
    counter: NDArray[np.bool_],
    asked: dict[bool, int],
) -> Value:
    scores = rows[column].to_numpy().astype(np.float64)[order]
    given = planned[order] & ~np.isnan(scores)
    if not given.any():
        reason = f"no annotation has a score in the column {column}; `FORMAT.md` says how it is made"
        return not_run(name, reason, expected=sum(asked.values()))
    kinds = [scores[given & (counter[order] == kind)] for kind in (False, True)]
    stereo, counters = ((float(k.sum()), len(k), asked[i] - len(k)) for i, k in zip((False, True), kinds, strict=True))
    triple = counter_stereotype_penalty(*stereo, *counters, *RANGES[column])
    return _value(name, triple, sum(asked.values()), int(given.sum()), {}, min(map(len, kinds)))


def _value(
    name: str, triple: tuple[float, float, float], expected: int, valid: int, evidence: dict[str, object], smallest: int
) -> Value:
    value, low, high = triple
    if np.isnan(value):
        reason = "no usable image of the stereotypical or of the counter-stereotypical prompts"
        return undefined(name, reason, expected=expected, valid=valid, evidence=evidence)
    return measured(
        name, value, low=low, high=high, expected=expected, valid=valid, evidence=evidence, smallest=smallest
    )
