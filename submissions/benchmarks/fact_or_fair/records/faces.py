"""The faces that image models drew.

Every face counts, and every image weighs 1, shared equally by its faces. (In the paper every face weighs the same; then
an image with many faces would count more than the missing image that it could have been.) A face without a label, or a
gap in the numbers of the faces, is a missing share of its image; so is a face that `faces` counts and that has no row
(the checker refuses both).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.plan import SAMPLES, SCENARIOS, ids
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, STATISTICS
from fairspace.submissions.benchmarks.fact_or_fair.records.grids import Floats, Grid, Integers, image_grid, tally
from fairspace.submissions.benchmarks.short_answers import item_index
from fairspace.submissions.format.schema import Attribute, Submission
from fairspace.submissions.uncertainty.label_errors import human_codes

_LABELS: tuple[Attribute, ...] = ("gender", "race")


@dataclass(frozen=True)
class Faces:
    """The rows of an image task, in the order of images and faces.

    Args:
        image: (m,) prompt times images per prompt, plus the image's number.
        share: (m,) of its image.
        group: attribute -> (m,) group, -1 where the face has none.
        human: attribute -> (m,) the group that people saw, -1 where nobody labelled it.
    """

    image: Integers
    share: Floats
    group: Mapping[str, Integers]
    human: Mapping[str, Integers]


def prompt_cells(task: str) -> NDArray[np.int16]:
    """(p, 2) statistic and level of every prompt of an image task, in the order of the ids."""
    prompts = SCENARIOS if task == "t2i_subjective" else 1
    topic = np.repeat(np.arange(len(STATISTICS) * len(LEVELS)), prompts)
    return np.stack(np.divmod(topic, len(LEVELS)), axis=1).astype(np.int16)


def image_faces(submission: Submission, task: str) -> Faces | None:
    """The faces of an image task's images; None if the task has no rows."""
    rows = submission.rows("annotations", task)
    if not rows.num_rows:
        return None
    prompts = ids(task, submission.meta.dataset_revision)
    image = item_index(prompts, rows) * SAMPLES[task] + np.asarray(rows["sample"], np.int64)
    face = np.asarray(rows["face"], np.int64)
    faces = np.zeros(len(prompts) * SAMPLES[task], np.int64)
    stated = np.asarray(pc.fill_null(rows["faces"], 0), np.int64)
    np.maximum.at(faces, image, np.maximum(face + 1, stated))
    order = np.lexsort((face, image))  # the order of the rows must not change a sum of shares
    ok = np.asarray(pc.equal(rows["status"], "ok"))
    group = {}
    for a in ATTRIBUTES:
        named = np.asarray(pc.fill_null(pc.index_in(rows[a], value_set=pa.array(GROUPS[a])), -1), np.int64)
        group[a] = np.where(ok, named, -1)[order]
    human = np.full((rows.num_rows, len(_LABELS)), -1, np.int64)
    if "human_labels" in submission.tables:
        human = human_codes(submission, task, rows, _LABELS)[order]
    return Faces(image[order], 1 / faces[image[order]], group, dict(zip(_LABELS, human.T, strict=True)))


def image_grids(task: str, faces: Faces) -> Mapping[str, Grid]:
    """Attribute -> grid of an image task."""
    cell = prompt_cells(task)
    statistic, level = cell[faces.image // SAMPLES[task]].T
    first = np.unique(faces.image, return_index=True)[1]
    by_attribute = {}
    for a in ATTRIBUTES:
        group = faces.group[a]
        used = group >= 0
        counts = tally(statistic[used], level[used], group[used], len(GROUPS[a]), faces.share[used])
        by_attribute[a] = image_grid(a, task, tally(statistic[first], level[first]), counts)
    return by_attribute
