"""Forms of a benchmark's questions: the paper's, and a closed one in JSON where the paper's question is free.

A score is of the paper's form alone. How much a value changes with the form says how much of it the reading of free
answers makes: `fairspace run --forms` asks in both, and each is scored by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fairspace.submissions.benchmarks.asks import Part, Shown

PAPER = "paper"
"""The form that scores."""
CLOSED = "json"
"""The form whose answer is one of named choices, as JSON."""
FORM = "form"
"""Setting of generation that names the form, where it is not the paper's; and the form as a factor of variance."""
Reword = Callable[[str], str]
"""Prompt as the plan has it -> the same question in another form."""


def in_form(part: Part, rewords: Mapping[str, Reword]) -> Part:
    """A part whose requests are in another form, by task; ids and images stay."""

    def read(place: int) -> Shown:
        shown = part.read(place)
        return replace(shown, asks=tuple(replace(ask, prompt=rewords[ask.task](ask.prompt)) for ask in shown.asks))

    return replace(part, read=read)


def as_json(question: str) -> str:
    """A question with the sentence that asks for its answer as JSON."""
    return f'{question} Answer with JSON of exactly this form, with your choice: {{"answer": "..."}}'
