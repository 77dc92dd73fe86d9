"""What came of a verification: what an event of a verified row holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fairspace.submissions.answers.rows import read_rows
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.consistency import TaskConsistency, prove, rests_on_judge
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.running.rerunning.agreement import Comparison, Verdict

_WORST_FIRST: tuple[Verdict, ...] = ("differs", "undecided", "agrees")


@dataclass(frozen=True)
class JudgeOutcome:
    """What came of asking a judge a random part of its judgements again.

    Args:
        declared: the judge that the submission names.
        asked: the model that was asked.
        seed: that drew the part.
        comparison: of the judgements that were handed in with those of the model, as of answers.
        answers: digest of the model's judgements.
    """

    declared: str
    asked: str
    seed: str
    comparison: Comparison
    answers: str

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the judgements do not agree; empty if they do."""
        of = f"the judge {self.declared}, asked as {self.asked}"
        return {
            "agrees": (),
            "differs": (f"more of the judgements than drift explains are not those of {of}",),
            "undecided": (f"the part is too small, or {of}, repeats itself too little, to tell: draw more items",),
        }[self.comparison.verdict]

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        named = {name: text for name, text in vars(self).items() if name != "comparison"}
        return {**named, **self.comparison.to_json()}


@dataclass(frozen=True)
class Outcome:
    """What came of a verification.

    Args:
        verdict: `agrees` alone lets a row be called verified.
        reasons: why it is none, in sentences.
        submission: digest of the submission.
        comparison: agreement, task by task and over all.
        seed: that drew the part, revealed now that it is used.
        model: that was asked.
        settings: of the run, those of the submission.
        answers: digest of the rerun's answers.
        uncovered: tasks that were handed in and not compared.
        consistency: the consistency proof of the submission.
        judgements: those of the declared judge, asked again; None where it was not asked.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    submission: str
    comparison: Comparison
    seed: str
    model: str
    settings: Mapping[str, Any]
    answers: str
    uncovered: tuple[str, ...] = ()
    consistency: Mapping[str, TaskConsistency] = field(default_factory=dict)
    judgements: JudgeOutcome | None = None

    @property
    def part(self) -> dict[str, int]:
        """Task -> requests that were compared."""
        return {task: agreement.requests for task, agreement in self.comparison.tasks.items()}

    def with_judgements(self, submission: Submission, judgements: JudgeOutcome | None) -> Outcome:
        """The outcome beside the judgements: where a score rests on them, it is verified with them or not at all.

        Args:
            submission: that was verified.
            judgements: what came of asking its judge again; None where the judge was not asked.
        """
        if judgements is not None:
            return replace(self._lowered(judgements.comparison.verdict, *judgements.reasons), judgements=judgements)
        bench, judge = benchmark(submission.meta.benchmark), submission.meta.judge
        judged = [task.name for task in bench.tasks if task.judges and task.name in self.consistency]
        if judge is None or not judged:
            return self
        outcome = replace(self, uncovered=tuple(dict.fromkeys((*self.uncovered, *judged))))
        if not rests_on_judge(self.consistency, bench):
            return outcome
        reason = f"its score rests on judgements of {judge.name}, which was not asked again: name it with --judge"
        return outcome._lowered("undecided", reason)

    def _lowered(self, verdict: Verdict, *reasons: str) -> Outcome:
        """The outcome with a further verdict, of which the worse one stands."""
        worse = min(self.verdict, verdict, key=_WORST_FIRST.index)
        return replace(self, verdict=worse, reasons=(*self.reasons, *reasons))

    def to_json(self) -> dict[str, Any]:
        """As JSON data: what the event of a verified row holds, and the verdict."""
        named = ("submission", "part", "seed", "model", "answers")
        outcome = {
            "how": "rerun",
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            **self.comparison.to_json(),
            **{name: getattr(self, name) for name in named},
            "settings": dict(self.settings),
            "uncovered": list(self.uncovered),
            "consistency": {task: held.to_json() for task, held in self.consistency.items()},
        }
        return outcome | ({} if self.judgements is None else {"judgements": self.judgements.to_json()})


def proof_of(submission: Submission) -> dict[str, TaskConsistency]:
    """The consistency proof of a submission."""
    bench = benchmark(submission.meta.benchmark)
    return prove(submission, bench, read_rows(submission, bench))
