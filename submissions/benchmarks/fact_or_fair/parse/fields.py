"""What JSON objects in an answer give as their answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fairspace.submissions.answers import loose_json

_KEYS = re.compile(
    r"(?:(?:final|correct|my|best)[ _]?)?(?:answers?|choices?|group|category|response|result|selection|selected|option|"
    r"letter|person|name|prediction)(?:[ _]?(?:letter|option|choice))?",
    re.IGNORECASE,
)
_DECIDES = re.compile(r"answer|choice|response|result|select|option|letter|prediction", re.IGNORECASE)
"""In a key of an answer; a person, a name, a group or a category is many a thing's."""


@dataclass(frozen=True)
class Field:
    """A field that gives an answer.

    Args:
        text: its value.
        span: of the object in the text.
        rule: what read the object.
    """

    text: str
    span: tuple[int, int]
    rule: str


def answer_fields(text: str) -> Iterator[Field]:
    """The answers that the JSON objects of a text give, in order."""
    if "{" not in text:
        return
    for found in loose_json.values(text):
        if isinstance(found.value, dict):
            for said in _values(found.value):
                yield Field(said, found.span, f"field, {found.stage}")


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
