"""The consistency proof: items, answers and readings of a scored submission match one to one.

The check (`rows`) lets in no repeated key and no unknown item. Counted here are one reading per answer, and no
judgement of a missing answer. A row can be verified only while the proof holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ConfigDict, Field, TypeAdapter

from fairspace.submissions.answers.rows import ANSWERS, Count, ReadRows
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.format.faults import validated
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import hash_column, matched

_IMAGE = ("id", "sample")
_Digest = Annotated[str, Field(strict=True, min_length=64, max_length=64)]


@dataclass(frozen=True, kw_only=True)
class TaskConsistency:
    """Counts of samples, answers and readings of one task.

    Args:
        expected: Samples of the benchmark whose stimuli the data have.
        answers: Samples with an answer, or with an annotated image.
        readings: Answers with a reading; images with a status.
        unread: Answers without a reading, and readings without an answer.
        orphans: Judgements of missing narratives.
        keys, content: sha256 of the answers' keys, and of the answers or labels in that order.
        read: sha256 of the readings, or of images' labels, in that order.
        duplicates, unknown: Repeated rows, and rows of items or samples outside the task: none in a submission that was
            checked.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    expected: Count
    answers: Count
    readings: Count
    duplicates: Count = 0
    missing: Count
    unknown: Count = 0
    unread: Count
    orphans: Count
    keys: _Digest
    content: _Digest
    read: _Digest

    @property
    def holds(self) -> bool:
        """Whether items, answers and readings match one to one; missing answers are no contradiction."""
        faults = (self.duplicates, self.unknown, self.unread, self.orphans)
        return not any(faults) and self.readings == self.answers and self.answers + self.missing == self.expected

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON data."""
        return {**vars(self), "holds": self.holds}

    @classmethod
    def from_json(cls, data: Any) -> TaskConsistency:
        """The counts in JSON data of `to_json`; ValueError for other data. `holds` is derived, never believed."""
        counts = {name: part for name, part in data.items() if name != "holds"} if isinstance(data, dict) else data
        return validated(_CONSISTENCY, counts, "consistency of a task, counts and digests")


_CONSISTENCY = TypeAdapter(TaskConsistency)
Proof = Mapping[str, TaskConsistency]
"""Task -> its consistency, for tasks with rows."""


def prove(submission: Submission, bench: Benchmark, readings: Iterable[ReadRows]) -> dict[str, TaskConsistency]:
    """The proof of a submission whose images, if any, are labelled; `readings` are those of `read_rows`."""
    read: dict[str, list[ReadRows]] = {}
    for task_rows in readings:
        read.setdefault(task_rows.task.partition("/")[0], []).append(task_rows)
    proof = {}
    for task in bench.tasks:
        rows = submission.scored_rows(task.table, task.name)
        if rows.num_rows:
            asked = task.samples_asked(submission.meta.dataset_revision)
            proof[task.name] = _prove(submission, task, rows, asked, read.get(task.name, []))
    return proof


def broken(proof: Proof) -> list[str]:
    """Tasks whose proof does not hold."""
    return [task for task, consistency in proof.items() if not consistency.holds]


def rests_on_judge(proof: Proof, bench: Benchmark) -> list[str]:
    """Mandatory tasks with rows that a judge decided."""
    return [task.name for task in bench.tasks if task.judges and not task.optional and task.name in proof]


def answered(rows: pa.Table, table: str) -> pa.ChunkedArray:
    """(n,) whether each row of a checked table has an answer; of an image its first face has it."""
    return pc.equal(rows["face"], 0) if table == "annotations" else pc.is_valid(rows[ANSWERS[table]])


def _prove(
    submission: Submission, task: Task, rows: pa.Table, expected: int, readings: list[ReadRows]
) -> TaskConsistency:
    images = task.table == "annotations"
    there = answered(rows, task.table)
    answers = pc.sum(there).as_py()
    labels = [name for name in rows.column_names if name not in ("task", *_IMAGE)]
    content = _digest(rows.select(labels if images else [ANSWERS[task.table]]))
    read = [int((part.readings.place >= 0).sum()) for part in readings]
    return TaskConsistency(
        expected=expected,
        answers=answers,
        readings=answers if images else min(read, default=0),
        missing=max(0, expected - answers),
        unread=sum(_unread(rows, part) for part in readings),
        orphans=_orphans(submission, task, rows),
        keys=_digest((rows if images else rows.filter(there)).select(_IMAGE)),
        content=content,
        read=content if images else _digest(*map(_outcomes, readings)),
    )


def _unread(rows: pa.Table, part: ReadRows) -> int:
    """Rows with an answer or a reading alone; all rows, if the readings are of other rows."""
    if not all(part.rows[name].equals(rows[name]) for name in _IMAGE):
        return max(rows.num_rows, part.rows.num_rows)
    handed_in = np.asarray(pc.is_valid(part.rows["answer"]))
    return int((handed_in != (part.readings.place >= 0)).sum())


def _outcomes(part: ReadRows) -> pa.Table:
    return part.table().select(["task", "id", "sample", "outcome", "value"])


def _orphans(submission: Submission, task: Task, rows: pa.Table) -> int:
    """Judgements of missing answers; 0 for a task that judges none."""
    if not task.judges:
        return 0
    judged = submission.rows("responses", task.judges)
    answers = judged.filter(pc.is_valid(judged["response"]))
    return int((matched(rows, answers, _IMAGE) < 0).sum())


def _digest(*tables: pa.Table) -> str:
    total = hashlib.sha256()
    for rows in tables:
        for name in rows.column_names:
            hash_column(total, name, rows[name].combine_chunks())
    return total.hexdigest()
