"""Strict JSON: no repeated fields, no NaN, no deep nesting, UTF-8 without a mark."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from fairspace.submissions.format.collector import RefusedError, show

_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _constant(name: str) -> Any:
    raise RefusedError("NOT_FINITE", f"found {name}", "a finite number or null")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        repeated = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise RefusedError("DUPLICATE_FIELD", f"field {show(repeated)} stands there twice", "every field once")
    return fields


DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def check_start(data: bytes) -> None:
    """Refuse a byte order mark, in UTF-8 or UTF-16."""
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise RefusedError("BYTE_ORDER_MARK", f"starts with the bytes {data[:3].hex(' ')}", "UTF-8 without a mark")


def decode(data: bytes) -> str:
    """The text of UTF-8 bytes. RefusedError: BYTE_ORDER_MARK, BROKEN_UTF8."""
    check_start(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte 0x{data[error.start]:02x} at position {error.start}"
        raise RefusedError("BROKEN_UTF8", problem, "text in UTF-8") from error


def depth(text: str, most: int = sys.maxsize) -> int:
    """Depth of brackets outside strings, or `most` + 1 if deeper; linear in the length of the text."""
    bare = text.replace("\\\\", "").replace('\\"', "")
    outside = "".join(bare.split('"')[::2]).encode("utf-8", "surrogatepass")
    left = outside.translate(_SQUARE, _NO_BRACKETS)
    level = 0
    while left and level <= most:
        inner = left.replace(b"[]", b"")
        if inner == left:  # unclosed brackets
            return level + left.count(b"[")
        left, level = inner, level + 1
    return level


def parse(text: str, limit: int) -> Any:
    """The JSON value of a text; `limit` is the deepest nesting.

    RefusedError: JSON_SYNTAX, JSON_DEPTH, DUPLICATE_FIELD, NOT_FINITE, HUGE_NUMBER (more digits than Python reads),
    NUL_IN_TEXT (a raw NUL byte).
    """
    if text.count("[") + text.count("{") > limit and depth(text, limit) > limit:
        raise RefusedError("JSON_DEPTH", f"nested more than {limit} deep", "flat JSON")
    try:
        value, end = DECODER.raw_decode(text)
        return value if end == len(text) else DECODER.decode(text)
    except RefusedError:
        raise
    except json.JSONDecodeError as error:
        return _parse_padded(text, limit, error)
    except ValueError as error:
        raise RefusedError("HUGE_NUMBER", "a number of thousands of digits", "a number that fits its column") from error


def _parse_padded(text: str, limit: int, error: json.JSONDecodeError) -> Any:
    if text[:1] in " \t\r\n" and text.strip(" \t\r\n"):
        return parse(text.strip(" \t\r\n"), limit)
    if "\x00" in text:
        raise RefusedError("NUL_IN_TEXT", "found a raw NUL byte", "text without NUL") from error
    problem = f"{error.msg} at column {error.colno}" if text.strip(" \t\r\n") else "nothing"
    raise RefusedError("JSON_SYNTAX", problem, "one JSON object") from error


def check_values(value: Any, limit: int = 2**63) -> None:
    """Refuse texts with NUL or half surrogates, infinite numbers and integers beyond 64 bits, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            check_values(key)
            check_values(inner)
    elif isinstance(value, list):
        for inner in value:
            check_values(inner)
    elif isinstance(value, str):
        check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise RefusedError("NOT_FINITE", f"found {value} (a number beyond the range)", "a finite number or null")
    elif isinstance(value, int) and not -limit <= value < limit:
        raise RefusedError("HUGE_NUMBER", f"an integer of {value.bit_length()} bits", "an integer of 64 bits")


def check_text(text: str) -> None:
    """Refuse a text with NUL or with half of a surrogate pair."""
    if "\x00" in text:
        raise RefusedError("NUL_IN_TEXT", f"found {show(text)}", "text without NUL")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RefusedError("LONE_SURROGATE", f"found {show(text)}", "whole characters") from error
