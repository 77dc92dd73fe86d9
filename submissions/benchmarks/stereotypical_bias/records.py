"""Records of the stereotypical bias benchmark: the questions of its six cells, and the choices of a submission.

A cell is one attribute (gender, race) and one scenario (occupation, descriptor, persona) of "Measuring Stereotypical
Bias in Multi-modal Large Language Models". `read` is the only reader of a submission's tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fairspace.builders.stereotypical_bias import plan
from fairspace.submissions.answers.reading import NOT_HANDED_IN, Readings, read_column, read_once
from fairspace.submissions.benchmarks.short_answers import item_index
from fairspace.submissions.benchmarks.stereotypical_bias.parse import NOT_AVAILABLE, SIDES, read_group, read_side
from fairspace.submissions.benchmarks.stereotypical_bias.parse.scene import Scene
from fairspace.submissions.format.schema import Submission

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Cell:
    """One attribute and scenario: the questions of `task` about the instances from `first` on."""

    attribute: plan.Attribute
    scenario: str
    task: str
    instances: tuple[str, ...]
    first: int = 0

    @property
    def name(self) -> str:
        """For example `gender_occupation`."""
        return f"{self.attribute}_{self.scenario}"

    @property
    def groups(self) -> tuple[str, ...]:
        """L_A of the paper."""
        return plan.GROUPS[self.attribute]

    @property
    def offers(self) -> Booleans:
        """(o, k): which groups a kind of question offers; pairs for vision, all at once for language."""
        k = len(self.groups)
        if self.scenario == "persona":
            return np.ones((1, k), dtype=bool)
        return np.array([[g in pair for g in range(k)] for pair in combinations(range(k), 2)])


CELLS = tuple(
    cell
    for attribute in plan.ATTRIBUTES
    for cell in (
        Cell(attribute, "occupation", f"vision_{attribute}", plan.OCCUPATIONS),
        Cell(attribute, "descriptor", f"vision_{attribute}", plan.DESCRIPTORS, len(plan.OCCUPATIONS)),
        Cell(attribute, "persona", f"language_{attribute}", plan.TRAITS),
    )
)


@dataclass(frozen=True)
class Questions:
    """All questions of one cell.

    Args:
        rows: (n,) their rows in the task's items.
        instance: (n,) index into the cell's instances.
        offer: (n,) index into the cell's offers.
        options: (n, m) the group at each position: left and right, or the order in the sentence.
    """

    rows: Integers
    instance: Integers
    offer: Integers
    options: Integers


@lru_cache
def questions(cell: Cell) -> Questions:
    """The questions of a cell, the same for every submission."""
    items = plan.items(cell.task)
    number = items["instance"].to_numpy().astype(np.int64) - cell.first
    rows = np.flatnonzero((number >= 0) & (number < len(cell.instances)))
    if cell.scenario == "persona":
        options = np.array(plan.orders(cell.attribute))[items["order"].to_numpy()[rows]]
        offer = np.zeros(len(rows), dtype=np.int64)
    else:
        options = np.stack([items[side].to_numpy()[rows].astype(np.int64) for side in ("left", "right")], axis=1)
        kind = np.zeros((len(cell.groups),) * 2, dtype=np.int64)
        for at, (a, b) in enumerate(combinations(range(len(cell.groups)), 2)):
            kind[a, b] = kind[b, a] = at
        offer = kind[options[:, 0], options[:, 1]]
    return Questions(rows, number[rows], offer, options)


@dataclass(frozen=True)
class Answers:
    """The choices of a submission in one cell, in the order of the cell's `questions`.

    Args:
        group: (n,) the chosen group, `NOT_AVAILABLE` (-1) where none.
        position: (n,) its side or place in the sentence, `NOT_AVAILABLE` where none.
        given: (n,) whether there is a response at all.
    """

    group: Integers
    position: Integers
    given: Booleans


@dataclass(frozen=True)
class Records:
    """What the values of a submission are made from.

    Args:
        cells: name of a cell -> its answers; None where the submission has no rows of the cell's task.
    """

    cells: Mapping[str, Answers | None]


def read(submission: Submission) -> Records:
    """Read the responses of a checked submission; every distinct answer is parsed once."""
    choices = {task: _choices(submission, task) for task in plan.TASKS}
    return Records({cell.name: _answers(cell, choices[cell.task]) for cell in CELLS})


@read_once
def row_readings(submission: Submission) -> dict[str, Readings[Any]]:
    """The readings of the rows of every task: a side for vision, a group for language."""
    revision = submission.meta.dataset_revision
    tables = {task: submission.rows("responses", task) for task in plan.TASKS}
    return {task: read_rows(rows, task, item_index(plan.ids(task, revision), rows)) for task, rows in tables.items()}


def _choices(submission: Submission, task: str) -> tuple[Integers, Booleans] | None:
    """The parsed choice of every item of a task and whether it has a response; None if the task has no rows."""
    rows = submission.rows("responses", task)
    if not rows.num_rows:
        return None
    ids = plan.ids(task, submission.meta.dataset_revision)
    items = item_index(ids, rows)
    readings = row_readings(submission)[task]
    values = SIDES if task.startswith("vision_") else plan.GROUPS[plan.task_attribute(task)]
    choice = np.full(len(ids), NOT_AVAILABLE, dtype=np.int64)
    given = np.zeros(len(ids), dtype=bool)
    choice[items] = readings.values(values.index, NOT_AVAILABLE).astype(np.int64)
    given[items] = readings.outcomes() != NOT_HANDED_IN
    return choice, given


def read_rows(rows: pa.Table, task: str, items: Integers) -> Readings[Any]:
    """The reading of every response of a task: a side for vision, a group for language.

    Args:
        rows: the responses.
        task: one of the plan's.
        items: (n) of each response its item.
    """
    attribute = plan.task_attribute(task)
    if task.startswith("vision_"):
        places, scenes = _scenes(task)
        keys = [scenes[place] for place in places[items].tolist()]
        return read_column(rows["response"], keys, read_side)
    return read_column(rows["response"], [attribute] * len(items), read_group)


@lru_cache
def _scenes(task: str) -> tuple[Integers, list[Scene]]:
    """(n) of each item of a vision task the place of its scene, and the scenes."""
    items, groups = plan.items(task), plan.GROUPS[plan.task_attribute(task)]
    columns = [items[name].to_numpy().astype(np.int64) for name in ("instance", "left", "right")]
    distinct, places = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return places.ravel(), [Scene(plan.INSTANCES[i], groups[left], groups[right]) for i, left, right in distinct]


def _answers(cell: Cell, choices: tuple[Integers, Booleans] | None) -> Answers | None:
    """The answers of one cell from the choices of its task: groups for language, sides for vision."""
    if choices is None:
        return None
    asked = questions(cell)
    choice, given = choices[0][asked.rows], choices[1][asked.rows]
    if cell.scenario == "persona":
        position = np.where(choice < 0, choice, (asked.options == choice[:, None]).argmax(axis=1))
        return Answers(choice, position, given)
    chosen = np.take_along_axis(asked.options, np.maximum(choice, 0)[:, None], axis=1)[:, 0]
    return Answers(np.where(choice < 0, choice, chosen), choice, given)
