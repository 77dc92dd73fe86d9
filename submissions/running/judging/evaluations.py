"""Which logs of a judge are one evaluation, where it evaluated several times.

Logs of `fairspace judge` and of the task `genres_judge` say the number of their evaluation, and each of Inspect's
epochs is an evaluation. Where that leaves it open, a log with another seed or another answer to the same request is
another evaluation; one that repeats what was answered, or answers what was left, is the same one gone on with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fairspace.submissions.format.collector import show
from fairspace.submissions.running.asking.journal import Answer, Key
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.logs.answers import LogAnswers, other_answer


@dataclass
class _Evaluation:
    """Logs that are read as one evaluation, and what they answer together."""

    number: tuple[int, int]
    seed: int | None
    logs: list[LogAnswers] = field(default_factory=list)
    answers: dict[Key, Answer] = field(default_factory=dict)

    def goes_on_in(self, log: LogAnswers) -> bool:
        """Whether the log is of the same evaluation."""
        if (self.number, self.seed) != (_number(log), log.described.seed):
            return False
        return not any(
            other_answer(self.answers[key], answer) for key, answer in log.answers.items() if key in self.answers
        )

    def add(self, log: LogAnswers) -> None:
        """Take in a log that is of the same evaluation."""
        self.logs.append(log)
        failed = {key for key, answer in self.answers.items() if answer.fate == "failed"}
        self.answers |= {key: answer for key, answer in log.answers.items() if key in failed or key not in self.answers}


def evaluations(logs: Sequence[LogAnswers]) -> list[list[LogAnswers]]:
    """The logs of one judge, those of each evaluation together; the first evaluation first.

    RunError LOG_CONFLICT if two evaluations differ in more than their seeds.
    """
    by_evaluation: list[_Evaluation] = []
    for log in [epoch for whole in logs for epoch in _epochs(whole)]:
        same = next((evaluation for evaluation in by_evaluation if evaluation.goes_on_in(log)), None)
        if same is None:
            same = _Evaluation(_number(log), log.described.seed)
            by_evaluation.append(same)
        same.add(log)
        if _settings(log) != _settings(logs[0]):
            what = f"settings {show(_settings(log), 200)}, and {show(_settings(logs[0]), 200)} in {logs[0].file.name}"
            mend = "name logs of one way to judge; another way is a judge of another name"
            raise RunError("LOG_CONFLICT", log.file.name, what, "the settings of the judge's other evaluations", mend)
    return [evaluation.logs for evaluation in sorted(by_evaluation, key=lambda evaluation: evaluation.number)]


def _epochs(log: LogAnswers) -> list[LogAnswers]:
    """A log as one of each of its epochs."""
    later = [replace(log, answers=answers, epoch=epoch, later={}) for epoch, answers in sorted(log.later.items())]
    return [log, *later]


def _number(log: LogAnswers) -> tuple[int, int]:
    return log.described.evaluation, log.epoch


def _settings(log: LogAnswers) -> list[tuple[str, object]]:
    """What all evaluations by a judge have in common."""
    left_out = ("seed", "limit", "stratified", "arguments")
    return sorted((name, value) for name, value in log.stage.settings.items() if name not in left_out)
