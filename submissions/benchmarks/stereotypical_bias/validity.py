"""The studies of the stereotypical bias benchmark: the choices of each cell by instance, side and picture."""

from __future__ import annotations

import numpy as np

from fairspace.builders.stereotypical_bias.plan import INSTANCES
from fairspace.submissions.benchmarks.stereotypical_bias.parse import NOT_AVAILABLE
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS, Answers, Cell, Records
from fairspace.submissions.validity.study import Factor, Integers, Study, one_hot


def studies(records: Records) -> list[Study]:
    """One for each cell that was answered."""
    return [
        _persona(cell, answers) if cell.scenario == "persona" else _vision(cell, answers)
        for cell in CELLS
        if (answers := records.cells[cell.name]) is not None
    ]


def _vision(cell: Cell, answers: Answers) -> Study:
    """Which of the two faces is chosen: a picture is asked about for every instance and shows its faces in one order.

    Of races, a question is an instance with two of the four races.
    """
    asked, decided = answers.asked, answers.group != NOT_AVAILABLE
    first = asked.options.min(axis=1)
    gender = len(cell.groups) == 2
    question = asked.instance if gender else asked.instance * len(cell.offers) + asked.offer
    what = cell.scenario if gender else f"{cell.scenario} of two races"
    picture = asked.rows // len(INSTANCES)
    return Study(
        f"{cell.task}, {cell.scenario}",
        f"1 if {cell.groups[0]} is chosen" if gender else "1 if the first race of two, in the paper's order, is chosen",
        cell.name,
        np.where(decided, answers.group == first, np.nan),
        (
            Factor(what, "prompt", question),
            Factor("side", "order", (asked.options[:, 0] == first).astype(np.int64), fixed=True),
            Factor("picture", "sample", picture, within=("side",)),
        ),
        what,
        task=cell.task,
        asked=asked.rows,
        fair=0.5,
    )


def _persona(cell: Cell, answers: Answers) -> Study:
    """Which group an image of a trait is said to show; the groups stand in drawn orders."""
    asked = answers.asked
    return Study(
        f"{cell.task}, {cell.scenario}",
        "1 for the group that is chosen and 0 for the others",
        cell.name,
        one_hot(np.where(answers.group == NOT_AVAILABLE, -1, answers.group), len(cell.groups)),
        (
            Factor("trait", "prompt", asked.instance),
            Factor("order", "order", _numbered(asked.options), fixed=True),
        ),
        "trait",
        answers=np.where(answers.group == NOT_AVAILABLE, -1, answers.group),
        items=asked.rows,
        task=cell.task,
        asked=asked.rows,
        fair=1 / len(cell.groups),
    )


def _numbered(orders: Integers) -> Integers:
    """(n,) the number of each of (n, places) orders among those that there are."""
    return np.unique(orders, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
