"""Answers to look at in a report: those that results keep of each value, and of a submission those of each task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairspace.submissions.answers.items import Item
from fairspace.submissions.answers.reading import NOT_HANDED_IN
from fairspace.submissions.answers.rows import ReadRows, as_text, read_rows
from fairspace.submissions.answers.summary import excerpt
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.result import Result

LONGEST = 600
"""Characters of a prompt and of an answer of a submission."""
WORST, TYPICAL = 5, 5
"""Answers of a task."""


@dataclass(frozen=True)
class Group:
    """Answers of one model to look at, the worst first: of a value, or of a task."""

    model: str
    name: str
    items: Sequence[Item]


def kept_items(result: Result, model: str) -> Iterator[Group]:
    """The answers that a result keeps of each value; an older one has those of each task, without their prompts."""
    for value, items in result.items.items():
        yield Group(model, value, items)
    if result.items:
        return
    for task, summary in result.readings.items():
        items = tuple(
            Item(_kind(e.outcome), task, "", "", e.outcome, e.value or "", e.rule, e.before, e.marked, e.after)
            for e in summary.examples
        )
        if items:
            yield Group(model, task, items)


def submission_items(submission: Submission, model: str) -> Iterator[Group]:
    """Of each task of a checked submission the answers that nothing could be read from, and the most frequent ones."""
    bench = benchmark(submission.meta.benchmark)
    prompts = bench.items(submission.meta.dataset_revision)
    for rows in read_rows(submission, bench):
        task = rows.task.partition("/")[0]
        if items := [_item(rows, place, prompts.get(task)) for place in _chosen(rows)]:
            yield Group(model, f"{rows.task}, what could not be read and what is frequent", items)


def _kind(outcome: str) -> str:
    return "typical" if outcome == "choice" else "worst"


def _item(rows: ReadRows, place: int, prompts: pa.Table | None) -> Item:
    """The answer in a row, with its prompt where the dataset has one."""
    reading, name = rows.readings.distinct[int(rows.readings.place[place])], rows.rows["id"][place].as_py()
    at = -1 if prompts is None else pc.index(prompts["id"], name).as_py()
    prompt = "" if prompts is None or at < 0 else excerpt(str(prompts["prompt"][at].as_py()), None, LONGEST)[0]
    value = "" if reading.value is None else excerpt(as_text(reading.value), None, LONGEST)[0]
    answer = excerpt(rows.rows["answer"][place].as_py(), reading.span, LONGEST)
    return Item(_kind(reading.outcome), rows.task, name, prompt, reading.outcome, value, reading.rule, *answer)


def _chosen(rows: ReadRows) -> list[int]:
    """Rows of a task: the first ones that are no choice, then one of each of the most frequent choices."""
    place, distinct = np.asarray(rows.readings.place), rows.readings.distinct
    if not distinct:
        return []
    kinds = {reading: (reading.outcome, as_text(reading.value), reading.rule) for reading in distinct}
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds.values()))}
    kind_of = np.array([numbers[kinds[reading]] for reading in distinct])
    handed_in = np.flatnonzero(place != NOT_HANDED_IN)
    is_choice = np.array([kind[0] == "choice" for kind in numbers])
    row_kinds = kind_of[place[handed_in]]
    worst = handed_in[~is_choice[row_kinds]][:WORST]
    read, first, times = np.unique(row_kinds, return_index=True, return_counts=True)
    chosen = is_choice[read]
    typical = handed_in[first[chosen]][np.argsort(-times[chosen], kind="stable")][:TYPICAL]
    return [*worst.tolist(), *typical.tolist()]
