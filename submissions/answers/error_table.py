"""The measured error of the readers per task: `builders/reference/reading_errors.csv`.

It is made from the repository's blind answers by `python -m tests.readings --write`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from fairspace.submissions.uncertainty.intervals import clopper_pearson

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
    """The counts of one task, `benchmark/task`, on the blind answers, as `Tally` has them; the names are the columns'.

    `false` are answers that make a choice and are read as another one; `invented`, that make none and are read as one.
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


@cache
def measured_errors() -> Mapping[str, TaskErrors]:
    """`benchmark/task` -> the counts of this version's readers on the repository's blind answers."""
    with REFERENCE.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {
        row["task"]: TaskErrors(row["task"], **{name: int(row[name]) for name in COLUMNS if name != "task"})
        for row in rows
    }
