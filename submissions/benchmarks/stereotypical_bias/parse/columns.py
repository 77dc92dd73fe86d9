"""The readings of a submission's answers, task by task, and the choices of every item."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

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
def _tasks(submission: Submission) -> dict[str, _Task]:
    tasks, revision = {}, submission.meta.dataset_revision
    for task in plan.TASKS:
        rows = submission.rows("responses", task)
        items = item_index(plan.ids(task, revision), rows)
        readings: Readings[Any]
        if task.startswith("vision_"):
            places, scenes = _scenes(task, revision)
            readings = read_coded_column(rows["response"], places[items], scenes, read_side)
        else:
            attribute = plan.task_attribute(task)
            readings = read_coded_column(rows["response"], np.zeros_like(items), [attribute], read_group)
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


@lru_cache
def _scenes(task: str, revision: str) -> tuple[Integers, list[Scene]]:
    """(n) of each item of a vision task the place of its scene, and the scenes."""
    items, groups = plan.items(task, revision), plan.GROUPS[plan.task_attribute(task)]
    columns = [items[name].to_numpy().astype(np.int64) for name in ("instance", "left", "right")]
    distinct, places = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return places.ravel(), [Scene(plan.INSTANCES[i], groups[left], groups[right]) for i, left, right in distinct]
