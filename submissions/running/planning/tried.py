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
    from fairspace.submissions.running.asking.journal import Answer

LEAST = 2
"""Answers without which a mean has no interval."""
_LEVEL = 0.975


@dataclass(frozen=True)
class Readable:
    """In how many of the answers a choice is read, and the 95 % interval of their share (Clopper and Pearson)."""

    count: int
    of: int
    low: float
    high: float


@dataclass(frozen=True)
class Tried:
    """What requests of one task took; each span is the mean of one request and its 95 % interval.

    Args:
        answers: how many.
        input: tokens of the prompt.
        output: tokens of the answer.
        seconds: by the clock, where as many requests as the model takes at a time go side by side.
        readable: None where no reader can be asked.
    """

    answers: int
    input: Span
    output: Span
    seconds: Span
    readable: Readable | None


def tried(answers: Sequence[Answer], of: int, at_once: int, readable: Readable | None = None) -> Tried:
    """What these answers, a random sample of `of` requests, show of all of them. RunError MODEL_SILENT.

    Args:
        answers: with any fate; the failed ones are left out.
        of: requests that are computed in the run.
        at_once: requests side by side.
        readable: of these answers.
    """
    heard = [answer for answer in answers if answer.fate != "failed"]
    if len(heard) < min(LEAST, of):
        last = next((answer.reason for answer in reversed(answers) if answer.reason), "no request was answered")
        mend = "see that the model can be reached, or plan without --probe"
        raise RunError("MODEL_SILENT", answers[0].task if answers else "the probe", last, "two answers", mend)
    return Tried(
        len(heard),
        mean_span([answer.input_tokens for answer in heard], of),
        mean_span([answer.output_tokens for answer in heard], of),
        mean_span([answer.seconds / at_once for answer in heard], of),
        readable,
    )


def mean_span(sample: Sequence[float], of: int) -> Span:
    """The mean of `of` numbers by a simple random sample of them, and its 95 % interval; none is below the least seen.

    Args:
        sample: two numbers at least, or all.
        of: how many numbers there are.
    """
    from scipy.special import stdtrit

    n, mean = len(sample), sum(sample) / len(sample)
    if n >= of:
        return Span(mean, mean, mean)
    variance = sum((x - mean) ** 2 for x in sample) / (n - 1)
    error = float(stdtrit(n - 1, _LEVEL)) * math.sqrt(variance / n * (1 - n / of))
    return Span(mean, mean + error, max(mean - error, min(sample)))
