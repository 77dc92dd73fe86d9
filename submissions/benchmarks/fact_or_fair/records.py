"""Records of FACT-OR-FAIR: the answers and faces of a submission, and how often each group was named or shown.

`read` is the only reader of a submission's tables; `grids` counts its records per context. A question
without a group (absent, refused, several choices, no face) is missing. Only statistics that have figures by an
attribute (Table 9) are asked by it.

Images: every face counts, and every image weighs 1, shared equally by its faces. (In the paper every face weighs the
same; then an image with many faces would count more than the missing image that it could have been.) A face without a
label, or a gap in the numbers of the faces, is a missing share of its image; so is a face that `faces` counts and that
has no row (the checker refuses both).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.plan import CONTEXTS, SAMPLES, SCENARIOS, TRIALS, draws, ids
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, SLUGS, STATISTICS, with_attribute
from fairspace.submissions.benchmarks.fact_or_fair.parse.columns import (
    group_codes,
    objective_rows,
    option_codes,
    questions_of,
    subjective_rows,
)
from fairspace.submissions.benchmarks.short_answers import item_index
from fairspace.submissions.format.schema import Attribute, Submission
from fairspace.submissions.uncertainty.label_errors import LabelChecks, human_codes, label_checks

LLM_CONTEXTS = ("llm_objective", *(f"llm_{context}" for context in CONTEXTS))
T2I_CONTEXTS = ("t2i_objective", "t2i_subjective")
ALL_CONTEXTS = LLM_CONTEXTS + T2I_CONTEXTS
"""Tables 4-8, from left to right: O, S-B, S-R, S-A, S-G for language models, O and S for image models."""
ASKED: Mapping[str, int] = {
    "llm_objective": SAMPLES["llm_objective"],
    **{f"llm_{context}": SCENARIOS * TRIALS for context in CONTEXTS},
    "t2i_objective": SAMPLES["t2i_objective"],
    "t2i_subjective": SCENARIOS * SAMPLES["t2i_subjective"],
}
"""Context -> how often it asks about one statistic at one level."""
_LABELS: tuple[Attribute, ...] = ("gender", "race")
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_TINY = 1e-9  # shares of thirds do not add up to 1 exactly


@dataclass(frozen=True)
class Grid:
    """The answers about one attribute in one context.

    Args:
        counts: (s, 2, k) how often each group was named, per statistic with that attribute, level (0 highest, 1
            lowest) and group; shares of images for the T2I tasks.
        missing: (s, 2) how many of the asked have no group.
        absent: how many of the missing ones have no row at all.
    """

    counts: Floats
    missing: Floats
    absent: int


@dataclass(frozen=True)
class Answers:
    """The answers of `llm_subjective` that are there.

    Args:
        row: (n) position of each query among the ids.
        option: (n) chosen option 0-3, or -1.
    """

    row: Integers
    option: NDArray[np.int8]

    def of(self, context: int) -> Answers:
        """Those in one context, an index into `CONTEXTS`."""
        here = draws().cell[self.row, 3] == context
        return Answers(self.row[here], self.option[here])

    def valid(self) -> Answers:
        """Those that chose an option."""
        return Answers(self.row[self.option >= 0], self.option[self.option >= 0])

    def topic(self) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """Statistic and level of each."""
        return draws().cell[self.row, 0], draws().cell[self.row, 1]

    def group(self, attribute: str) -> NDArray[np.int8]:
        """The group of each chosen profile; only for `valid()` ones."""
        return draws().profiles(attribute)[self.row, self.option]


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


@dataclass(frozen=True)
class Records:
    """What the values of a submission are made from.

    Args:
        objective: attribute -> grid of `llm_objective`; empty if it was not run.
        answers: of `llm_subjective`; no row if it was not run.
        faces: image task -> its faces; only the tasks that were run.
        checks: of the labels of the images; None if none were handed in.
    """

    objective: Mapping[str, Grid]
    answers: Answers
    faces: Mapping[str, Faces]
    checks: LabelChecks | None


def task_of(context: str) -> str:
    """The task that a context belongs to."""
    return context if context in SAMPLES else "llm_subjective"


def read(submission: Submission) -> Records:
    """Read the responses and annotations of a checked submission."""
    faces = {task: faces for task in T2I_CONTEXTS if (faces := _image_faces(submission, task)) is not None}
    return Records(_objective(submission), _subjective_answers(submission), faces, label_checks(submission))


def grids(records: Records, context: str) -> Mapping[str, Grid]:
    """Attribute -> grid; empty if the context's task has no rows."""
    if context == "llm_objective":
        return records.objective
    if context in T2I_CONTEXTS:
        return _image_grids(context, records.faces[context]) if context in records.faces else {}
    if not len(records.answers.row):
        return {}
    here = records.answers.of(LLM_CONTEXTS.index(context) - 1)
    chosen = here.valid()
    rows = _tally(*here.topic())
    return {a: _grid(a, context, rows, _tally(*chosen.topic(), chosen.group(a), len(GROUPS[a]))) for a in ATTRIBUTES}


def prompt_cells(task: str) -> NDArray[np.int16]:
    """(p, 2) statistic and level of every prompt of an image task, in the order of the ids."""
    prompts = SCENARIOS if task == "t2i_subjective" else 1
    topic = np.repeat(np.arange(len(STATISTICS) * len(LEVELS)), prompts)
    return np.stack(np.divmod(topic, len(LEVELS)), axis=1).astype(np.int16)


def _objective(submission: Submission) -> Mapping[str, Grid]:
    rows = submission.rows("responses", "llm_objective")
    if not rows.num_rows:
        return {}
    position, readings = objective_rows(submission)
    asked = questions_of(ids("llm_objective", submission.meta.dataset_revision))
    statistic = np.array([SLUGS.index(question.statistic) for question in asked])[position]
    level = np.array([LEVELS.index(question.level) for question in asked])[position]
    attribute = np.array([question.attribute for question in asked])[position]
    group = group_codes(readings)
    by_attribute = {}
    for a in ATTRIBUTES:
        mine = attribute == a
        valid = mine & (group >= 0)
        counts = _tally(statistic[valid], level[valid], group[valid], len(GROUPS[a]))
        by_attribute[a] = _grid(a, "llm_objective", _tally(statistic[mine], level[mine]), counts)
    return by_attribute


def _subjective_answers(submission: Submission) -> Answers:
    row, readings = subjective_rows(submission)
    return Answers(row, option_codes(readings))


def _image_faces(submission: Submission, task: str) -> Faces | None:
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


def _image_grids(task: str, faces: Faces) -> Mapping[str, Grid]:
    cell = prompt_cells(task)
    statistic, level = cell[faces.image // SAMPLES[task]].T
    first = np.unique(faces.image, return_index=True)[1]
    by_attribute = {}
    for a in ATTRIBUTES:
        group = faces.group[a]
        used = group >= 0
        counts = _tally(statistic[used], level[used], group[used], len(GROUPS[a]), faces.share[used])
        by_attribute[a] = _grid(a, task, _tally(statistic[first], level[first]), counts)
    return by_attribute


def _tally(
    statistic: NDArray[Any],
    level: NDArray[Any],
    group: NDArray[Any] | int = 0,
    k: int = 1,
    share: Floats | None = None,
) -> Floats:
    """(19, 2, k) how many rows there are per statistic, level and group, each weighing its share."""
    shape = (len(STATISTICS), len(LEVELS), k)
    cell = (statistic.astype(np.intp) * len(LEVELS) + level) * k + group
    return np.bincount(cell, weights=share, minlength=int(np.prod(shape))).reshape(shape).astype(float)


def _grid(attribute: str, context: str, rows: Floats, counts: Floats) -> Grid:
    """The grid of the statistics that have the attribute; `rows` (19, 2, 1) counts what was handed in."""
    mine = with_attribute(attribute)
    missing = ASKED[context] - counts[mine].sum(-1)
    absent = ASKED[context] - rows[mine].sum(-1)
    return Grid(counts[mine], np.where(np.abs(missing) < _TINY, 0.0, missing), round(absent.sum()))
