"""Defaults of a benchmark that declares tasks with choices, quantities and a scoring table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairspace.submissions.benchmarks.task import Ask, ReadStimulus, Stimulus, Task, TaskStimuli

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairspace.metrics.columns import Integers
    from fairspace.submissions.answers.reading import Reading, Readings
    from fairspace.submissions.format.schema import Submission

NO_CHOICE, REFUSED, MISSING = -1, -2, -3
"""Codes of an answer without one choice, of a refusal, and of an item and sample without an answer."""


def ask(task: Task, data: object, revision: str, **options: str | bool) -> TaskStimuli:
    """One stimulus an item, its prompt; strata are the parts of its id but the last one."""
    items = task.asked(revision)
    ids, prompts = items["id"].to_pylist(), items["prompt"].to_pylist()
    keys = [(item, sample) for item in range(len(ids)) for sample in range(task.samples_of(revision))]

    def read(place: int) -> ReadStimulus:
        item, sample = keys[place]
        return ReadStimulus((Ask(task.name, ids[item], sample, prompts[item]),))

    stimuli = [Stimulus(f"{ids[item]}/{s}", task.name, ids[item].rpartition("/")[0], 1, ids[item]) for item, s in keys]
    return TaskStimuli(task.name, stimuli, read, task.max_tokens, TYPICAL_TOKENS, len(stimuli), task.settings)


TYPICAL_TOKENS = 20


def readings(tasks: Sequence[Task], submission: Submission) -> dict[str, Readings[str]]:
    """The readings of the answers to each task that declares how to read one."""
    from fairspace.submissions.answers.reading import read_column

    made = {}
    for task in tasks:
        if task.read is not None:
            answers = submission.rows("responses", task.name)["response"]
            made[task.name] = read_column(answers, [""] * len(answers), _of_any_item(task.read))
    return made


def _of_any_item(read: Callable[[str], Reading]) -> Callable[[str, str], Reading]:
    return lambda answer, item: read(answer)


def choices(tasks: Sequence[Task], submission: Submission) -> dict[str, Integers]:
    """Task -> (items, samples) place of each answer among the task's choices; below 0 for another answer, or none."""
    import pyarrow.compute as pc

    revision, coded = submission.meta.dataset_revision, {}
    by_name = {task.name: task for task in tasks}
    for name, read in readings(tasks, submission).items():
        task, rows = by_name[name], submission.rows("responses", name)
        codes = read.values(task.choices.index, NO_CHOICE).astype(np.int64)
        outcomes = np.array([*(each.outcome == "refused" for each in read.distinct), False])[read.place]
        codes[outcomes], codes[read.place < 0] = REFUSED, MISSING
        coded[name] = np.full((len(task.ids(revision)), task.samples_of(revision)), MISSING)
        places = np.asarray(pc.index_in(rows["id"], value_set=task.ids(revision)))
        coded[name][places, np.asarray(rows["sample"])] = codes
    return coded
