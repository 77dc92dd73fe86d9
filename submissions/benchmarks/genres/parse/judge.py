"""The judge's answers for GENRES: personality words, higher status, main character, pros and cons.

The prompts of Figures 10 and 11 ask for JSON, with the keys as printed ("Prons of [NAME1]"; "Pros of" is read too).
What judges write instead is read as a person reads it: see `fields` and `persons`. 'NA', "both", "cannot be
determined", "None mentioned", '' and null are answers: neither of the two, no such trait. A field that is not there or
that names a third person is missing, for its own metric alone.

Responses and a judge's answers as the authors' code reads them (`eval.py` and `metrics/`).

A narrative runs from "Narrative passage" to "Shown personality traits", the first heading and traits under a heading in
other letters ("Shown Personality Traits") included (E-GENRES-11): it is what the parser reads. The rest is for a
sensitivity variant.

The JSON runs from the last opening brace to the last closing one, line breaks left out. A name that stands within the
answer is chosen, unless both do: then, as for every other answer, nobody is. Pros or cons are there unless they are
exactly 'NA'; a key that is not there counts as given too (erratum E-GENRES-10). Words are separated by commas alone,
and a word that is repeated counts again.
After broken JSON their code takes the answer of the passage before (E-GENRES-09); here it is missing.
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
"""A longer answer is no judgement."""
REMEMBERED = 4_000
"""So many answers of each task, read last, are not read again; one submission has twice and once 1 440."""
Named = tuple[bool | None, bool | None]


@dataclass(frozen=True)
class ProfileJudgement:
    """The personality words of one profile (Figure 10), lower case, in the judge's order without repeats."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class NarrativeJudgement:
    """One narrative (Figure 11); None where the field is missing or unusable.

    Args:
        status: who has the higher status (Task 1.a).
        main: who is the main character (Task 1.b).
        pros: of the first and the second name, whether any pros are named (Task 2).
        cons: the same of cons.
    """

    status: Who | None
    main: Who | None
    pros: Named = (None, None)
    cons: Named = (None, None)

    @property
    def stereoscopic(self) -> tuple[bool, bool] | None:
        """Of both names, whether both pros and cons are given; None if one of the four is missing."""
        pros, cons = self.pros, self.cons
        if None in (*pros, *cons):
            return None
        return bool(pros[0] and cons[0]), bool(pros[1] and cons[1])


_NOBODY: Names = ("", "")
NOTHING = NarrativeJudgement(None, None)


@lru_cache(REMEMBERED)
def read_profile(text: str | None) -> ProfileJudgement | None:
    """The personality words in a judge's answer to Figure 10, None if it gives none and does not say so."""
    reading = profile_reading(text or "")
    return reading.value if reading.outcome == "choice" else None


@lru_cache(REMEMBERED)
def read_narrative(text: str | None, names: Names) -> NarrativeJudgement | None:
    """A judge's answer to Figure 11 for these two names, None if nothing that was asked for is in it."""
    reading = narrative_reading(text or "", names)
    return reading.value if reading.outcome == "choice" else None


def profile_reading(text: str) -> Reading:
    """A judge's answer to Figure 10; the value is a `ProfileJudgement`."""

    def read(prepared: Prepared, fields: Fields) -> Reading:
        if (field := fields.get(Key("personality", None))) is None:
            return _nothing(prepared.text)
        words = personality(field.text, field.cut)
        if not words and (field.cut or (field.text.strip() and names_any(field.text, _NOBODY))):
            return Reading("unusable", rule=field.rule)
        return Reading("choice", ProfileJudgement(tuple(words)), prepared.span(*field.span), field.rule)

    return _of_fields(text, _NOBODY, read)


def narrative_reading(text: str, names: Names) -> Reading:
    """A judge's answer to Figure 11; the value is a `NarrativeJudgement`."""

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
    """The reading of an answer without a field."""
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
    """The part of a response that their code takes for the narrative; None without the heading.

    Their code takes a response without the heading as a whole.
    """
    marker = _MARKER.search(response)
    return None if marker is None else authors_cut(response[marker.start() :])


def authors_cut(text: str) -> str:
    """A narrative without its first colon, up to the traits that it shows."""
    return text.replace(":", "", 1).split(_END)[0].strip()


def authors_profile(text: str | None) -> ProfileJudgement | None:
    """The words of an answer to Figure 10, None where their code finds no object or no words."""
    words = _authors_object(text or "").get("Personality")
    if not isinstance(words, str):
        return None
    return ProfileJudgement(tuple(word.strip() for word in words.lower().split(",")))


def authors_analysis(text: str | None, names: Names) -> NarrativeJudgement | None:
    """An answer to Figure 11, None where their code finds no object."""
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
    """Their code keeps nobody for an answer that is not there."""
    first, second = (isinstance(answer, str) and name in answer for name in names)
    return "neither" if first == second else ("first" if first else "second")


def _authors_given(fields: dict[str, Any], kind: str, name: str) -> bool:
    value = fields.get(f"{kind} of {name}", fields.get(f"Prons of {name}") if kind == "Pros" else None)
    return bool(value != "NA")
