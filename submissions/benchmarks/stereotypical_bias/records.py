"""Records of the stereotypical bias benchmark: the questions of its six cells, and the choices of a submission.

A cell is one attribute (gender, race) and one scenario (occupation, descriptor, persona).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fairspace.builders.stereotypical_bias import plan
from fairspace.submissions.answers.reading import NOT_HANDED_IN, OUTCOMES, Misread
from fairspace.submissions.benchmarks.stereotypical_bias.parse import NOT_AVAILABLE, SIDES
from fairspace.submissions.benchmarks.stereotypical_bias.parse.columns import Choices, task_choices
from fairspace.submissions.format.schema import Submission

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
VISION = tuple(task for task in plan.TASKS if task.startswith("vision_"))


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
        """Name of the cell, for example `gender_occupation`."""
        return f"{self.attribute}_{self.scenario}"

    @property
    def groups(self) -> tuple[str, ...]:
        """L_A of the paper."""
        return plan.GROUPS[self.attribute]

    @property
    def offers(self) -> Booleans:
        """(o, k) mask of the groups that a kind of question offers: pairs for vision, all at once for language."""
        k = len(self.groups)
        if self.scenario == "persona":
            return np.ones((1, k), dtype=bool)
        return np.array([[g in pair for g in range(k)] for pair in combinations(range(k), 2)])

    @property
    def shown(self) -> tuple[str, ...]:
        """Groups in the pictures, for counts of refusals; empty for personas. Faces of one race differ in gender."""
        return () if self.scenario == "persona" else plan.GROUPS["race"]

    @property
    def shows(self) -> Booleans:
        """(kinds of picture, groups) mask of the groups that a kind of picture shows, see `Questions.kind`."""
        if self.scenario == "persona":
            return np.zeros((1, 0), dtype=bool)
        return self.offers if self.attribute == "race" else np.eye(len(self.shown), dtype=bool)


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
    """The expected questions of one cell.

    Args:
        rows: (n,) rows in the task's items.
        instance: (n,) index into the cell's instances.
        offer: (n,) index into the cell's offers.
        options: (n, m) group at each position: left and right, or the order in the sentence.
        kind: (n,) index into the rows of `Cell.shows`; 0 for personas.
        cluster: (n,) unit of resampling: the age of two faces (each in several pairs), or the image of a persona.
    """

    rows: Integers
    instance: Integers
    offer: Integers
    options: Integers
    kind: Integers
    cluster: Integers


@lru_cache
def questions(cell: Cell, revision: str = plan.REVISIONS[0]) -> Questions:
    """The questions of a cell about all planned pairs."""
    items = plan.items(cell.task, revision)
    number = items["instance"].to_numpy().astype(np.int64) - cell.first
    rows = np.flatnonzero((number >= 0) & (number < len(cell.instances)))
    if cell.scenario == "persona":
        options = np.array(plan.orders(cell.attribute))[items["order"].to_numpy()[rows]]
        offer = np.zeros(len(rows), dtype=np.int64)
        cluster = rows
    else:
        options = np.stack([items[side].to_numpy()[rows].astype(np.int64) for side in ("left", "right")], axis=1)
        kind = np.zeros((len(cell.groups),) * 2, dtype=np.int64)
        for at, (a, b) in enumerate(combinations(range(len(cell.groups)), 2)):
            kind[a, b] = kind[b, a] = at
        offer = kind[options[:, 0], options[:, 1]]
        cluster = items["age"].to_numpy()[rows].astype(np.int64) - plan.AGES[0]
    return Questions(rows, number[rows], offer, options, _kinds(cell, items, rows, offer), cluster)


def _kinds(cell: Cell, items: pa.Table, rows: Integers, offer: Integers) -> Integers:
    if cell.scenario == "persona" or cell.attribute == "race":
        return offer
    shared = pc.index_in(items["shared"].combine_chunks(), pa.array(cell.shown))
    return np.asarray(shared.to_numpy(), np.int64)[rows]


@dataclass(frozen=True)
class CellAnswers:
    """The answers of a submission in one cell.

    (n,) chosen group, and side or place in the sentence, are `NOT_AVAILABLE` (-1) where there is none; `outcome` has
    indices into `OUTCOMES`, or `NOT_HANDED_IN`.
    """

    asked: Questions
    group: Integers
    position: Integers
    outcome: Integers

    @property
    def given(self) -> Booleans:
        """(n,) mask of responses."""
        return np.asarray(self.outcome != NOT_HANDED_IN)

    @property
    def not_available(self) -> Booleans:
        """(n,) mask of responses that choose no group: refusals, several groups or none."""
        return np.asarray(self.given & (self.group == NOT_AVAILABLE))

    @property
    def refused(self) -> Booleans:
        """(n,) mask of responses that decline to answer."""
        return np.asarray(self.outcome == OUTCOMES.index("refused"))


@dataclass(frozen=True)
class Records:
    """All that the values of a submission are computed from.

    Args:
        cells: Name of a cell -> its answers; None if the submission has no rows of the cell's task.
        authors: Answers by the reading of the paper's authors, see `parse.columns`.
    """

    cells: Mapping[str, CellAnswers | None]
    authors: Mapping[str, CellAnswers | None] = field(default_factory=dict)
    revision: str = plan.REVISIONS[0]


def read(submission: Submission) -> Records:
    """Read the responses of a checked submission; pictures of two faces that were not shown count as unanswered."""
    unseen = VISION if submission.meta.generation.get("text_only") else ()
    tables = {task: None if task in unseen else task_choices(submission, task) for task in plan.TASKS}
    revision = submission.meta.dataset_revision
    asked = {cell.name: questions(cell, revision) for cell in CELLS}
    mine, authors = (
        {
            cell.name: choices and _answers(cell, asked[cell.name], choices[who])
            for cell in CELLS
            for choices in [tables[cell.task]]
        }
        for who in (0, 1)
    )
    return Records(mine, authors, revision)


def _answers(cell: Cell, asked: Questions, choices: Choices) -> CellAnswers:
    choice, outcome = choices.choice[asked.rows], choices.outcome[asked.rows]
    if cell.scenario == "persona":
        position = np.where(choice < 0, choice, (asked.options == choice[:, None]).argmax(axis=1))
        return CellAnswers(asked, choice, position, outcome)
    options = np.take_along_axis(asked.options, np.maximum(choice, 0)[:, None], axis=1)[:, 0]
    return CellAnswers(asked, np.where(choice < 0, choice, options), choice, outcome)


def misread(records: Records, revision: str, tasks: Mapping[str, Misread]) -> Records:
    """The records with some answers replaced."""
    cells, kept = dict(records.cells), NOT_AVAILABLE - 1
    for cell in CELLS:
        answers, changed = cells[cell.name], tasks.get(cell.task)
        if answers is None or changed is None:
            continue
        values = SIDES if cell.task in VISION else cell.groups
        choice = np.full(len(plan.ids(cell.task, revision)), kept)
        choice[changed.items] = [values.index(text) if text else NOT_AVAILABLE for text in changed.texts]
        outcome = np.where(choice < 0, OUTCOMES.index("unusable"), OUTCOMES.index("choice"))
        others, moved = _answers(cell, answers.asked, Choices(choice, outcome)), choice[answers.asked.rows] != kept
        group = np.where(moved, others.group, answers.group)
        position = np.where(moved, others.position, answers.position)
        cells[cell.name] = CellAnswers(answers.asked, group, position, np.where(moved, others.outcome, answers.outcome))
    return replace(records, cells=cells)
