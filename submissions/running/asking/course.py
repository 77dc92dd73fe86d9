"""How asking goes: shown while it goes, tokens too, and kept beside what a dry run foretold."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairspace.submissions.running.asking.journal import Answer, Journal

if TYPE_CHECKING:
    from fairspace.submissions.format.manifest import Scalar
    from fairspace.submissions.running.asking.inspect_task import Opened
    from fairspace.submissions.running.asking.models import ModelSettings

_SECONDS = "seconds"
"""Note of a journal: how long all starts asked."""
_EVERY = 1.0
"""Seconds between two reports of tokens."""


@dataclass
class Course:
    """Progress of one start.

    Args:
        journal: of the run; it sums the seconds of all starts.
        tell: called with what is being done, requests that have a fate, and of how many.
        done: requests that have a fate already.
        total: requests in all.
    """

    journal: Journal
    tell: Callable[[str, int, int], None]
    done: int
    total: int
    _tokens: int = field(default=0, init=False)
    _began: float = field(default_factory=time.monotonic, init=False)
    _told: float = field(default=0.0, init=False)

    def begin(self) -> None:
        """Show where the run stands."""
        self._show()

    def step(self) -> None:
        """One more request has its fate."""
        self.done += 1
        self._show()

    def said(self, tokens: int) -> None:
        """So many tokens came out of a model on this machine; called in its thread."""
        self._tokens += tokens
        if time.monotonic() >= self._told + _EVERY:
            self._show()

    def end(self) -> None:
        """Add the seconds of this start to those of the earlier ones."""
        self.journal.renote(_SECONDS, repr(self._before() + time.monotonic() - self._began))

    def seconds(self) -> float:
        """How long all starts asked that ended by themselves; one that was killed is not in it."""
        return self._before()

    def _before(self) -> float:
        return float(self.journal.note(_SECONDS, "0.0"))

    def _show(self) -> None:
        self._told = time.monotonic()
        rate = self._tokens / max(self._told - self._began, 1e-9)
        tokens = f" ({self._tokens:,} tokens, {rate:.0f}/s)" if self._tokens else ""
        self.tell(f"Asking{tokens}", self.done, self.total)


def course_of(
    opened: Opened, model: ModelSettings, connections: int, answers: Iterable[Answer], seconds: float
) -> dict[str, Scalar]:
    """What a dry run foretells beside what happened, and the shares of answers that were empty, looped or cut off.

    Args:
        opened: what was asked.
        model: who.
        connections: requests at a time.
        answers: of all starts.
        seconds: that asking took.
    """
    from fairspace.submissions.running.planning.lines import PlanSettings, answers_line
    from fairspace.submissions.running.planning.repeats import computes_repeats_once
    from fairspace.submissions.running.planning.tokens import NOTHING

    temperature = model.effective(opened.settings).get("temperature")
    settings = PlanSettings(
        model.name,
        concurrency=connections,
        max_tokens=model.max_tokens,
        sample=_SAMPLE,
        repeats_once=computes_repeats_once(model.name, model.arguments, temperature),
    )
    lines = [answers_line(part, opened.positions[task], settings) for task, part in opened.parts.items()]
    given, output = sum((line.input for line in lines), NOTHING), sum((line.output for line in lines), NOTHING)
    hours = sum((line.hours for line in lines), NOTHING)
    answered = [answer for answer in answers if answer.fate == "answered"]
    tokens = sum(answer.output_tokens for answer in answered)
    course: dict[str, Scalar] = {
        "planned_input_tokens": round(given.usual),
        "planned_input_tokens_at_most": round(given.most),
        "planned_output_tokens": round(output.usual),
        "planned_output_tokens_at_most": round(output.most),
        "planned_seconds": round(hours.usual * 3600),
        "planned_seconds_at_most": round(hours.most * 3600),
        "input_tokens": sum(answer.input_tokens for answer in answered),
        "output_tokens": tokens,
        "seconds": round(seconds),
    }
    for name, count in (
        ("empty", sum(not (answer.response or "").strip() for answer in answered)),
        ("looping", sum(answer.stop == "loop" for answer in answered)),
        ("cut_off", sum(answer.stop in ("max_tokens", "model_length") for answer in answered)),
    ):
        course[name] = round(count / len(answered), 4) if answered else None
    return course


_SAMPLE = 20
"""Stimuli of a task whose prompts are measured for the plan."""
