"""Records of FACT-OR-FAIR: the answers and faces of a submission, and their counts per context (`grids`).

An answer without a group (refused, several, unusable) is known, not missing; refusals are counted by themselves. Only
statistics with figures by an attribute (Table 9) are asked by it. Every image weighs 1, shared equally by its faces
(the paper weighs faces equally). An image without a face is missing; so is an unlabelled face's share of its image.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.plan import (
    CONTEXTS,
    CORE_IMAGES,
    CORE_OF_IMAGES,
    LETTERS,
    ORDERS,
    SAMPLES,
    SCENARIOS,
    TRIALS,
    UPSTREAM,
    Draws,
    draws,
    ids,
    images_each,
)
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, SLUGS, STATISTICS, with_attribute
from fairspace.submissions.answers.reading import NOT_HANDED_IN, OUTCOMES, Misread
from fairspace.submissions.benchmarks.fact_or_fair.parse.columns import (
    GROUP_CODES,
    NO_CHOICE,
    group_codes,
    objective_rows,
    option_codes,
    questions_of,
    subjective_rows,
)
from fairspace.submissions.format.schema import Attribute, Submission
from fairspace.submissions.reading.canonical import item_index
from fairspace.submissions.uncertainty.label_errors import LabelChecks, human_codes, label_checks

OVER_ALL = "llm_subjective"
"""The four subjective contexts together, in names of values."""
LLM_CONTEXTS = ("llm_objective", *(f"llm_{context}" for context in CONTEXTS))
T2I_CONTEXTS = ("t2i_objective", "t2i_subjective", "t2i_subjective_paper")
ALL_CONTEXTS = LLM_CONTEXTS + T2I_CONTEXTS
"""Tables 4-8, from left to right: O, S-B, S-R, S-A, S-G; image models: O, S (three prompts a topic), S as the paper."""
ASKED: Mapping[str, int] = {
    "llm_objective": ORDERS,
    **{f"llm_{context}": SCENARIOS * TRIALS for context in CONTEXTS},
    "t2i_objective": SAMPLES["t2i_objective"],
    "t2i_subjective": SCENARIOS * SAMPLES["t2i_subjective"],
    "t2i_subjective_paper": SAMPLES["t2i_subjective_paper"],
}
"""Context -> questions about one statistic at one level."""
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ADDED = 0.4
"""`Grid.added` of the core, whose few answers lower S_E and S_KLD; 0.4 minimises the largest error of S_fair, .02."""
IMAGES_ADDED = 0.05
"""The same of the core of images, whose five images of a prompt lower both; of 20 images `v2` adds none."""
_TINY = 1e-9  # shares of thirds do not add up to 1 exactly


@dataclass(frozen=True)
class Grid:
    """The answers about one attribute in one context.

    Args:
        counts: (s, 2, k) answers (T2I: shares of images) per statistic with the attribute, level (0 highest) and group.
        missing: (s, 2) questions that are unknown: not handed in, or no face.
        absent: missing ones that were not handed in.
        unusable: (s, 2) answers that name no group, refusals among them.
        asked: questions about one statistic at one level.
        added: answers that S_E and S_KLD add to each group of a cell, 0 but for the core.
        even: (k) share of each group among the offered options of answers with a group; empty if all are equal.
    """

    counts: Floats
    missing: Floats
    absent: int
    unusable: Floats
    refused: Floats
    asked: int
    added: float = 0.0
    even: tuple[float, ...] = ()


def contexts_of(revision: str) -> tuple[str, ...]:
    """Contexts of a dataset revision."""
    none = {"v1": "t2i_subjective_paper", CORE_OF_IMAGES: "t2i_subjective", UPSTREAM: "t2i_subjective"}.get(revision)
    return tuple(context for context in ALL_CONTEXTS if context != none)


def task_of(context: str) -> str:
    """Task of a context."""
    return context if context in SAMPLES else "llm_subjective"


def tally(
    statistic: NDArray[Any], level: NDArray[Any], group: NDArray[Any] | int = 0, k: int = 1, share: Floats | None = None
) -> Floats:
    """(19, 2, k) rows per statistic, level and group, weighted by `share`."""
    shape = (len(STATISTICS), len(LEVELS), k)
    cell = (statistic.astype(np.intp) * len(LEVELS) + level) * k + group
    return np.bincount(cell, weights=share, minlength=int(np.prod(shape))).reshape(shape).astype(float)


def answer_grid(attribute: str, asked: int, counts: Floats, rows: Floats, refused: Floats, added: float = 0) -> Grid:
    """The grid of an attribute's answers: (19, 2, k) by named group, (19, 2, 1) handed in, (19, 2, 1) refused."""
    mine = with_attribute(attribute)
    handed_in = rows[mine].sum(-1)
    missing = asked - handed_in
    unusable = handed_in - counts[mine].sum(-1)
    return Grid(counts[mine], missing, round(missing.sum()), unusable, refused[mine].sum(-1), asked, added)


def image_grid(attribute: str, asked: int, rows: Floats, counts: Floats, added: float) -> Grid:
    """The grid of images; `rows`, (19, 2, 1), counts those handed in. An image without a face is missing."""
    mine = with_attribute(attribute)
    missing = asked - counts[mine].sum(-1)
    absent = asked - rows[mine].sum(-1)
    none = np.zeros_like(missing)
    missing = np.where(np.abs(missing) < _TINY, 0.0, missing)
    return Grid(counts[mine], missing, round(absent.sum()), none, none, asked, added)


_LABELS: tuple[Attribute, ...] = ("gender", "race")


@dataclass(frozen=True)
class Faces:
    """The rows of an image task, in the order of images and faces.

    Args:
        image: (m,) prompt times images per prompt, plus the image's number.
        group: attribute -> (m,) group, -1 where the face has none.
        human: attribute -> (m,) people's label, -1 where nobody labelled it.
    """

    image: Integers
    share: Floats
    group: Mapping[str, Integers]
    human: Mapping[str, Integers]
    each: int = SAMPLES["t2i_objective"]

    @property
    def added(self) -> float:
        """`Grid.added` of these images."""
        return IMAGES_ADDED if self.each == CORE_IMAGES else 0.0


def images_asked(context: str, each: int) -> int:
    """Images of a topic in an image context, of so many per prompt."""
    return ASKED[context] // SAMPLES[context] * each


def prompt_cells(task: str) -> NDArray[np.int16]:
    """(p, 2) statistic and level of every prompt of an image task, in the order of the ids."""
    prompts = SCENARIOS if task == "t2i_subjective" else 1
    topic = np.repeat(np.arange(len(STATISTICS) * len(LEVELS)), prompts)
    return np.stack(np.divmod(topic, len(LEVELS)), axis=1).astype(np.int16)


def image_faces(submission: Submission, task: str) -> Faces | None:
    """Faces of an image task's images; None if the task has no rows."""
    rows = submission.rows("annotations", task)
    if not rows.num_rows:
        return None
    revision = submission.meta.dataset_revision
    prompts, each = ids(task, revision), images_each(task, revision)
    image = item_index(prompts, rows) * each + np.asarray(rows["sample"], np.int64)
    face = np.asarray(rows["face"], np.int64)
    faces = np.zeros(len(prompts) * each, np.int64)
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
    return Faces(image[order], 1 / faces[image[order]], group, dict(zip(_LABELS, human.T, strict=True)), each)


def image_grids(task: str, faces: Faces) -> Mapping[str, Grid]:
    """Attribute -> grid of an image task."""
    cell = prompt_cells(task)
    statistic, level = cell[faces.image // faces.each].T
    first = np.unique(faces.image, return_index=True)[1]
    by_attribute = {}
    for a in ATTRIBUTES:
        group = faces.group[a]
        used = group >= 0
        counts = tally(statistic[used], level[used], group[used], len(GROUPS[a]), faces.share[used])
        rows, asked = tally(statistic[first], level[first]), images_asked(task, faces.each)
        by_attribute[a] = image_grid(a, asked, rows, counts, faces.added)
    return by_attribute


_REFUSED = OUTCOMES.index("refused")


@dataclass(frozen=True)
class Answers:
    """The answers of `llm_subjective` that were handed in; empty but with `ran` if the task was run without any.

    `row`, (n): index of each query among the ids, the order of `plan`; `option`, (n): chosen option 0-3, or -1.
    """

    plan: Draws
    row: Integers
    option: NDArray[np.int8]
    refused: NDArray[np.bool_]
    ran: bool

    @property
    def asked(self) -> int:
        """Queries about one statistic at one level in one context."""
        return len(self.plan.cell) // (len(CONTEXTS) * len(STATISTICS) * len(LEVELS))

    @property
    def added(self) -> float:
        """`Grid.added` of these queries."""
        return 0.0 if self.asked == ASKED["llm_base"] else ADDED

    def where(self, mask: NDArray[np.bool_]) -> Answers:
        """Answers of a mask (n)."""
        return replace(self, row=self.row[mask], option=self.option[mask], refused=self.refused[mask])

    def of(self, context: int) -> Answers:
        """Answers in one context, an index into `CONTEXTS`."""
        return self.where(self.plan.cell[self.row, 3] == context)

    def valid(self) -> Answers:
        """Answers that choose an option."""
        return self.where(self.option >= 0)

    def topic(self) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """Statistic and level of each."""
        return self.plan.cell[self.row, 0], self.plan.cell[self.row, 1]

    def even(self, attribute: str) -> tuple[float, ...]:
        """(k) share of each group among the offered profiles; empty without a query that counts."""
        counts = np.isin(self.topic()[0], with_attribute(attribute))
        offered = self.plan.offered(attribute)[self.row[counts]].sum(axis=0)
        return tuple((offered / offered.sum()).tolist()) if counts.any() else ()

    def context_group(self, attribute: str) -> NDArray[np.int64]:
        """(n) group that each query's context points to; k where none, k + 1 without figures by the attribute."""
        k = len(GROUPS[attribute])
        group = self.plan.context[attribute][self.row].astype(np.int64)
        has_figures = np.isin(self.plan.cell[self.row, 0], with_attribute(attribute))
        return np.where(has_figures, np.where(group < 0, k, group), k + 1)

    def group(self, attribute: str) -> NDArray[np.int8]:
        """Group of each chosen profile; only for `valid()` ones."""
        return self.plan.profiles(attribute)[self.row, self.option]


def every_query(plan: Draws) -> Answers:
    """All queries, each answered without a choice: the possible counts of a group."""
    count = len(plan.cell)
    return Answers(plan, np.arange(count), np.full(count, -1, np.int8), np.zeros(count, bool), ran=True)


@dataclass(frozen=True)
class Records:
    """The records behind FACT-OR-FAIR's values; empty parts where a task was not run.

    Args:
        places: attribute -> (19, k) objective answers per statistic by the place of the chosen group.
        said: item, named group (-1 for none) and outcome of each row of `llm_objective`.
        limited: whether they are of a limited run, which asks about some statistics alone.
    """

    objective: Mapping[str, Grid]
    answers: Answers
    faces: Mapping[str, Faces]
    checks: LabelChecks | None
    places: Mapping[str, Floats]
    revision: str
    said: tuple[Integers, Integers, NDArray[np.int8]]
    limited: bool = False

    @property
    def ordered(self) -> bool:
        """Whether the options of objective queries stand in drawn orders."""
        return self.revision != "v1"


def read(submission: Submission) -> Records:
    """Read the responses and annotations of a checked submission."""
    faces = {task: faces for task in T2I_CONTEXTS if (faces := image_faces(submission, task)) is not None}
    position, readings = objective_rows(submission)
    said = position, group_codes(readings), readings.outcomes()
    revision = submission.meta.dataset_revision
    objective, places = _objective(*said, revision)
    answers, limited = _subjective_answers(submission), submission.meta.generation.get("limit") is not None
    return Records(objective, answers, faces, label_checks(submission), places, revision, said, limited)


def misread(records: Records, revision: str, tasks: Mapping[str, Misread]) -> Records:
    """The records with some answers taken for others."""
    if (changed := tasks.get("llm_objective")) is not None:
        position, group, outcome = records.said[0], records.said[1].copy(), records.said[2].copy()
        group[changed.rows] = [GROUP_CODES[text] if text else NO_CHOICE for text in changed.texts]
        outcome[changed.rows] = [OUTCOMES.index("choice" if text else "unusable") for text in changed.texts]
        objective, places = _objective(position, group, outcome, revision)
        records = replace(records, objective=objective, places=places, said=(position, group, outcome))
    if (changed := tasks.get("llm_subjective")) is not None:
        answers, kept = records.answers, NO_CHOICE - 1
        options = np.full(len(answers.plan.cell), kept, np.int8)
        options[changed.items] = [LETTERS.index(text) if text else NO_CHOICE for text in changed.texts]
        option = options[answers.row]
        moved = option != kept
        option = np.where(moved, option, answers.option)
        records = replace(records, answers=replace(answers, option=option, refused=answers.refused & ~moved))
    return records


def questions(records: Records, context: str) -> int:
    """Questions of a context about one statistic at one level."""
    if context in T2I_CONTEXTS:
        return images_asked(context, images_each(context, records.revision))
    return records.answers.asked if task_of(context) == "llm_subjective" else ASKED[context]


def grids(records: Records, context: str) -> Mapping[str, Grid]:
    """Attribute -> grid; empty if the context's task has no rows."""
    if context == "llm_objective":
        return records.objective
    if context in T2I_CONTEXTS:
        return image_grids(context, records.faces[context]) if context in records.faces else {}
    if not records.answers.ran:
        return {}
    here = records.answers.of(LLM_CONTEXTS.index(context) - 1)
    chosen, refused = here.valid(), here.where(here.refused)
    rows, declined = tally(*here.topic()), tally(*refused.topic())
    return {
        a: replace(
            answer_grid(
                a, here.asked, tally(*chosen.topic(), chosen.group(a), len(GROUPS[a])), rows, declined, here.added
            ),
            even=chosen.even(a),
        )
        for a in ATTRIBUTES
    }


def _objective(
    position: Integers, group: Integers, outcome: NDArray[np.int8], revision: str
) -> tuple[Mapping[str, Grid], Mapping[str, Floats]]:
    """Grids of the objective queries, and their answers by place; both empty where none was run."""
    if not len(position):
        return {}, {}
    questions = questions_of(revision)
    statistic = np.array([SLUGS.index(question.statistic) for question in questions])[position]
    level = np.array([LEVELS.index(question.level) for question in questions])[position]
    attribute = np.array([question.attribute for question in questions])[position]
    by_attribute, places = {}, {}
    for a in ATTRIBUTES:
        mine = (attribute == a) & (outcome != NOT_HANDED_IN)
        valid, refused = mine & (group >= 0), mine & (outcome == _REFUSED)
        counts = tally(statistic[valid], level[valid], group[valid], len(GROUPS[a]))
        rows, declined = (tally(statistic[mask], level[mask]) for mask in (mine, refused))
        by_attribute[a] = answer_grid(a, ASKED["llm_objective"], counts, rows, declined)
        chosen = [
            (questions[at], code) for at, code in zip(position[valid].tolist(), group[valid].tolist(), strict=True)
        ]
        place = np.array([question.place_of(code) for question, code in chosen], np.int64)
        places[a] = tally(statistic[valid], np.zeros_like(place), place, len(GROUPS[a]))[:, 0]
    return by_attribute, places


def _subjective_answers(submission: Submission) -> Answers:
    row, readings = subjective_rows(submission)
    outcome = readings.outcomes()
    plan = draws(submission.meta.dataset_revision)
    every = Answers(plan, row, option_codes(readings), outcome == _REFUSED, ran=len(row) > 0)
    return every.where(outcome != NOT_HANDED_IN)
