"""What is compared of an answer: its reading where the answers are a closed choice, else its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fairspace.submissions.answers.rows import read_rows
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import LABELS, Submission
from fairspace.submissions.running.rerunning.draw import Key

Likeness = Callable[[str, str], float]


@dataclass(frozen=True)
class Answers:
    """The answers to one task.

    Args:
        text: id and sample -> what is compared.
        words: whether by the words that two answers share, as answers are stories or labels; else by equality.
    """

    text: Mapping[Key, str]
    words: bool

    def likeness(self) -> Likeness:
        """How alike two answers are, from 0 to 1."""
        return shared_words if self.words else (lambda first, second: float(first == second))


def shared_words(first: str, second: str) -> float:
    """The share of the different words of two texts that both have; 1 for two empty texts."""
    these, those = set(first.casefold().split()), set(second.casefold().split())
    return len(these & those) / len(these | those) if these | those else 1.0


def answers_of(submission: Submission) -> dict[str, Answers]:
    """The answers and annotated images of a submission, task by task."""
    bench = benchmark(submission.meta.benchmark)
    answers: dict[str, Answers] = {}
    for rows in read_rows(submission, bench):
        if "/" in rows.task or bench.task(rows.task).table != "responses":
            continue
        words = any(isinstance(reading.value, Mapping) for reading in rows.readings.distinct)
        table = rows.table()
        names = ("id", "sample", "answer", "outcome", "value")
        answers[rows.task] = Answers(
            {
                (item, sample): (answer or "") if words else f"{outcome}: {value}"
                for item, sample, answer, outcome, value in zip(*(table[n].to_pylist() for n in names), strict=True)
            },
            words,
        )
    for task in bench.tasks:
        if task.table == "annotations" and (found := submission.rows("annotations", task.name)).num_rows:
            answers[task.name] = Answers(_labels(found.to_pylist()), words=True)
    return answers


def _labels(rows: list[dict[str, object]]) -> dict[Key, str]:
    """Image -> status and labels of its faces, as words."""
    labels: dict[Key, str] = {}
    for row in rows:
        key = str(row["id"]), int(str(row["sample"]))
        face = [f"{row['face']}:{name}:{row[name]}" for name in ("status", *LABELS)]
        labels[key] = " ".join([labels.get(key, ""), *face]).strip()
    return labels
