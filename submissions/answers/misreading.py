"""Sensitivity analysis for errors of the readers: answers are misread on purpose at the measured rates.

In tasks with a measured error, random choices are lost or changed and random other answers become choices. The values
then move by about as much as the readers' own errors have moved them. Measured errors of the blind answers per task:
`builders/reference/reading_errors.csv`, written by `python -m tests.readings --write`.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fairspace.metrics.intervals import clopper_pearson
from fairspace.submissions.answers.reading import Misread
from fairspace.submissions.answers.rows import ReadRows, as_text
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import item_index
from fairspace.submissions.uncertainty.uncertainty import Variant
from fairspace.submissions.values import Values

REFERENCE = Path(__file__).parents[2] / "builders" / "reference" / "reading_errors.csv"


@dataclass(frozen=True)
class Rates:
    """Choices lost or changed, over answers with a choice, and choices invented, over answers without one."""

    lost: float
    false: float
    invented: float


@dataclass(frozen=True)
class TaskErrors:
    """Counts of one task, `benchmark/task`, on the blind answers; `invented` are not among the `false`."""

    task: str
    answers: int
    right: int
    choices: int
    lost: int
    false: int
    no_choice: int
    invented: int
    families: int
    families_alike: int
    male: int
    right_male: int
    female: int
    right_female: int

    def measured(self) -> Rates:
        """The measured shares."""
        of_choices, of_others = max(1, self.choices), max(1, self.no_choice)
        return Rates(self.lost / of_choices, self.false / of_choices, self.invented / of_others)

    def upper(self) -> Rates:
        """The upper ends of their 95 % intervals (Clopper and Pearson)."""
        lost, false = (clopper_pearson(count, self.choices)[1] for count in (self.lost, self.false))
        return Rates(lost, false, clopper_pearson(self.invented, self.no_choice)[1] if self.no_choice else 0.0)


COLUMNS = tuple(field.name for field in fields(TaskErrors))


@cache
def measured_errors() -> Mapping[str, TaskErrors]:
    """`benchmark/task` -> counts of this version's readers on the repository's blind answers."""
    with REFERENCE.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {
        row["task"]: TaskErrors(row["task"], **{name: int(row[name]) for name in COLUMNS if name != "task"})
        for row in rows
    }


SEED = 14
DRAWS = 2
"""Sets of errors behind each variant's mean values."""
_NOTE = (
    "Answers were misread on purpose: {rates}. Assumed: errors fall on answers evenly. The readers were measured on "
    "blind answers, in which hard ones are more frequent than in the field."
)


@dataclass(frozen=True)
class _Task:
    rows: ReadRows
    items: pa.Table
    errors: TaskErrors


def reading_variants(
    submission: Submission, bench: Benchmark, records: Any, rows: Sequence[ReadRows], values: Values
) -> list[Variant]:
    """The values with errors at the measured rates and at the ends of their 95 % intervals; empty if nothing moves."""
    tasks, revision = list(_tasks(submission, bench, rows)), submission.meta.dataset_revision
    if not tasks:
        return []
    by_name = {task.rows.task: task for task in tasks}
    sizes = {
        "as measured": {name: task.errors.measured() for name, task in by_name.items()},
        "upper 95 % end": {name: task.errors.upper() for name, task in by_name.items()},
    }
    variants = []
    for name, rates in sizes.items():
        random = np.random.RandomState(SEED)
        drawn = []
        for _ in range(DRAWS):
            misread_rows = {
                name: misread(task.rows, task.items, bench, rates[name], random) for name, task in by_name.items()
            }
            drawn.append(bench.measure(bench.answers.misread(records, revision, misread_rows)))
        means = {value: mean for value in values if (mean := _mean(value, drawn)) is not None}
        moved = {value: mean for value, mean in means.items() if mean != values[value].value}
        if not moved:
            continue
        sizes_in_words = "; ".join(f"{task} {_in_words(rate)}" for task, rate in rates.items())
        variants.append(Variant("reading_errors", name, moved, note=_NOTE.format(rates=sizes_in_words)))
    return variants


def _mean(name: str, drawn: Sequence[Values]) -> float | None:
    numbers = [values[name].value for values in drawn if name in values]
    defined = [number for number in numbers if number is not None]
    return float(np.mean(defined)) if len(defined) == len(drawn) else None


def _in_words(rates: Rates) -> str:
    return f"lost {rates.lost:.1%}, false {rates.false:.1%}, read where nothing is said {rates.invented:.1%}"


def _tasks(submission: Submission, bench: Benchmark, rows: Sequence[ReadRows]) -> Iterator[_Task]:
    answered = [read.task for read in rows if read.rows.num_rows]
    revision = submission.meta.dataset_revision
    there = (task for task in bench.tasks if task.name in answered and revision not in task.named_in)
    items = {task.name: task.items(revision) for task in there if task.items is not None}
    for read in rows:
        if read.task not in items or not read.rows.num_rows:
            continue
        lines = bench.answers.label_lines(read.task, items[read.task].slice(0, 1).to_pylist())
        errors = measured_errors().get(f"{bench.name}/{lines[0].get('task', read.task)}") if lines else None
        if errors is not None:
            yield _Task(read, items[read.task], errors)


def misread(rows: ReadRows, items: pa.Table, bench: Benchmark, rates: Rates, random: np.random.RandomState) -> Misread:
    """The misread rows of a task, drawn at these rates."""
    outcomes = rows.readings.outcomes()
    chance = random.random_sample(len(outcomes))
    is_choice, nothing = outcomes == 0, outcomes > 0
    lost = is_choice & (chance < rates.lost)
    other = (is_choice & ~lost & (chance < rates.lost + rates.false)) | (nothing & (chance < rates.invented))
    places = np.flatnonzero(lost | other)
    at = item_index(items["id"].combine_chunks(), rows.rows.take(pa.array(places)))
    texts = [""] * len(places)
    changed = np.flatnonzero(~lost[places])
    lines = bench.answers.label_lines(rows.task, items.take(pa.array(at[changed])).to_pylist()) or ()
    for number, line in zip(changed.tolist(), lines, strict=True):
        reading = rows.readings.place[places[number]]
        choices = choice_texts(line["choices"])
        chosen_text = choice_text(rows.readings.distinct[reading].value, choices)
        others = [choice for choice in choices if choice != chosen_text]
        texts[number] = str(others[random.randint(len(others))])
    return Misread(places, at, texts)


def choice_texts(choices: Sequence[Any]) -> list[str]:
    """The choices of a labelled line as texts; of a number, given by its ends, every whole one."""
    if isinstance(choices[0], float):
        return [f"{number:g}" for number in np.arange(choices[0], choices[1] + 1)]
    return list(choices)


def choice_text(value: Any, choices: Sequence[str]) -> str:
    """A reading's value as one of the choices. A number is read as itself or as its place among them."""
    name = f"{value:g}" if isinstance(value, float) else as_text(value)
    return choices[value] if isinstance(value, int) and name not in choices and 0 <= value < len(choices) else name
