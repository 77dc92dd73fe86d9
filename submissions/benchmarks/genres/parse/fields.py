"""The fields of a judge's answer, from JSON, from what is nearly JSON, or from plain lines.

1. Objects that `json` reads, the last one that gives a field counts. They may be nested, or stand beside other text.
2. Keys in quotes with their values, where an object is broken: single quotes, quotes within quotes, comments, a missing
   comma, a cut-off end.
3. Lines such as "1.a: Mia" and "Cons of Jack: none", lists under headings, tables.

What only repeats the prompt's form ("pros of Mia") is no field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from fairspace.submissions.answers.loose_json import Found, values
from fairspace.submissions.answers.phrases import REFUSAL
from fairspace.submissions.answers.prepared import Prepared
from fairspace.submissions.benchmarks.genres.parse.keys import Field, Key, key_of
from fairspace.submissions.benchmarks.genres.parse.lines import read_lines, read_sentences
from fairspace.submissions.benchmarks.genres.parse.persons import Names
from fairspace.submissions.benchmarks.genres.parse.traits import is_form

_ASIDES = """
reason reasons reasoning explanation justification rationale evidence note notes comment comments confidence quote
quotes details why basis support analysis thought thoughts occupation interests
"""
_REASON = frozenset(_ASIDES.split())
_NAMING = frozenset({"name", "character", "person", "who"})
_DEEPEST = 8
Span = tuple[int, int]
Fields = Mapping[Key, Field]


_DRESSED = re.compile(r"[*_`<\[]")


@lru_cache(1024)
def _printed_keys(names: Names) -> dict[str, Key]:
    """The keys as the prompts print them, and with the correct "Pros"."""
    keys = ["Answer to Task1.a", "Answer to Task1.b", "Personality", "Occupation", "Interests"]
    keys += [f"{kind} of {name}" for kind in ("Prons", "Pros", "Cons") for name in names]
    return {key: key_of(key, names) for key in keys}


def printed_fields(text: str, names: Names) -> Fields:
    """The fields of an object with the keys as printed and undecorated texts; empty for all other answers."""
    if not (text.startswith("{") and text.isascii()) or _DRESSED.search(text):
        return {}
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return {}
    known, fields, place = _printed_keys(names), {}, (0, 0)
    for name, value in pairs:
        key = known.get(name)
        if key is None or key in fields or not isinstance(value, str) or is_form(value):
            return {}
        if key.kind:
            place = _place(text, name, value, place[1], len(text))
            fields[key] = Field(value, place, "json")
    return fields


def _place(text: str, key: str, value: str, start: int, end: int) -> Span:
    """Where a value stands after its key; right behind the key if it is written otherwise than it reads."""
    behind = max(text.find(key, start, end), start) + len(key)
    place = text.find(value, behind, end)
    return (place, place + len(value)) if place >= 0 else (behind, behind)


def fields_of(prepared: Prepared, names: Names) -> Fields:
    """All fields of an answer."""
    text = prepared.text
    objects = values(text) if "{" in text else []
    fields: dict[Key, Field] = {}
    for found in objects:
        if found.stage != "repaired json":
            fields |= _flat(text, found, names)
    if "{" in text or re.search(r"\A\s*[\"']", text):
        fields = {
            **_quoted_keys(text, [found.span for found in objects if found.stage != "repaired json"], names),
            **fields,
        }
    for found in objects:
        if found.stage == "repaired json":
            # A repaired object may have an end that the answer has not: an empty text of it says nothing.
            repaired = _flat(text, found, names)
            fields = {key: field for key, field in repaired.items() if field.text} | fields
    outside = _outside(text, [found.span for found in objects])
    if outside.strip():
        fields = {**read_lines(outside, names), **fields}
        if not REFUSAL.search(outside):
            fields = {**read_sentences(outside, names), **fields}
    return fields


def _outside(text: str, objects: Sequence[tuple[int, int]]) -> str:
    """The text with its objects blanked out, be they whole or cut off."""
    start = text.find("{")
    if objects or (start >= 0 and '"' in text[start:]):
        start = min([start, *(span[0] for span in objects)]) if start >= 0 else objects[0][0]
        end = max([text.rfind("}") + 1, *(span[1] for span in objects)])
        end = end if end > start else len(text)
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def _flat(text: str, found: Found, names: Names) -> dict[Key, Field]:
    """The fields of a JSON value in a text; several texts of one field are joined by commas."""
    fields: dict[Key, Field] = {}
    place, end = found.span
    for keys, value in _leaves(found.value, ()):
        key = _field_key(" ".join(keys), names)
        if key is None or is_form(value):
            continue
        span = _place(text, keys[-1], value, place, end)
        place = span[1]
        before = fields.get(key)
        if before is not None:
            value, span = f"{before.text}, {value}", (before.span[0], span[1])
        fields[key] = Field(value, span, found.stage)
    return fields


def _field_key(path: str, names: Names) -> Key | None:
    """The field that a key names; None if it names none, or pros or cons of nobody."""
    kind, person = key_of(path, names)
    if kind in ("pros", "cons"):
        return None if person is None else Key(kind, person)
    return Key(kind, None) if kind else None


def _leaves(value: Any, keys: tuple[str, ...], depth: int = 0) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of a JSON value with the keys that it is in; null and an empty list are an empty text."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        naming = next((k for k, v in value.items() if str(k).lower() in _NAMING and isinstance(v, str)), None)
        named = naming is not None and len(value) > 1 and not key_of(" ".join(keys), ("", "")).kind
        if named:
            keys = (*keys, value[naming])
        for key, part in value.items():
            if str(key).lower().strip() not in _REASON and not (named and naming == key):
                yield from _leaves(part, (*keys, str(key)), depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part, keys, depth + 1) if isinstance(part, (dict, list)) else _text(part, keys)
        if not value:
            yield keys, ""
    else:
        yield from _text(value, keys)


def _text(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if keys and (value is None or isinstance(value, str)):
        yield keys, value or ""


_QUOTED_KEY = re.compile(
    r"(?P<quote>[\"'])(?P<key>[^\"\n{}:]{1,100}?)(?P=quote)\s{0,4}:"
    r"|(?<=[{,\n])\s{0,12}(?P<bare>\w[\w.' ]{0,60}?)\s{0,4}:"
)
_END = re.compile(r"[\"'](?=\s{0,4}(?:,\s{0,40}(?:[\"'\n}/#]|$)|\n|[}\]]|//|/\*|#|$))")


def _quoted_keys(text: str, whole: list[tuple[int, int]], names: Names) -> dict[Key, Field]:
    """Fields by their keys, in whatever is no whole object."""
    keys = [
        (match, key)
        for match in _QUOTED_KEY.finditer(text)
        if not any(start <= match.start() < end for start, end in whole)
        and (key := _field_key(match["key"] or match["bare"], names)) is not None
    ]
    fields: dict[Key, Field] = {}
    twice: set[Key] = set()
    for place, (match, key) in enumerate(keys):
        end = keys[place + 1][0].start() if place + 1 < len(keys) else len(text)
        field = _quoted_value(text, match.end(), end)
        if field is None or is_form(field.text):
            continue
        if key in fields and fields[key].text != field.text:
            twice.add(key)
        fields[key] = field
    return {key: field for key, field in fields.items() if key not in twice}


def _quoted_value(text: str, start: int, end: int) -> Field | None:
    """The value after a key, None if it has not begun."""
    match = re.compile(r"\s*(?P<open>[\[{\"']?)").match(text, start, end)
    begin = match.end() if match else start
    opened = match["open"] if match else ""
    if not text[begin:end].strip() and not (opened and end < len(text)):
        return None
    if opened in ("[", "{"):
        close = text.find("]" if opened == "[" else "}", begin, end)
        inside = text[begin : close if close >= 0 else end]
        if opened == "{":
            first = re.search(r":\s*([\"'])(.*?)(?:\1|\Z)", inside, re.DOTALL)
            inside = first[2] if first else inside
        inside = re.sub(r"[\"']\s*,\s*[\"']", ", ", inside).strip(" \n\"',[{")
        if not inside and (opened == "{" or close != begin):
            return None
        return Field(inside, (begin, end), "quoted keys", close < 0)
    if opened:
        closing = next((m for m in _END.finditer(text, begin, end) if m[0] == opened), None)
        cut = closing is None and end == len(text)
        stop = closing.start() if closing else end
        if cut and not text[begin:stop].strip():
            return None
        return Field(text[begin:stop].strip(" \n,\"'}"), (begin, stop), "quoted keys", cut)
    stop = min(place for mark in ",\n}" if (place := text.find(mark, begin, end)) >= 0 or (place := end) >= 0)
    value = text[begin:stop].strip()
    if re.fullmatch(r"null|none|nan|undefined", value, re.IGNORECASE):
        value = ""
    elif re.fullmatch(r"true|false|[-\d.]+", value, re.IGNORECASE):
        return None
    return Field(value, (begin, stop), "quoted keys")
