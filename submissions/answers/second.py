"""A second reader of raw answers: a model reads what the rules leave unread, and a random part of the rest.

It changes no measured value. The variant `second_reader` has the values with the choices that it found where the rules
found none; its agreement with the rules on the random part, with an interval, says how far to trust it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairspace.submissions.answers.misreading import choice_text, choice_texts
from fairspace.submissions.answers.reading import Misread
from fairspace.submissions.answers.rows import ReadRows
from fairspace.submissions.benchmarks.benchmark import Benchmark, Values
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.reading.canonical import item_index
from fairspace.submissions.uncertainty.bootstrap import clopper_pearson
from fairspace.submissions.uncertainty.uncertainty import LONGEST, Variant

SHARE = 0.02
"""Share of the answers with a choice that is read again; at least `FEWEST` of a task, if it has them."""
FEWEST = 20
MOST_BYTES = 256 << 20
"""Largest file of readings."""
Key = tuple[str, str, int]


@dataclass(frozen=True)
class SecondReadings:
    """The readings of one model.

    Args:
        reader: name of the model, and `revision`.
        submission: digest of the submission.
        read: task, id and sample of an answer -> its choice, or `refused`, `several`, `none`; '' if nothing was said.
    """

    reader: str
    revision: str
    submission: str
    read: Mapping[Key, str]

    def write(self, file: Path) -> None:
        """Write JSON lines: who read what, then a line for each answer."""
        head = {"reader": self.reader, "revision": self.revision, "submission": self.submission}
        rows = [
            {"task": task, "id": item, "sample": sample, "reading": read}
            for (task, item, sample), read in self.read.items()
        ]
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in (head, *rows))
        file.write_text("".join(lines), encoding="utf-8", newline="\n")


def load_second(file: Path, submission: Submission) -> SecondReadings:
    """The readings in a file. UsageError if it is none, or is of other answers."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        head, *rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        read = {(str(row["task"]), str(row["id"]), int(row["sample"])): str(row["reading"]) for row in rows}
        reader, revision, of = (str(head[name])[:200] for name in ("reader", "revision", "submission"))
        second = SecondReadings(reader, revision, of, read)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"{file} has no readings of a second reader: {str(error)[:200]}"
        raise UsageError(f"{what}. `fairspace readings SUBMISSION --second MODEL --out FILE` writes them.") from error
    if second.submission != submission.digest:
        raise UsageError(f"{file} has readings of other answers; read these again with `fairspace readings --second`.")
    return second


@dataclass(frozen=True)
class Task:
    """Answers of a task that a second reader has read, or is to read.

    Args:
        rows: the task's rows with the readings of the rules.
        places: (n,) positions of these answers among the rows, and `items` of their items among the task's.
        questions: (n) prompts of the items.
        choices: (n) possible choices of each.
        rules: (n) choices of the rules; '' for none.
    """

    rows: ReadRows
    places: NDArray[np.int64]
    items: NDArray[np.int64]
    questions: Sequence[str]
    choices: Sequence[Sequence[str]]
    rules: Sequence[str]

    @property
    def keys(self) -> list[Key]:
        """(n) task, id and sample."""
        taken = self.rows.rows.take(pa.array(self.places))
        pairs = zip(taken["id"].to_pylist(), taken["sample"].to_pylist(), strict=True)
        return [(self.rows.task, item, sample) for item, sample in pairs]


def tasks_to_read(
    submission: Submission, bench: Benchmark, rows: Sequence[ReadRows], known: Mapping[Key, str] | None = None
) -> Iterator[Task]:
    """The answers for a second reader, or those that it has read (`known`), of the tasks whose answers are choices."""
    revision = submission.meta.dataset_revision
    answered = [read.task for read in rows if read.rows.num_rows and "/" not in read.task]
    items = bench.items(revision, answered) if answered else {}
    for read in rows:
        if read.task not in items or bench.answers.label_lines(read.task, []) is None:
            continue
        names = zip(read.rows["id"].to_pylist(), read.rows["sample"].to_pylist(), strict=True)
        keys = [(read.task, item, sample) for item, sample in names]
        if known is None:
            places = _drawn(read, keys, submission.digest)
        else:
            places = np.array([place for place, key in enumerate(keys) if key in known], np.int64)
        at = item_index(items[read.task]["id"].combine_chunks(), read.rows.take(pa.array(places)))
        asked = items[read.task].take(pa.array(at)).to_pylist()
        lines = bench.answers.label_lines(read.task, asked) or ()
        choices = [choice_texts(line["choices"]) for line in lines]
        readings = [read.readings.distinct[place] for place in read.readings.place[places].tolist()]
        rules = [
            choice_text(reading.value, of) if reading.outcome == "choice" else ""
            for reading, of in zip(readings, choices, strict=True)
        ]
        yield Task(read, places, at, [item["prompt"] for item in asked], choices, rules)


def _drawn(read: ReadRows, keys: Sequence[Key], digest: str) -> NDArray[np.int64]:
    """Positions of the answers without a choice that say anything, and of a random part of the others."""
    outcomes = read.readings.outcomes()
    said = np.array([bool((answer or "").strip()) for answer in read.rows["answer"].to_pylist()], bool)
    chosen = np.flatnonzero(outcomes == 0).tolist()
    ranks = {place: hashlib.sha256("\0".join((digest, *map(str, keys[place]))).encode()).digest() for place in chosen}
    part = sorted(chosen, key=lambda place: ranks[place])[: max(FEWEST, round(SHARE * len(chosen)))]
    return np.array(sorted([*np.flatnonzero((outcomes > 0) & said).tolist(), *part]), np.int64)


def agreement(second: SecondReadings, tasks: Sequence[Task]) -> str:
    """A sentence for each task: agreement with the rules where these read a choice, and choices found elsewhere."""
    sentences = []
    for task in tasks:
        pairs = list(zip((second.read[key] for key in task.keys), task.rules, task.choices, strict=True))
        same, both = sum(read == rule for read, rule, _ in pairs if rule), sum(bool(rule) for _, rule, _ in pairs)
        found = sum(read in choices for read, rule, choices in pairs if not rule)
        low, high = clopper_pearson(same, both)
        share = f"{same / both:.1%} ({low:.1%} to {high:.1%})" if both else "undefined"
        sentences.append(
            f"{task.rows.task}: agrees with the rules on {share} of {both:,} choices, and finds one in {found:,} of "
            f"{len(pairs) - both:,} answers that they leave unread."
        )
    return " ".join(sentences)


def second_variant(
    second: SecondReadings,
    submission: Submission,
    bench: Benchmark,
    records: Any,
    rows: Sequence[ReadRows],
    values: Values,
) -> Variant:
    """The values with the second reader's choices where the rules read none."""
    tasks = list(tasks_to_read(submission, bench, rows, second.read))
    changed = {}
    for task in tasks:
        read = [second.read[key] for key in task.keys]
        at = [n for n, choices in enumerate(task.choices) if not task.rules[n] and read[n] in choices]
        if at:
            changed[task.rows.task] = Misread(task.places[at], task.items[at], [read[n] for n in at])
    revision = submission.meta.dataset_revision
    after = bench.measure(bench.answers.misread(records, revision, changed)) if changed else {}
    numbers = {name: value.value for name, value in after.items() if name in values}
    moved = {name: number for name, number in numbers.items() if number is not None and number != values[name].value}
    note = f"Revision {second.revision}. {agreement(second, tasks)}"[:LONGEST]
    return Variant("second_reader", second.reader, moved, note=note)
