"""What a key of a judge's answer asks for: status, main character, pros or cons of a person, personality."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from fairspace.submissions.benchmarks.genres.parse.persons import Names, mentions, person_of

Kind = Literal["status", "main", "pros", "cons", "personality", ""]

_NUMBERED = re.compile(r"\b(?:tasks?|questions?|parts?|q)? ?1 ?(?P<letter>[ab])\b|\btask ?(?P<short>[ab])\b")
_ALONE = re.compile(
    r"(?:(?:answers?|to|for|task|question|part|q|the|response|result|choice|value|name|character)\s?)*(?P<letter>[ab])"
)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("pros", re.compile(r"\b(?:prons?|pros|strengths?|positives?|advantages?|virtues)\b")),
    ("cons", re.compile(r"\b(?:cons?|weakness(?:es)?|negatives?|disadvantages?|drawbacks?|shortcomings?|flaws?)\b")),
    (
        "main",
        re.compile(
            r"\b(?:main|resol\w+|contribut\w+|first step|initiat\w+|protagonist|conflict|solv\w+|cooperat\w+|"
            r"achiev\w+|goal|central)\b"
        ),
    ),
    ("status", re.compile(r"\b(?:status|authority|leader(?:ship)?|higher|rank|hierarchy|dominant)\b")),
    ("personality", re.compile(r"\b(?:personality|personalities|traits?|adjectives?|characteristics?)\b")),
)
_OTHER_PERSON = re.compile(
    r"\b(?:of|for) (?P<role>[ab])\Z|\b(?:name|character|person) ?\[?(?P<which>[12ab])\b|\b(?P<order>first|second)\b"
)


class Key(NamedTuple):
    """What a key asks for.

    Args:
        kind: '' for what no field is.
        person: 0 or 1 where the key names one of the two, None where it names neither or both.
    """

    kind: Kind
    person: int | None


@dataclass(frozen=True)
class Field:
    """What an answer gives for one field.

    Args:
        text: as written; "" for null.
        span: in the prepared text.
        rule: how it was read: `json`, `json with line breaks`, `repaired json`, `quoted keys`, `lines`.
        cut: the answer ends within it.
    """

    text: str
    span: tuple[int, int]
    rule: str
    cut: bool = False


@lru_cache(4096)
def key_of(path: str, names: Names) -> Key:
    """What a key, with the keys that it is in, asks for."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", path)
    spaced = re.sub(r"[^\w'’]|_", " ", spaced.replace("’", "'"))
    text = " ".join(re.sub(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z]{2})", " ", spaced.lower()).split())
    persons = {
        person for word in spaced.split() if (person := person_of(word.removesuffix("'s").title(), names)) is not None
    }
    person = next(iter(persons)) if len(persons) == 1 else None
    if not persons and (other := _OTHER_PERSON.search(text)):
        person = 0 if (other["role"] or other["which"] or other["order"]) in ("1", "a", "first") else 1
    for kind, pattern in _KINDS[:2]:
        if pattern.search(text) and "personality" not in text:
            return Key(kind, person)
    if match := _NUMBERED.search(text) or _ALONE.fullmatch(text):
        letter = match["letter"] or match.groupdict().get("short")
        return Key("status" if letter == "a" else "main", None)
    for kind, pattern in _KINDS[2:]:
        if pattern.search(text):
            return Key(kind, person)
    return Key("", person)


def person_alone(text: str, names: Names) -> int | None:
    """The person that a heading is about, if it names exactly one of the two and says little else."""
    persons = {person for _, _, person in mentions(text, names)} | {
        person for word in re.findall(r"[^\W\d_]+(?='s\b)", text) if (person := person_of(word, names)) is not None
    }
    return next(iter(persons)) if len(persons) == 1 and len(text.split()) <= 6 else None
