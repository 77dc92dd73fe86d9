"""The readings of a submission's answers, task by task, and the choices of every item."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fairspace.builders.stereotypical_bias import plan
from fairspace.submissions.answers.reading import NOT_HANDED_IN, OUTCOMES, Readings, read_coded_column, read_once
from fairspace.submissions.benchmarks.short_answers import item_index
from fairspace.submissions.benchmarks.stereotypical_bias.parse import (
    NOT_AVAILABLE,
    SIDES,
    authors,
    read_group,
    read_side,
)
from fairspace.submissions.benchmarks.stereotypical_bias.parse.scene import Scene
from fairspace.submissions.format.schema import Submission

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Choices:
    """The choice of every item of a task, `NOT_AVAILABLE` where none, and its outcome."""

    choice: Integers
    outcome: Integers


@dataclass(frozen=True)
class _Task:
    """The responses of a task: of each its item, its reading, and what the authors read."""

    items: Integers
    readings: Readings[Any]
    authors: npt.NDArray[np.int8]


@read_once
def items_of(submission: Submission) -> dict[str, Integers]:
    """Task -> (responses) the place of each response's item in the plan."""
    revision = submission.meta.dataset_revision
    return {task: item_index(plan.ids(task, revision), submission.rows("responses", task)) for task in plan.TASKS}


@read_once
def _tasks(submission: Submission) -> dict[str, _Task]:
    tasks = {}
    for task, items in items_of(submission).items():
        rows = submission.rows("responses", task)
        readings = read_rows(rows, task, items, submission.meta.dataset_revision)
        tasks[task] = _Task(items, readings, authors.parse(rows["response"], task))
    return tasks


def row_readings(submission: Submission) -> dict[str, Readings[Any]]:
    """The readings of the rows of every task: a side for vision, a group for language."""
    return {name: task.readings for name, task in _tasks(submission).items()}


def task_choices(submission: Submission, task: str) -> tuple[Choices, Choices] | None:
    """The choices of a task as they are read, and as the authors read them; None if the task has no rows."""
    read = _tasks(submission)[task]
    if not len(read.items):
        return None
    count = len(plan.ids(task, submission.meta.dataset_revision))
    values = SIDES if task.startswith("vision_") else plan.GROUPS[plan.task_attribute(task)]
    outcomes = read.readings.outcomes()
    choice, unusable = OUTCOMES.index("choice"), OUTCOMES.index("unusable")
    literal = np.where(outcomes == NOT_HANDED_IN, NOT_HANDED_IN, np.where(read.authors < 0, unusable, choice))

    def spread(values: npt.NDArray[Any], outcomes: npt.NDArray[Any]) -> Choices:
        every = Choices(np.full(count, NOT_AVAILABLE, np.int64), np.full(count, NOT_HANDED_IN, np.int64))
        every.choice[read.items], every.outcome[read.items] = values, outcomes
        return every

    return spread(read.readings.values(values.index, NOT_AVAILABLE), outcomes), spread(read.authors, literal)


def read_rows(rows: pa.Table, task: str, items: Integers, revision: str) -> Readings[Any]:
    """The reading of every response of a task: a side for vision, a group for language.

    Args:
        rows: the responses.
        task: one of the plan's.
        items: (n) of each response its item.
        revision: of the dataset.
    """
    attribute = plan.task_attribute(task)
    if task.startswith("vision_"):
        places, scenes = _scenes(task, revision)
        return read_coded_column(rows["response"], places[items], scenes, read_side)
    return read_coded_column(rows["response"], np.zeros_like(items), [attribute], read_group)


@lru_cache
def _scenes(task: str, revision: str) -> tuple[Integers, list[Scene]]:
    """(n) of each item of a vision task the place of its scene, and the scenes."""
    items, groups = plan.items(task, revision), plan.GROUPS[plan.task_attribute(task)]
    columns = [items[name].to_numpy().astype(np.int64) for name in ("instance", "left", "right")]
    distinct, places = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return places.ravel(), [Scene(plan.INSTANCES[i], groups[left], groups[right]) for i, left, right in distinct]
