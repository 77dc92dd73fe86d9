"""The consistency proof: items, answers and readings of a scored submission held against each other, one to one.

The scorer counts again, from the very tables that it measured and apart from the checks that let them in: no key
stands twice, none is of an unknown item, every answer has exactly one reading, and every judgement is of an answer
that was handed in. The proof stays with the result; a row can be verified only while it holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import hash_column
from fairspace.submissions.reading.matching import matched

if TYPE_CHECKING:
    from fairspace.submissions.answers.rows import ReadRows

_ANSWER = {"responses": "response", "judgements": "judgement", "annotations": "status"}
"""The column that holds what was handed in for a sample."""
_IMAGE = ("id", "sample")


@dataclass(frozen=True)
class TaskConsistency:
    """One task: what was asked, handed in and read.

    Args:
        expected: samples that the benchmark asks for, as far as the data have their stimuli.
        answers: samples with an answer, or with an annotated image.
        readings: answers that were read; of images, those with a status.
        duplicates: rows whose key another row has.
        missing: expected samples without an answer.
        unknown: rows of items or samples that the task does not have.
        unread: answers without a reading, and readings without an answer.
        orphans: judgements of narratives that were not handed in.
        keys: sha256 of the keys of the answers that were handed in.
        content: sha256 of the answers or labels, in the order of the keys.
        read: sha256 of the readings in that order; of images, of their labels.
    """

    expected: int
    answers: int
    readings: int
    duplicates: int
    missing: int
    unknown: int
    unread: int
    orphans: int
    keys: str
    content: str
    read: str

    @property
    def holds(self) -> bool:
        """Whether items, answers and readings belong together one to one; missing answers are no contradiction."""
        faults = (self.duplicates, self.unknown, self.unread, self.orphans)
        return not any(faults) and self.readings == self.answers and self.answers + self.missing == self.expected

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {**vars(self), "holds": self.holds}

    @classmethod
    def from_json(cls, data: Any) -> TaskConsistency:
        """What `to_json` wrote. ValueError if it is none; whether it holds is derived, never believed."""
        kinds = {field.name: {"int": int, "str": str}[str(field.type)] for field in fields(cls)}
        given = {name: part for name, part in data.items() if name != "holds"} if type(data) is dict else {}
        if {name: type(part) for name, part in given.items()} != kinds:
            raise ValueError("consistency of a task: expected its counts and digests")
        if not all(0 <= part < 2**31 if type(part) is int else len(part) == 64 for part in given.values()):
            raise ValueError("consistency of a task: counts that are no counts, or digests that are none")
        return cls(**given)


Proof = Mapping[str, TaskConsistency]
"""Task -> its consistency; of tasks with rows alone."""


def prove(submission: Submission, bench: Benchmark, readings: Iterable[ReadRows]) -> dict[str, TaskConsistency]:
    """The proof of a submission whose images, if any, are labelled.

    Args:
        submission: as it is scored.
        bench: its benchmark.
        readings: of its rows, as `answers.rows.read_rows` gives them.
    """
    read: dict[str, list[ReadRows]] = {}
    for task_rows in readings:
        read.setdefault(task_rows.task.partition("/")[0], []).append(task_rows)
    proof = {}
    for task in bench.tasks:
        rows = (
            submission.judgements(task.name) if task.table == "judgements" else submission.rows(task.table, task.name)
        )
        if rows.num_rows:
            asked = task.samples_asked(submission.meta.dataset_revision)
            proof[task.name] = _prove(submission, task, rows, asked, read.get(task.name, []))
    return proof


def broken(proof: Proof) -> list[str]:
    """The tasks whose proof does not hold."""
    return [task for task, consistency in proof.items() if not consistency.holds]


def rests_on_judge(proof: Proof, bench: Benchmark) -> list[str]:
    """The tasks with rows that a judge decided and that scores rest on: all of a judge that are not optional."""
    return [task.name for task in bench.tasks if task.judges and not task.optional and task.name in proof]


def _prove(
    submission: Submission, task: Task, rows: pa.Table, expected: int, readings: list[ReadRows]
) -> TaskConsistency:
    images = task.table == "annotations"
    revision = submission.meta.dataset_revision
    ids = task.ids(revision)
    samples = task.samples_of(revision)
    item = np.asarray(pc.fill_null(pc.index_in(rows["id"], pa.array(ids)), -1), np.int64)
    sample = np.asarray(rows["sample"], np.int64)
    known = (item >= 0) & (sample >= 0) & (sample < samples)
    key = item * samples + sample
    face = np.asarray(rows["face"], np.int64) if images else np.zeros(1, np.int64)
    row_key = key * (1 + face.max(initial=0)) + face
    answered = known & np.asarray(pc.is_valid(rows[_ANSWER[task.table]]))
    answers = len(np.unique(key[answered]))
    labels = [name for name in rows.column_names if name not in ("task", *_IMAGE)]
    content = _digest(rows.select(labels if images else [_ANSWER[task.table]]))
    unread = sum(_unread(rows, part) for part in readings)
    return TaskConsistency(
        expected=expected,
        answers=answers,
        readings=answers if images else min((_read(part) for part in readings), default=0),
        duplicates=int(known.sum()) - len(np.unique(row_key[known])),
        missing=max(0, expected - answers),
        unknown=int((~known).sum()),
        unread=unread,
        orphans=_orphans(submission, task, rows),
        keys=_digest(rows.filter(pa.array(answered)).select(_IMAGE)),
        content=content,
        read=content if images else _digest(*map(_outcomes, readings)),
    )


def _read(part: ReadRows) -> int:
    """How many answers have a reading."""
    return int((part.readings.place >= 0).sum())


def _unread(rows: pa.Table, part: ReadRows) -> int:
    """Rows of which only one of both is there, answer or reading; all, if the readings are of other rows."""
    if not all(part.rows[name].equals(rows[name]) for name in _IMAGE):
        return max(rows.num_rows, part.rows.num_rows)
    handed_in = np.asarray(pc.is_valid(part.rows["answer"]))
    return int((handed_in != (part.readings.place >= 0)).sum())


def _outcomes(part: ReadRows) -> pa.Table:
    return part.table().select(["task", "id", "sample", "outcome", "value"])


def _orphans(submission: Submission, task: Task, rows: pa.Table) -> int:
    """Judgements of answers that were not handed in; 0 for a task that judges none."""
    if not task.judges:
        return 0
    judged = submission.rows("responses", task.judges)
    answers = judged.filter(pc.is_valid(judged["response"]))
    return int((matched(rows, answers, _IMAGE) < 0).sum())


def _digest(*tables: pa.Table) -> str:
    """The sha256 of tables' columns, in the order of their rows."""
    total = hashlib.sha256()
    for rows in tables:
        for name in rows.column_names:
            hash_column(total, name, rows[name].combine_chunks())
    return total.hexdigest()
