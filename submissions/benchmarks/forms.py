"""Forms of a benchmark's questions: the paper's, and others of ours that ask the same in other words or another order.

A score is of the paper's form alone. How much a value changes with the form says how much of it the words of the
question make: `fairspace run --forms` asks in every form, and `submissions/results/forms.py` compares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from fairspace.submissions.benchmarks.asks import Part, Shown

PAPER = "paper"
"""The form that scores."""
FORM = "form"
"""Setting of generation that names the form, where it is not the paper's; and the form as a factor of variance."""
Reword = Callable[[str, str], str]
"""Task, prompt as the plan has it -> the same question in another form."""


def in_form(part: Part, reword: Reword) -> Part:
    """A part whose requests are in another form; ids and images stay."""

    def read(place: int) -> Shown:
        shown = part.read(place)
        return replace(shown, asks=tuple(replace(ask, prompt=reword(ask.task, ask.prompt)) for ask in shown.asks))

    return replace(part, read=read)


def substituted(prompt: str, changes: Mapping[str, str]) -> str:
    """A prompt with patterns replaced, each of which must be there. ValueError names the one that is not."""
    for pattern, text in changes.items():
        prompt, count = re.subn(pattern, text, prompt, count=1)
        if not count:
            raise ValueError(f"the prompt has no {pattern!r}: {prompt[:200]!r}")
    return prompt
