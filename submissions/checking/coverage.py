"""Coverage of a submission task by task, and the ranks for which it suffices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.scoring_table import ScoringTable
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.format.schema import Submission

_ANSWER = {"responses": "response", "judgements": "judgement"}


@dataclass(frozen=True)
class TaskCoverage:
    """The samples of one task in a submission.

    Args:
        handed_in: Samples with any answer, or with an annotated image.
        expected: Samples of the benchmark whose stimuli the data have.
        needed: Samples for a rank under the default standard, if gaps spread evenly; 0 for a task without a score.
    """

    task: str
    handed_in: int
    expected: int
    needed: int
    scores: tuple[str, ...]

    @property
    def share(self) -> str:
        """The share of samples as text; 100.0 % only if nothing is missing."""
        percent = 100 * self.handed_in / self.expected if self.expected else 100.0
        return f"{percent if self.handed_in == self.expected else min(percent, 99.9):.1f} %"

    @property
    def enough_for(self) -> str:
        """The use of the samples, in words."""
        if not self.handed_in:
            return "nothing: not run"
        if not self.needed:
            return "its values" if self.handed_in == self.expected else "its values with bounds"
        if self.handed_in == self.expected:
            return "its values, a rank"
        return "its values with bounds, a rank" if self.handed_in >= self.needed else "its values with bounds, no rank"

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON data."""
        return vars(self) | {"scores": list(self.scores), "enough_for": self.enough_for}


def coverage(submission: Submission, bench: Benchmark) -> list[TaskCoverage]:
    """The coverage of every task, in the benchmark's order; optional ones only if run."""
    standard = _default(bench)
    minimum = 0.0 if standard is None else standard.minimum_coverage
    table = ScoringTable({}) if standard is None else bench.scoring.table(standard, AS_RELEASED)
    revision = submission.meta.dataset_revision
    covered = []
    for task in bench.tasks:
        expected = task.samples_asked(revision)
        if not expected:
            continue
        handed_in = min(expected, _handed_in(submission, task))
        if task.optional and not handed_in:
            continue
        needed = 0 if task.optional else min(expected, -int(-minimum * expected // 1))
        covered.append(TaskCoverage(task.name, handed_in, expected, needed, _resting(task, table)))
    return covered


def coverage_notes(tasks: Sequence[TaskCoverage], bench: Benchmark) -> Iterator[str]:
    """The samples still missing for a rank by each score of which a task was run."""
    standard = _default(bench)
    scores = dict.fromkeys(score for covered in tasks for score in covered.scores)
    for score in scores if standard is not None else ():
        parts = [covered for covered in tasks if score in covered.scores]
        lacking = [part for part in parts if part.handed_in < part.needed]
        if lacking and any(part.handed_in for part in parts):
            more = ", ".join(f"{part.needed - part.handed_in:,} more of {part.task}" for part in lacking)
            share = f"{standard.minimum_coverage:.0%} of the samples of every value that counts"
            yield f"too few samples for a rank by {score}: {standard.name} needs {share}, at least {more}"


def _default(bench: Benchmark) -> Any:
    return bench.standards.get(bench.default)


def _handed_in(submission: Submission, task: Task) -> int:
    rows = submission.rows(task.table, task.name)
    if task.table == "judgements":
        rows = submission.judgements(task.name)
    if task.table in _ANSWER:
        return rows.num_rows - rows[_ANSWER[task.table]].null_count
    if submission.images is not None:
        return int(pc.sum(pc.equal(submission.images["task"], task.name)).as_py() or 0)
    return int(rows.group_by(["id", "sample"]).aggregate([]).num_rows) if rows.num_rows else 0


def _resting(task: Task, table: ScoringTable) -> tuple[str, ...]:
    return tuple(score for score in table.ranking if _parts(score, table.rules) & set(task.values))


def _parts(score: str, rules: Mapping[str, Any]) -> set[str]:
    """The name of a score and of all its parts, recursively."""
    parts, further = {score}, [score]
    while further:
        weights = rules[name].weights if (name := further.pop()) in rules else ()
        further += [part for part in weights if part not in parts]
        parts |= set(weights)
    return parts
