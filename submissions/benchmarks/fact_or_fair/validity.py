"""The studies of FACT-OR-FAIR: its answers and faces by topic, wording and order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairspace.builders.fact_or_fair.objective import ORDERS
from fairspace.builders.fact_or_fair.plan import OPTIONS, SAMPLES
from fairspace.builders.fact_or_fair.statistics import ATTRIBUTES, GROUPS, LEVELS, SLUGS, truth, with_attribute
from fairspace.submissions.benchmarks.fact_or_fair.parse.columns import questions_of
from fairspace.submissions.benchmarks.fact_or_fair.records.faces import Faces, prompt_cells
from fairspace.submissions.benchmarks.fact_or_fair.records.records import Records
from fairspace.submissions.validity.study import Factor, Integers, Study, one_hot

_CHOICE = "1 for the group that is chosen and 0 for the others, less its share of the options"


def studies(records: Records) -> list[Study]:
    """One for each task that was run and each attribute."""
    return [*_objective(records), *_subjective(records), *_images(records)]


def _objective(records: Records) -> Iterator[Study]:
    """Whether the true group is named; in `v2` each answer to a query has an order of the options of its own."""
    item, group = records.named
    if not len(item):
        return
    questions = questions_of(records.revision)
    statistic, level = _codes([q.statistic for q in questions], SLUGS), _codes([q.level for q in questions], LEVELS)
    attribute = np.array([question.attribute for question in questions])
    sample = item % ORDERS if records.ordered else np.arange(len(item)) % ORDERS
    for a in ATTRIBUTES:
        right = truth("paper")[a][statistic[item], level[item]]
        mine = (attribute[item] == a) & (right >= 0)
        scores = (group == right)[mine].astype(np.float64)
        yield Study(
            f"llm_objective, {a}",
            "1 if the true group is named",
            f"factuality_llm_objective_{a}",
            scores,
            (
                Factor("statistic", "prompt", statistic[item][mine]),
                Factor("query", "prompt", level[item][mine], within=("statistic",)),
                Factor("order", "order", sample[mine], within=("query",))
                if records.ordered
                else Factor("sample", "sample", sample[mine], within=("query",)),
            ),
            "query",
            answers=group[mine],
            items=item[mine],
            means=(f"llm_factuality_{a}",),
            task="llm_objective",
            asked=item[mine],
            sample=None if records.ordered else sample[mine],
            fair=1.0,
        )


def _subjective(records: Records) -> Iterator[Study]:
    """The group of the chosen profile, over the three scenarios and four contexts of each topic."""
    chosen = records.answers.valid()
    if not len(chosen.row):
        return
    plan, cell = chosen.plan, chosen.plan.cell[chosen.row].astype(np.int64)
    for a in ATTRIBUTES:
        mine = np.isin(cell[:, 0], with_attribute(a))
        group = chosen.group(a)[mine].astype(np.int64)
        offered = plan.offered(a)[chosen.row][mine] / OPTIONS
        statistic, level, scenario, context, _ = cell[mine].T
        yield Study(
            f"llm_subjective, {a}",
            _CHOICE,
            f"fairness_llm_base_{a}",
            one_hot(group, len(GROUPS[a])) - offered,
            (
                Factor("topic", "prompt", statistic * len(LEVELS) + level),
                Factor("scenario", "wording", scenario),
                Factor("context", "wording", context, fixed=True),
            ),
            "topic",
            answers=group,
            items=chosen.row[mine],
            task="llm_subjective",
            asked=chosen.row[mine],
        )


def _images(records: Records) -> Iterator[Study]:
    """The groups of the faces in the images of each topic."""
    for task, faces in records.faces.items():
        yield from (_faces(task, faces, a) for a in ATTRIBUTES)


def _faces(task: str, faces: Faces, attribute: str) -> Study:
    prompt = faces.image // SAMPLES[task]
    cells = prompt_cells(task).astype(np.int64)[prompt]
    mine = np.isin(cells[:, 0], with_attribute(attribute))
    topic = (cells[:, 0] * len(LEVELS) + cells[:, 1])[mine]
    # The prompts of a topic follow each other, so its first one is where the topic begins.
    wording = prompt[mine] % max(1, len(prompt_cells(task)) // (len(SLUGS) * len(LEVELS)))
    group = faces.group[attribute][mine]
    return Study(
        f"{task}, {attribute}",
        "1 for the group that a face shows and 0 for the others",
        f"{'factuality' if task == 't2i_objective' else 'fairness'}_{task}_{attribute}",
        one_hot(group, len(GROUPS[attribute])),
        (
            Factor("topic", "prompt", topic),
            Factor("scenario", "wording", wording),
            Factor("image", "sample", faces.image[mine], within=("topic", "scenario")),
        ),
        "topic",
        answers=group,
        task=task,
        asked=prompt[mine],
        sample=faces.image[mine] % SAMPLES[task],
    )


def _codes(names: list[str], known: tuple[str, ...]) -> Integers:
    return np.array([known.index(name) for name in names], np.int64)
