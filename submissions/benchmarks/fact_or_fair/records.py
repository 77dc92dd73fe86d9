"""Records of FACT-OR-FAIR: the answers and faces of a submission, and their counts per context (`grids`).

An answer without a group (refused, several, unusable) is known, not missing; refusals are counted by themselves. Only
statistics with figures by an attribute (Table 9) are asked by it. Every image weighs 1, shared equally by its faces
(the paper weighs faces equally). An image without a face is missing; so is an unlabelled face's share of its image.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairspace.builders.fact_or_fair.plan import (
    CONTEXTS,
    CORE_IMAGES,
    CORE_OF_IMAGES,
    LETTERS,
    OPTIONS,
    ORDERS,
    SAMPLES,
    SCENARIOS,
    TRIALS,
    UPSTREAM,
    SubjectiveDraws,
    draws,
    ids,
    images_each,
)
from fairspace.builders.fact_or_fair.statistics import (
    ATTRIBUTES,
    GROUPS,
    LEVELS,
    SLUGS,
    STATISTICS,
    truth,
    with_attribute,
)
from fairspace.metrics.columns import Floats, Integers
from fairspace.submissions.answers.reading import NOT_HANDED_IN, OUTCOMES, Misread, Samples, one_hot
from fairspace.submissions.benchmarks.fact_or_fair.parse import columns
from fairspace.submissions.format.schema import Attribute, Submission
from fairspace.submissions.reading.canonical import item_index
from fairspace.submissions.uncertainty.label_errors import LabelChecks, human_codes, label_checks

OVER_ALL = "llm_subjective"
"""The four subjective contexts together, in names of values."""
OBJECTIVE, SUBJECTIVE = "llm_objective", tuple(f"llm_{context}" for context in CONTEXTS)
LLM_CONTEXTS = (OBJECTIVE, *SUBJECTIVE)
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
ADDED = 0.4
"""`Grid.added` of the core, whose few answers lower S_E and S_KLD; 0.4 minimises the largest error of S_fair, .02."""
IMAGES_ADDED = 0.05
"""The same of the core of images, whose five images of a prompt lower both; of 20 images `v2` adds none."""
_TINY = 1e-9  # shares of thirds do not add up to 1 exactly


def contexts_of(revision: str) -> tuple[str, ...]:
    """Contexts of a dataset revision."""
    none = {"v1": "t2i_subjective_paper", CORE_OF_IMAGES: "t2i_subjective", UPSTREAM: "t2i_subjective"}.get(revision)
    return tuple(context for context in ALL_CONTEXTS if context != none)


def task_of(context: str) -> str:
    """Task of a context."""
    return context if context in SAMPLES else "llm_subjective"


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
        codes = np.asarray(pc.fill_null(pc.index_in(rows[a], value_set=pa.array(GROUPS[a])), -1), np.int64)
        group[a] = np.where(ok, codes, -1)[order]
    human = np.full((rows.num_rows, len(_LABELS)), -1, np.int64)
    if "human_labels" in submission.tables:
        human = human_codes(submission, task, rows, _LABELS)[order]
    return Faces(image[order], 1 / faces[image[order]], group, dict(zip(_LABELS, human.T, strict=True)), each)


REFUSED = OUTCOMES.index("refused")


@dataclass(frozen=True)
class SubjectiveAnswers:
    """The answers of `llm_subjective` that were handed in; empty but with `ran` if the task was run without any.

    `row`, (n): index of each query among the ids, the order of `plan`; `option`, (n): chosen option 0-3, or -1.
    """

    plan: SubjectiveDraws
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

    def valid(self) -> SubjectiveAnswers:
        """Answers that choose an option."""
        return self.where(self.option >= 0)

    def where(self, mask: NDArray[np.bool_]) -> SubjectiveAnswers:
        """Answers of a mask (n)."""
        return replace(self, row=self.row[mask], option=self.option[mask], refused=self.refused[mask])

    def even(self, attribute: str, *contexts: str) -> tuple[float, ...]:
        """(k) share of each group among the profiles of queries with a choice in these contexts; empty without one."""
        row = self.row[self.option >= 0]
        statistic, context = self.plan.cell[row][:, [0, 3]].T
        row = row[np.isin(statistic, with_attribute(attribute)) & np.isin(context, [*map(SUBJECTIVE.index, contexts)])]
        offered = np.bincount(self.plan.profiles(attribute)[row].ravel(), minlength=len(GROUPS[attribute]))
        return tuple((offered / offered.sum()).tolist()) if len(row) else ()


@dataclass(frozen=True)
class Records:
    """The records behind FACT-OR-FAIR's values; empty parts where a task was not run.

    Args:
        said: item, named group (-1 for none) and outcome of each row of `llm_objective`.
        answers: answers of `llm_subjective`.
        faces: image task -> its faces.
        checks: labels of a subset by people, or the labeller's error.
        revision: dataset revision.
        limited: whether they are of a limited run, which asks about some statistics alone.
    """

    said: tuple[Integers, Integers, NDArray[np.int8]]
    answers: SubjectiveAnswers
    faces: Mapping[str, Faces]
    checks: LabelChecks | None
    revision: str
    limited: bool = False

    @property
    def ordered(self) -> bool:
        """Whether the options of objective queries stand in drawn orders."""
        return self.revision != "v1"


def read(submission: Submission) -> Records:
    """Read the responses and annotations of a checked submission."""
    faces = {task: faces for task in T2I_CONTEXTS if (faces := image_faces(submission, task)) is not None}
    position, readings = columns.objective_rows(submission)
    columns_read = position, columns.group_codes(readings), readings.outcomes()
    revision = submission.meta.dataset_revision
    answers, limited = _subjective_answers(submission), submission.meta.generation.get("limit") is not None
    return Records(columns_read, answers, faces, label_checks(submission), revision, limited)


def misread(records: Records, revision: str, tasks: Mapping[str, Misread]) -> Records:
    """The records with some answers taken for others."""
    if (changed := tasks.get("llm_objective")) is not None:
        position, group, outcome = records.said[0], records.said[1].copy(), records.said[2].copy()
        group[changed.rows] = [columns.GROUP_CODES[text] if text else columns.NO_CHOICE for text in changed.texts]
        outcome[changed.rows] = [OUTCOMES.index("choice" if text else "unusable") for text in changed.texts]
        records = replace(records, said=(position, group, outcome))
    if (changed := tasks.get("llm_subjective")) is not None:
        answers, kept = records.answers, columns.NO_CHOICE - 1
        options = np.full(len(answers.plan.cell), kept, np.int8)
        options[changed.items] = [LETTERS.index(text) if text else columns.NO_CHOICE for text in changed.texts]
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


@lru_cache
def queries(revision: str) -> tuple[Integers, Integers, Integers, Integers]:
    """Attribute, statistic and level of each objective item, (n), and the (n, 4) place of each group in it."""
    asked = columns.questions_of(revision)
    codes = [(ATTRIBUTES.index(q.attribute), SLUGS.index(q.statistic), LEVELS.index(q.level)) for q in asked]
    places = [[q.place_of(group) if group < q.choices else -1 for group in range(OPTIONS)] for q in asked]
    attribute, statistic, level = np.array(codes).T
    return attribute, statistic, level, np.array(places)


@lru_cache
def asked_by_group(revision: str, context: str, attribute: str) -> Floats:
    """(k + 1) questions of a language model's context by the group of the query; the last ones have none."""
    groups, times = truth("paper")[attribute][with_attribute(attribute)].ravel(), ASKED[OBJECTIVE]
    if context != OBJECTIVE:
        plan = draws(revision)
        mine = np.isin(plan.cell[:, 0], with_attribute(attribute)) & (plan.cell[:, 3] == SUBJECTIVE.index(context))
        groups, times = plan.context[attribute][mine], 1
    k = len(GROUPS[attribute])
    return np.bincount(np.where(groups < 0, k, groups), minlength=k + 1).astype(np.float64) * times


def _subjective_answers(submission: Submission) -> SubjectiveAnswers:
    row, readings = columns.subjective_rows(submission)
    outcome = readings.outcomes()
    plan = draws(submission.meta.dataset_revision)
    every = SubjectiveAnswers(plan, row, columns.option_codes(readings), outcome == REFUSED, ran=len(row) > 0)
    return every.where(outcome != NOT_HANDED_IN)


def samples(records: Records) -> list[Samples]:
    """Samples of each task that was run and each attribute."""
    return [*_objective(records), *_subjective(records), *_images(records)]


def _objective(records: Records) -> Iterator[Samples]:
    item, group, outcome = records.said
    handed_in = outcome != NOT_HANDED_IN
    if not handed_in.any():
        return
    item, group = item[handed_in], group[handed_in]
    attribute, statistic, level, _ = (column[item] for column in queries(records.revision))
    for number, a in enumerate(ATTRIBUTES):
        right = truth("paper")[a][statistic, level]
        mine = (attribute == number) & (right >= 0)
        yield Samples(
            f"factuality_llm_objective_{a}",
            "1 if the true group is named",
            (group == right)[mine].astype(np.float64),
            "llm_objective",
            item[mine],
            sample=None if records.ordered else (np.arange(len(item)) % ORDERS)[mine],
            fair=1.0,
        )


def _subjective(records: Records) -> Iterator[Samples]:
    valid = records.answers.valid()
    if not len(valid.row):
        return
    plan, cell = valid.plan, valid.plan.cell[valid.row].astype(np.int64)
    for a in ATTRIBUTES:
        mine = np.isin(cell[:, 0], with_attribute(a))
        group = plan.profiles(a)[valid.row, valid.option][mine].astype(np.int64)
        offered = plan.offered(a)[valid.row][mine] / OPTIONS
        yield Samples(
            f"fairness_llm_base_{a}",
            "1 for the group that is chosen and 0 for the others, less its share of the options",
            one_hot(group, len(GROUPS[a])) - offered,
            "llm_subjective",
            valid.row[mine],
            levels=cell[mine, 0] * len(LEVELS) + cell[mine, 1],
        )


def _images(records: Records) -> Iterator[Samples]:
    for (task, faces), a in product(records.faces.items(), ATTRIBUTES):
        prompt = faces.image // faces.each
        cells = prompt_cells(task).astype(np.int64)[prompt]
        mine = np.isin(cells[:, 0], with_attribute(a))
        yield Samples(
            f"{'factuality' if task == 't2i_objective' else 'fairness'}_{task}_{a}",
            "1 for the group that a face shows and 0 for the others",
            one_hot(faces.group[a][mine], len(GROUPS[a])),
            task,
            prompt[mine],
            sample=faces.image[mine] % faces.each,
            levels=(cells[:, 0] * len(LEVELS) + cells[:, 1])[mine],
        )
