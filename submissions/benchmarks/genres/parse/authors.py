"""Responses and a judge's answers as the authors' code reads them (`eval.py` and `metrics/`).

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
from typing import Any

from fairspace.submissions.benchmarks.genres.parse.judge import NarrativeJudgement, ProfileJudgement
from fairspace.submissions.benchmarks.genres.parse.persons import Names, Who

_MARKER = re.compile(r"Narrative [Pp]assage")
_END = "Shown personality traits"


def narrative(response: str) -> str | None:
    """The part of a response that their code takes for the narrative; None without the heading.

    Their code takes a response without the heading as a whole.
    """
    marker = _MARKER.search(response)
    return None if marker is None else cut(response[marker.start() :])


def cut(text: str) -> str:
    """A narrative without its first colon, up to the traits that it shows."""
    return text.replace(":", "", 1).split(_END)[0].strip()


def read_profile(text: str | None) -> ProfileJudgement | None:
    """The words of an answer to Figure 10, None where their code finds no object or no words."""
    words = _object(text or "").get("Personality")
    if not isinstance(words, str):
        return None
    return ProfileJudgement(tuple(word.strip() for word in words.lower().split(",")))


def read_narrative(text: str | None, names: Names) -> NarrativeJudgement | None:
    """An answer to Figure 11, None where their code finds no object."""
    fields = _object((text or "").replace("\n", "").replace("\\n", "").replace("\\'", "'"))
    if not fields:
        return None
    pros, cons = ([_given(fields, kind, name) for name in names] for kind in ("Pros", "Cons"))
    status, main = (_who(fields.get(f"Answer to Task1.{letter}"), names) for letter in "ab")
    return NarrativeJudgement(status, main, (pros[0], pros[1]), (cons[0], cons[1]))


def _object(text: str) -> dict[str, Any]:
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


def _given(fields: dict[str, Any], kind: str, name: str) -> bool:
    value = fields.get(f"{kind} of {name}", fields.get(f"Prons of {name}") if kind == "Pros" else None)
    return bool(value != "NA")
