"""Likeness of answers to the same questions: by their readings if they are a closed choice, else by their words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from fairspace.metrics.columns import Floats, Integers
from fairspace.metrics.intervals import Z
from fairspace.submissions.answers.rows import read_rows
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.schema import LABELS, Submission

_SHIFTS = 20
Key = tuple[str, int]
"""Id and sample of a question."""


@dataclass(frozen=True)
class TaskAnswers:
    """The answers to one task by id and sample; likeness: share of common `words` (stories, labels), or equality."""

    text: Mapping[Key, str]
    words: bool

    def likeness(self, first: str, second: str) -> float:
        """The likeness of two answers, in [0, 1]."""
        return shared_words(first, second) if self.words else float(first == second)


def shared_words(first: str, second: str) -> float:
    """Jaccard index of the words of two texts; 1 for two empty texts."""
    these, those = set(first.casefold().split()), set(second.casefold().split())
    return len(these & those) / len(these | those) if these | those else 1.0


def answers_of(submission: Submission) -> dict[str, TaskAnswers]:
    """The answers and annotated images of a submission, task by task."""
    bench = benchmark(submission.meta.benchmark)
    answers: dict[str, TaskAnswers] = {}
    for rows in read_rows(submission, bench):
        if "/" in rows.task or bench.task(rows.task).table != "responses":
            continue
        words = any(isinstance(reading.value, Mapping) for reading in rows.readings.distinct)
        table = rows.table()
        names = ("id", "sample", "answer", "outcome", "value")
        answers[rows.task] = TaskAnswers(
            {
                (item, sample): (answer or "") if words else f"{outcome}: {value}"
                for item, sample, answer, outcome, value in zip(*(table[n].to_pylist() for n in names), strict=True)
            },
            words,
        )
    for task in bench.tasks:
        if task.table == "annotations" and (annotations := submission.rows("annotations", task.name)).num_rows:
            answers[task.name] = TaskAnswers(_labels(annotations.to_pylist()), words=True)
    return answers


def _labels(rows: list[dict[str, object]]) -> dict[Key, str]:
    """Image -> status and labels of its faces, as words."""
    labels: dict[Key, str] = {}
    for row in rows:
        key = str(row["id"]), int(str(row["sample"]))
        face = [f"{row['face']}:{name}:{row[name]}" for name in ("status", *LABELS)]
        labels[key] = " ".join([labels.get(key, ""), *face]).strip()
    return labels


def by_chance(like: Callable[[str, str], float], first: Sequence[str], second: Sequence[str]) -> float:
    """Mean likeness of answers to different questions, at distances of 1 to 20; 1 for a single question."""
    shifts = range(1, min(_SHIFTS, len(second) - 1) + 1)
    alike = [like(text, second[(place + shift) % len(second)]) for shift in shifts for place, text in enumerate(first)]
    return float(np.mean(alike)) if alike else 1.0


def share(values: Floats, stimulus: Integers, z: float = Z) -> tuple[float, float, float]:
    """Mean of (n,) values in [0, 1], and its Wilson interval of the effective sample size; (n,) codes of stimuli."""
    mean, n = float(values.mean()), _effective(values, stimulus)
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return mean, max(0.0, middle - half), min(1.0, middle + half)


def error_of(values: Floats, stimulus: Integers) -> float:
    """Standard error of a mean, clustered by stimulus."""
    sums = np.bincount(stimulus, weights=values - values.mean())
    count = len(sums)
    return float(sqrt((sums**2).sum() * count / max(1, count - 1)) / len(values))


def _effective(values: Floats, stimulus: Integers) -> float:
    """Effective sample size: number of independent values with the same error; of stimuli if nothing varies."""
    variance = float(values.var())
    error = error_of(values, stimulus)
    if variance == 0 or error == 0:
        return float(stimulus.max() + 1)
    return min(float(len(values)), variance / error**2)
