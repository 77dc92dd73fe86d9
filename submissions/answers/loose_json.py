"""JSON inside an answer: spans are cut out, read strictly, else repaired without inventing anything.

A span runs from a brace or bracket to its partner, strings respected. Stages: `json.loads`; the same with line breaks
in strings escaped; json-repair with `strict=True`, which refuses to make up data.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Stage = Literal["json", "json with line breaks", "repaired json"]
MOST_SPANS, LONGEST, DEEPEST = 50, 20_000, 20
MOST_CHARACTERS = 200_000
"""JSON beyond this many characters is not read; prepared answers are shorter."""
_CLOSING = {"{": "}", "[": "]"}
_KEY = re.compile(r"([\"'])([^\"'{}\[\]:,]{1,200})\1\s{0,20}:")
_MARK = re.compile(r'["{}\[\]\\]')


@dataclass(frozen=True)
class Found:
    """A JSON object or list in a text, its (start, end), and the stage that read it."""

    value: Any
    span: tuple[int, int]
    stage: Stage


def values(text: str) -> list[Found]:
    """The outermost readable JSON objects and lists of a text, in order."""
    return [found for start, end in spans(text) if (found := _read(text, start, end)) is not None]


def keys(text: str) -> list[str]:
    """The quoted keys of a text's JSON, readable or not."""
    return [match[2] for match in _KEY.finditer(text)]


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Outermost pairs of braces or brackets; one without an end runs to the end of the text."""
    stack: list[str] = []
    start = count = position = 0
    quoted = False
    while match := _MARK.search(text, position, MOST_CHARACTERS):
        mark, position = match[0], match.end()
        if mark == "\\":
            position += quoted
        elif mark == '"':
            quoted = bool(stack) and not quoted
        elif quoted:
            continue
        elif mark in _CLOSING:
            if not stack:
                start = match.start()
            stack.append(_CLOSING[mark])
        elif stack and mark == stack[-1]:
            stack.pop()
            if not stack:
                yield start, position
                count += 1
                if count == MOST_SPANS:
                    return
    if stack:
        yield start, len(text)


def _read(text: str, start: int, end: int) -> Found | None:
    part = text[start:end]
    if len(part) > LONGEST:
        return None
    stages: tuple[tuple[Stage, bool], ...] = (("json", True), ("json with line breaks", False))
    for stage, strict in stages:
        try:
            return Found(json.loads(part, strict=strict, object_pairs_hook=_without_repeats), (start, end), stage)
        except _RepeatedKeyError:
            return None
        except (ValueError, RecursionError):
            continue
    if max(part.count(mark) for mark in _CLOSING) > DEEPEST * 5 or ('"' not in part and "'" not in part):
        return None
    import json_repair

    try:
        value = json_repair.loads(part, strict=True)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, (dict, list)) or not value or _loses_a_key(value, part):
        return None
    return Found(value, (start, end), "repaired json")


def _loses_a_key(value: Any, part: str) -> bool:
    """Whether the repair would drop a value: a key stands more often in the text than in the repaired object."""
    kept: Counter[str] = Counter()
    inside = [value]
    while inside:
        inner = inside.pop()
        if isinstance(inner, dict):
            kept.update(str(key) for key in inner)
        inside += inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else []
    written = Counter(keys(part))
    return any(written[key] > count for key, count in kept.items())


class _RepeatedKeyError(ValueError):
    """A key with two different values, so that the answer says neither."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data and data[key] != value:
            raise _RepeatedKeyError(key)
        data[key] = value
    return data
