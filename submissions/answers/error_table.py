"""The measured error of the readers per task: `builders/reference/reading_errors.csv`.

It is made from the repository's blind answers by `fairspace readings tests/data/readings/blind/*.jsonl --csv FILE`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from fairspace.submissions.answers.measuring import Report, Tally
from fairspace.submissions.uncertainty.proportions import clopper_pearson

REFERENCE = Path(__file__).parents[2] / "builders" / "reference" / "reading_errors.csv"


@dataclass(frozen=True)
class Rates:
    """How often an answer is misread, as shares.

    Args:
        lost: of the answers that make a choice: no choice is read.
        false: of the answers that make a choice: another one is read.
        invented: of the answers that make no choice: one is read.
    """

    lost: float
    false: float
    invented: float


@dataclass(frozen=True)
class TaskErrors:
    """The counts of one task on the blind answers; the names are those of the columns.

    Args:
        task: `benchmark/task`, the task as labelled answers name it.
        answers: how many there are.
        right: read right.
        choices: that make a choice.
        lost: of these, without a choice that was read.
        false: of these, read as another choice.
        no_choice: that make none.
        invented: of these, read as a choice.
        families: of answers that say the same.
        families_alike: of these, read alike.
        male: answers with male words alone that make a choice.
        right_male: of these, read right.
        female: as `male`.
        right_female: as `right_male`.
    """

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
        """The shares as they were measured."""
        of_choices, of_others = max(1, self.choices), max(1, self.no_choice)
        return Rates(self.lost / of_choices, self.false / of_choices, self.invented / of_others)

    def upper(self) -> Rates:
        """The upper ends of their 95 % intervals (Clopper and Pearson)."""
        lost, false = (clopper_pearson(count, self.choices)[1] for count in (self.lost, self.false))
        return Rates(lost, false, clopper_pearson(self.invented, self.no_choice)[1] if self.no_choice else 0.0)


COLUMNS = tuple(field.name for field in fields(TaskErrors))


def task_errors(task: str, tally: Tally) -> TaskErrors:
    """The counts of a measurement as a line of the table."""
    return TaskErrors(
        task,
        tally.n,
        tally.right,
        tally.readable,
        tally.lost,
        tally.false - tally.invented,
        tally.n - tally.readable,
        tally.invented,
        tally.families,
        tally.families_alike,
        tally.n_male,
        tally.right_male,
        tally.n_female,
        tally.right_female,
    )


def write_table(report: Report, out: Path) -> None:
    """Write the counts of a measurement as CSV."""
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, tally in sorted(report.tasks.items()):
            writer.writerow(vars(task_errors(name, tally)).values())


@cache
def measured_errors() -> Mapping[str, TaskErrors]:
    """`benchmark/task` -> the counts of this version's readers on the repository's blind answers."""
    with REFERENCE.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {
        row["task"]: TaskErrors(row["task"], **{name: int(row[name]) for name in COLUMNS if name != "task"})
        for row in rows
    }
