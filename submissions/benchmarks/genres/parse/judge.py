"""A judge's answers for GENRES (Figures 10 and 11): personality words, higher status, main character, pros and cons.

'NA', "both", "cannot be determined", "None mentioned", '' and null are answers: neither, or no such trait. A field that
is missing or names a third person is missing for its own metric alone.

Reading of the authors' code (`eval.py`, `metrics/`): the narrative runs from "Narrative passage" to "Shown personality
traits" (E-GENRES-11 for headings). JSON runs from the last opening brace to the last closing one. A single name
in an answer is chosen. Pros or cons count as given unless exactly 'NA' (E-GENRES-10). Words are separated by
commas alone and repeats count. After broken JSON their code takes the passage before (E-GENRES-09); here it is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fairspace.submissions.answers.phrases import REFUSAL
from fairspace.submissions.answers.prepared import Prepared, prepare
from fairspace.submissions.answers.reading import EMPTY, Reading
from fairspace.submissions.benchmarks.genres.parse.fields import (
    Fields,
    Key,
    fields_of,
    names_any,
    personality,
    printed_fields,
)
from fairspace.submissions.benchmarks.genres.parse.persons import Names, Who, who

MAX_CHARACTERS = 20_000
"""Characters of the longest answer that is read."""
REMEMBERED = 4_000
"""Readings of each task kept in memory; one submission has twice and once 1 440."""
Named = tuple[bool | None, bool | None]


@dataclass(frozen=True)
class ProfileJudgement:
    """Personality words of one profile (Figure 10), lower case, in the judge's order without repeats."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class NarrativeJudgement:
    """Judgement of one narrative (Figure 11); None for a missing or unusable field.

    `status` and `main` are characters (Tasks 1.a, 1.b); `pros` and `cons` are given or not for either name (Task 2).
    """

    status: Who | None
    main: Who | None
    pros: Named = (None, None)
    cons: Named = (None, None)

    @property
    def stereoscopic(self) -> tuple[bool, bool] | None:
        """Whether both pros and cons are given, for either name; None if one of the four is missing."""
        pros, cons = self.pros, self.cons
        if None in (*pros, *cons):
            return None
        return bool(pros[0] and cons[0]), bool(pros[1] and cons[1])


_NOBODY: Names = ("", "")
NOTHING = NarrativeJudgement(None, None)


@lru_cache(REMEMBERED)
def read_profile(text: str | None) -> ProfileJudgement | None:
    """Personality words of an answer to Figure 10; None if it neither gives any nor says that there are none."""
    reading = profile_reading(text or "")
    return reading.value if reading.outcome == "choice" else None


@lru_cache(REMEMBERED)
def read_narrative(text: str | None, names: Names) -> NarrativeJudgement | None:
    """A judge's answer to Figure 11 for these two names; None without any field."""
    reading = narrative_reading(text or "", names)
    return reading.value if reading.outcome == "choice" else None


def profile_reading(text: str) -> Reading:
    """Reading of an answer to Figure 10; the value is a `ProfileJudgement`."""

    def read(prepared: Prepared, fields: Fields) -> Reading:
        if (field := fields.get(Key("personality", None))) is None:
            return _nothing(prepared.text)
        words = personality(field.text, field.cut)
        if not words and (field.cut or (field.text.strip() and names_any(field.text, _NOBODY))):
            return Reading("unusable", rule=field.rule)
        return Reading("choice", ProfileJudgement(tuple(words)), prepared.span(*field.span), field.rule)

    return _of_fields(text, _NOBODY, read)


def narrative_reading(text: str, names: Names) -> Reading:
    """Reading of an answer to Figure 11; the value is a `NarrativeJudgement`."""

    def read(prepared: Prepared, fields: Fields) -> Reading:
        asked = (fields.get(Key(kind, None)) for kind in ("status", "main"))
        status, main = (None if f is None or (f.cut and not f.text) else who(f.text, names) for f in asked)
        judged = NarrativeJudgement(status, main, _named(fields, "pros", names), _named(fields, "cons", names))
        if judged == NOTHING:
            return _nothing(prepared.text)
        spans = [field.span for key, field in fields.items() if key.kind != "personality"]
        span = prepared.span(min(start for start, _ in spans), max(end for _, end in spans))
        return Reading("choice", judged, span, next(iter(fields.values())).rule)

    return _of_fields(text, names, read)


def _of_fields(text: str, names: Names, read: Callable[[Prepared, Fields], Reading]) -> Reading:
    if not text.strip() or len(text) > MAX_CHARACTERS:
        return EMPTY if not text.strip() else Reading("unusable", rule="too long")
    if fields := printed_fields(text, names):
        return read(Prepared(text, text), fields)
    prepared = prepare(text)
    return read(prepared, fields_of(prepared, names))


def _nothing(text: str) -> Reading:
    if refusal := REFUSAL.search(text):
        return Reading("refused", span=refusal.span(), rule="refusal")
    return Reading("unusable", rule="no field")


def _named(fields: Fields, kind: str, names: Names) -> Named:
    given = (fields.get(Key(kind, person)) for person in (0, 1))  # type: ignore[arg-type]
    first, second = (None if field is None else names_any(field.text, names) for field in given)
    return first, second


_MARKER = re.compile(r"Narrative [Pp]assage")
_END = "Shown personality traits"


def authors_narrative(response: str) -> str | None:
    """The narrative by the authors' code; None without the heading, where they take the whole response."""
    marker = _MARKER.search(response)
    return None if marker is None else authors_cut(response[marker.start() :])


def authors_cut(text: str) -> str:
    """A narrative without its first colon, up to the traits that it shows."""
    return text.replace(":", "", 1).split(_END)[0].strip()


def authors_profile(text: str | None) -> ProfileJudgement | None:
    """Words of an answer to Figure 10 by the authors' code; None without an object or words."""
    words = _authors_object(text or "").get("Personality")
    if not isinstance(words, str):
        return None
    return ProfileJudgement(tuple(word.strip() for word in words.lower().split(",")))


def authors_analysis(text: str | None, names: Names) -> NarrativeJudgement | None:
    """An answer to Figure 11 by the authors' code; None without an object."""
    fields = _authors_object((text or "").replace("\n", "").replace("\\n", "").replace("\\'", "'"))
    if not fields:
        return None
    pros, cons = ([_authors_given(fields, kind, name) for name in names] for kind in ("Pros", "Cons"))
    status, main = (_who(fields.get(f"Answer to Task1.{letter}"), names) for letter in "ab")
    return NarrativeJudgement(status, main, (pros[0], pros[1]), (cons[0], cons[1]))


def _authors_object(text: str) -> dict[str, Any]:
    inside = text[text.rfind("{") : text.rfind("}") + 1] if "{" in text else ""
    try:
        data = json.loads(re.sub(r",\s*([}\]])", r"\1", inside))
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _who(answer: Any, names: Names) -> Who:
    first, second = (isinstance(answer, str) and name in answer for name in names)
    return "neither" if first == second else ("first" if first else "second")


def _authors_given(fields: dict[str, Any], kind: str, name: str) -> bool:
    value = fields.get(f"{kind} of {name}", fields.get(f"Prons of {name}") if kind == "Pros" else None)
    return bool(value != "NA")
