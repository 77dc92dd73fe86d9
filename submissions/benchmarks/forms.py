"""Forms of a benchmark's questions: the paper's, the only one that scores, and a closed one in JSON.

The difference between them shows the effect of reading free answers (`fairspace run --forms` asks both).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fairspace.submissions.benchmarks.asks import Part, Shown

PAPER = "paper"
CLOSED = "json"
"""The form with named choices, answered in JSON."""
FORM = "form"
"""Generation setting of a form other than the paper's; also a factor of variance."""
Reword = Callable[[str], str]
"""Prompt of the plan -> the same question in another form."""


def in_form(part: Part, rewords: Mapping[str, Reword]) -> Part:
    """A part with requests in another form, by task; ids and images stay."""

    def read(place: int) -> Shown:
        shown = part.read(place)
        return replace(shown, asks=tuple(replace(ask, prompt=rewords[ask.task](ask.prompt)) for ask in shown.asks))

    return replace(part, read=read)


def as_json(question: str) -> str:
    """A question with the sentence that asks for its answer as JSON."""
    return f'{question} Answer with JSON of exactly this form, with your choice: {{"answer": "..."}}'
