"""A second reader of raw answers: a model reads what the rules leave unread, and a random part of the rest.

It changes no measured value. The variant `second_reader` has the values with the choices that it found where the rules
found none; its agreement with the rules on the random part, with an interval, says how far to trust it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fairspace.builders.writing import write_text
from fairspace.metrics.intervals import clopper_pearson
from fairspace.submissions.answers.misreading import choice_text, choice_texts
from fairspace.submissions.answers.reading import Misread
from fairspace.submissions.answers.rows import ReadRows
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.plotting import share_text
from fairspace.submissions.reading.canonical import item_index
from fairspace.submissions.uncertainty.uncertainty import LONGEST, Variant
from fairspace.submissions.values import Values

SHARE, FEWEST = 0.02, 20
"""Share of the answers with a choice that is read again, and the fewest of a task, if it has them."""
Key = tuple[str, str, int]


@dataclass(frozen=True)
class SecondReadings:
    """The readings of one model.

    Args:
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
        rows = ([*key, read] for key, read in self.read.items())
        lines = (json.dumps(line, ensure_ascii=False) for line in (head, *rows))
        write_text(file, "".join(f"{line}\n" for line in lines))


def load_second(file: Path, submission: Submission) -> SecondReadings:
    """The readings in a file. UsageError if it is none, or is of other answers."""
    try:
        head, *rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        read = {(str(task), str(item), int(sample)): str(choice) for task, item, sample, choice in rows}
        reader, revision, of = (str(head[name])[:200] for name in ("reader", "revision", "submission"))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"{file} has no readings of a second reader: {str(error)[:200]}"
        raise UsageError(f"{what}. `fairspace judge SUBMISSION --model MODEL` writes them.") from error
    if of != submission.digest:
        raise UsageError(f"{file} has readings of other answers; read these with `fairspace judge`.")
    return SecondReadings(reader, revision, of, read)


@dataclass(frozen=True)
class AskedAnswer:
    """An answer for a second reader.

    Args:
        row: position among the task's rows, and `item` of its item among the task's.
        rules: the choice of the rules, one of `choices`; '' for none.
    """

    key: Key
    row: int
    item: int
    question: str
    answer: str
    choices: Sequence[str]
    rules: str


def answers_to_read(
    submission: Submission, bench: Benchmark, rows: Sequence[ReadRows], texts: Mapping[Key, str] | None = None
) -> dict[str, list[AskedAnswer]]:
    """Task -> the answers for a second reader, or those that it has read (`texts`), where answers are choices."""
    answered = [read.task for read in rows if read.rows.num_rows and "/" not in read.task]
    items = bench.items(submission.meta.dataset_revision, answered) if answered else {}
    tasks: dict[str, list[AskedAnswer]] = {}
    for read in rows:
        if read.task not in items or bench.answers.label_lines(read.task, []) is None:
            continue
        columns = [read.rows[name].to_pylist() for name in ("id", "sample", "answer")]
        keys = [(read.task, item, sample) for item, sample in zip(*columns[:2], strict=True)]
        places = [place for place, key in enumerate(keys) if key in texts] if texts is not None else None
        places = _drawn(read, keys, columns[2], submission.digest) if places is None else places
        at = item_index(items[read.task]["id"].combine_chunks(), read.rows.take(pa.array(places, pa.int64())))
        asked = items[read.task].take(pa.array(at)).to_pylist()
        tasks[read.task] = []
        for row, item, line in zip(places, at.tolist(), bench.answers.label_lines(read.task, asked) or (), strict=True):
            reading, choices = read.readings.distinct[read.readings.place[row]], choice_texts(line["choices"])
            rules = choice_text(reading.value, choices) if reading.outcome == "choice" else ""
            question = asked[len(tasks[read.task])]["prompt"]
            tasks[read.task].append(AskedAnswer(keys[row], row, item, question, columns[2][row], choices, rules))
    return tasks


def _drawn(read: ReadRows, keys: Sequence[Key], answers: Sequence[str | None], digest: str) -> list[int]:
    """Positions of the answers without a choice that say anything, and of a random part of the others."""
    outcomes = read.readings.outcomes()
    unread = [place for place in np.flatnonzero(outcomes > 0).tolist() if (answers[place] or "").strip()]
    choices = np.flatnonzero(outcomes == 0).tolist()
    choices.sort(key=lambda place: hashlib.sha256("\0".join((digest, *map(str, keys[place]))).encode()).digest())
    return sorted([*unread, *choices[: max(FEWEST, round(SHARE * len(choices)))]])


def agreement(second: SecondReadings, tasks: Mapping[str, Sequence[AskedAnswer]]) -> str:
    """A sentence for each task: agreement with the rules where these read a choice, and choices found elsewhere."""
    sentences = []
    for task, answers in tasks.items():
        same = [second.read[asked.key] == asked.rules for asked in answers if asked.rules]
        hits = [second.read[asked.key] in asked.choices for asked in answers if not asked.rules]
        low, high = clopper_pearson(sum(same), len(same))
        share = share_text(sum(same) / len(same), low, high) if same else "undefined"
        sentences.append(
            f"{task}: agrees with the rules on {share} of {len(same):,} choices, and finds one in {sum(hits):,} of "
            f"{len(hits):,} answers that they leave unread."
        )
    return " ".join(sentences)


def second_variant(
    second: SecondReadings, submission: Submission, records: Any, rows: Sequence[ReadRows], values: Values
) -> Variant:
    """The values with the second reader's choices where the rules read none."""
    bench = benchmark(submission.meta.benchmark)
    tasks, changed = answers_to_read(submission, bench, rows, second.read), {}
    for task, answers in tasks.items():
        choices = [asked for asked in answers if not asked.rules and second.read[asked.key] in asked.choices]
        if choices:
            places, items = (np.array([getattr(asked, name) for asked in choices]) for name in ("row", "item"))
            changed[task] = Misread(places, items, [second.read[asked.key] for asked in choices])
    after = bench.measure(bench.answers.misread(records, submission.meta.dataset_revision, changed))
    numbers = {name: value.value for name, value in after.items() if name in values}
    moved = {name: number for name, number in numbers.items() if number is not None and number != values[name].value}
    note = f"Revision {second.revision}. {agreement(second, tasks)}"[:LONGEST]
    return Variant("second_reader", second.reader, moved, note=note)
