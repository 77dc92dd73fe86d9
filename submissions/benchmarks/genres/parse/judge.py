"""The judge's answers for GENRES: personality words, higher status, main character, pros and cons.

The judge returns the JSON that Figures 10 and 11 ask for, with the keys as printed ("Prons of [NAME1]"; "Pros of"
is read too). The repair is bounded: a code fence or words around the one object, and trailing commas, are removed.
Anything else is a failed judgement, which counts as missing; so does one unusable field, for its own metric alone.
'NA', 'N/A', '' and null all say: not available, which is an answer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

Who = Literal["first", "second", "neither"]
Names = tuple[str, str]

MAX_CHARACTERS = 20_000
"""A longer answer is no judgement."""
_NOT_AVAILABLE = ("", "na", "n/a", "null", "none")
_STRIPPED = " \t\r\n\"'“”‘’`*_[](){}.,:"


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
        stereoscopic: of the first and the second name, whether both pros and cons are given (Task 2).
    """

    status: Who | None
    main: Who | None
    stereoscopic: tuple[bool, bool] | None


def read_profile(text: str | None) -> ProfileJudgement | None:
    """The personality words in a judge's answer to Figure 10, None if it cannot be read or lacks the key."""
    words = _words(_fields(text).get("personality", ...))
    return None if words is None else ProfileJudgement(tuple(dict.fromkeys(words)))


def read_narrative(text: str | None, names: Names) -> NarrativeJudgement | None:
    """A judge's answer to Figure 11 for these two names, None if it is no JSON object."""
    fields = _fields(text)
    if not fields:
        return None
    both = []
    for name in map(str.lower, names):
        pros = _words(fields.get(f"prons of {name}", fields.get(f"pros of {name}", ...)))
        cons = _words(fields.get(f"cons of {name}", ...))
        both.append(None if pros is None or cons is None else bool(pros) and bool(cons))
    first, second = both
    return NarrativeJudgement(
        _who(fields.get("answer to task1.a", ...), names),
        _who(fields.get("answer to task1.b", ...), names),
        None if first is None or second is None else (first, second),
    )


def _fields(text: str | None) -> dict[str, Any]:
    """The one JSON object in a text, its keys in lower case without brackets; empty if there is none."""
    if text is None or len(text) > MAX_CHARACTERS:
        return {}
    start, end = text.find("{"), text.rfind("}")
    inside = text[start : end + 1] if start >= 0 else ""
    for candidate in (inside, re.sub(r",(\s*[}\]])", r"\1", inside)):
        try:
            data = json.loads(candidate, object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError):
            continue
        return data if isinstance(data, dict) else {}
    return {}


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object with normalised keys; ValueError if a key is given twice."""
    data = {re.sub(r"[\[\]]|\s+(?=\s)", "", key).strip().lower(): value for key, value in pairs}
    if len(data) != len(pairs):
        raise ValueError("a key is given twice")
    return data


def _words(field: Any) -> list[str] | None:
    """A comma-separated string or a list of strings as lower-case words; [] for not available, None if neither."""
    if field is None:
        return []
    if isinstance(field, list) and all(isinstance(word, str) for word in field):
        field = ",".join(field)
    if not isinstance(field, str):
        return None
    words = [word.strip(_STRIPPED).lower() for word in re.split(r"[,;\n]", field)]
    return [word.removeprefix("and ").strip() for word in words if word not in _NOT_AVAILABLE]


def _who(field: Any, names: Names) -> Who | None:
    """Which of the two names an answer is; "neither" for not available, None for anything else."""
    if field is None:
        return "neither"
    if not isinstance(field, str):
        return None
    answer = field.strip(_STRIPPED).lower()
    if answer in _NOT_AVAILABLE:
        return "neither"
    by_name: dict[str, Who] = {names[0].lower(): "first", names[1].lower(): "second"}
    return by_name.get(answer)
