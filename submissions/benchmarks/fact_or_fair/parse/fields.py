"""What JSON objects in an answer give as their answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fairspace.submissions.answers import loose_json
from fairspace.submissions.answers.phrases import CORRECTION
from fairspace.submissions.benchmarks.fact_or_fair.parse.groups import Decision, Mention

_KEYS = re.compile(
    r"(?:(?:final|correct|my|best)[ _]?)?(?:answers?|choices?|group|category|response|result|selection|selected|option|"
    r"letter|person|name|prediction)(?:[ _]?(?:letter|option|choice))?",
    re.IGNORECASE,
)
_DECIDES = re.compile(r"answer|choice|response|result|select|option|letter|prediction", re.IGNORECASE)
"""In a key of an answer; a person, a name, a group or a category is many a thing's."""


def read_fields(text: str, decide: Callable[[str], Decision | None]) -> Decision | None:
    """What the last JSON object with an answer gives as it; several if two differ and nothing is corrected."""
    read: Decision | None = None
    for found in loose_json.values(text) if "{" in text else ():
        for said in _values(found.value) if isinstance(found.value, dict) else ():
            if (decided := decide(said)) is not None:
                options = decided[0].options
                if read and not CORRECTION.search(text, read[0].end, found.span[0]):
                    options |= read[0].options
                read = Mention(options, *found.span, True, decided[0].contradicts), f"field, {found.stage}"
    return read


def _values(data: Mapping[str, Any]) -> Iterator[str]:
    """The values of fields of such a name, else of the only field."""
    values = [value for key, value in data.items() if _KEYS.fullmatch(str(key).strip())]
    for value in values or (list(data.values()) if len(data) == 1 else []):
        if isinstance(value, dict):
            yield from _values(value)
        elif isinstance(value, list):
            yield ", ".join(map(str, value))
        elif value is not None:
            yield str(value)


def unasked_json(text: str) -> list[tuple[int, int]]:
    """Where JSON stands that has keys, and none of an answer: what a model makes up beside the form it is asked for."""
    if "{" not in text:
        return []
    forms = []
    for start, end in loose_json.spans(text):
        keys = loose_json.keys(text[start:end])
        if keys and not any(_KEYS.fullmatch(key) and _DECIDES.search(key) for key in keys):
            forms.append((start, text.rfind('"', start, end) + 1))
    return forms
