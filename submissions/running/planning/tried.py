"""What a few answers, drawn at random before a run, show of all: their means, each with its 95 % interval.

Student's t with a finite population (Cochran 1977, chapter 2). An answer of a kind that comes once in a hundred may not
be among so few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.planning.tokens import Span

if TYPE_CHECKING:
    from fairspace.submissions.benchmarks.asks import Ask
    from fairspace.submissions.running.asking.journal import Answer

LEAST = 2
"""Answers without which a mean has no interval."""
_LEVEL = 0.975


@dataclass(frozen=True)
class Readable:
    """The share of answers in which a choice is read, and its 95 % interval (Clopper and Pearson).

    Args:
        share: of the requests whose texts were asked.
        of: different texts that were asked.
        low: end of the interval; the share itself where all texts were asked.
        high: likewise.
    """

    share: float
    of: int
    low: float
    high: float


@dataclass(frozen=True)
class Reply:
    """An answer to a text, and the requests of the run that it answers: several where they share the text."""

    answer: Answer
    asks: Sequence[Ask]


@dataclass(frozen=True)
class Tried:
    """What requests of one task took; each span is the mean of one request and its 95 % interval.

    Args:
        answers: how many.
        input: tokens of the prompt.
        output: tokens of the answer.
        seconds: by the clock, where requests go side by side as in a run: those of all, shared evenly by their number;
            how they vary is told by what each one took.
        readable: None where no reader can be asked.
    """

    answers: int
    input: Span
    output: Span
    seconds: Span
    readable: Readable | None


def tried(replies: Sequence[Reply], of: int, seconds: float, readable: Readable | None = None) -> Tried:
    """What replies to a random sample of `of` texts show of all of them. RunError MODEL_SILENT.

    Args:
        replies: with any fate; the failed ones are left out.
        of: texts that are computed in the run.
        seconds: by the clock, from the first question to the last answer.
        readable: of these answers.
    """
    answers = [reply.answer for reply in replies if reply.answer.fate != "failed"]
    requests = [len(reply.asks) for reply in replies if reply.answer.fate != "failed"]
    if len(answers) < min(LEAST, of):
        last = next((reply.answer.reason for reply in reversed(replies) if reply.answer.reason), "no answer")
        where = replies[0].answer.task if replies else "the probe"
        mend = "see that the model can be reached, or plan without --probe"
        raise RunError("MODEL_SILENT", where, last, "two answers", mend)
    latency = sum(answer.seconds for answer in answers)
    share = seconds / latency if latency else 0.0
    return Tried(
        len(answers),
        mean_span([answer.input_tokens for answer in answers], of, requests),
        mean_span([answer.output_tokens for answer in answers], of, requests),
        mean_span([answer.seconds * share for answer in answers], of),
        readable,
    )


def mean_span(sample: Sequence[float], of: int, weights: Sequence[int] | None = None) -> Span:
    """The mean of `of` numbers by a simple random sample of them, and its 95 % interval; none is below the least seen.

    Args:
        sample: two numbers at least, or all.
        of: how many numbers there are.
        weights: how often each number counts; once if left out. The mean is a ratio then, and its error linearised.
    """
    from scipy.special import stdtrit

    n, times = len(sample), weights or [1] * len(sample)
    mean = sum(x * w for x, w in zip(sample, times, strict=True)) / sum(times)
    if n >= of:
        return Span(mean, mean, mean)
    residuals = [(x - mean) * w * n / sum(times) for x, w in zip(sample, times, strict=True)]
    variance = sum(residual**2 for residual in residuals) / (n - 1)
    error = float(stdtrit(n - 1, _LEVEL)) * math.sqrt(variance / n * (1 - n / of))
    return Span(mean, mean + error, max(mean - error, min(sample)))
