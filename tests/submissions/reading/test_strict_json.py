"""JSON at its limits: nesting, sizes of integers, marks, and texts that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fairspace.submissions.format.collector import RefusedError
from fairspace.submissions.reading.strict_json import check_text, check_values, decode, depth, parse


def code(call: Callable[[], Any]) -> str:
    """The code of a refusal; '' if there is none."""
    try:
        call()
    except RefusedError as refused:
        return refused.code
    return ""


@pytest.mark.parametrize(
    ("text", "deep"),
    [("1", 0), ("[]", 1), ('{"a": [1, {"b": []}]}', 4), ("[[], [], []]", 2), ('["[[[[", "]{\\"{"]', 1), ('"[[', 0)],
)
def test_depth_counts_the_brackets_outside_texts(text: str, deep: int) -> None:
    assert depth(text) == deep


@pytest.mark.parametrize("text", ["[[[1]]]", '[[{"a": 1}]]', "[[[1], [2], [3], [4]]]"])
def test_the_deepest_nesting_itself_is_read(text: str) -> None:
    assert parse(text, 3)
    assert code(lambda: parse(text, 2)) == "JSON_DEPTH"
    assert code(lambda: parse(" " + text, 2)) == "JSON_DEPTH"
    assert code(lambda: parse('{"a": {"b": {}}}', 2)) == "JSON_DEPTH"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{} {}", "JSON_SYNTAX"),
        ("", "JSON_SYNTAX"),
        ("   ", "JSON_SYNTAX"),
        ("NaN", "NOT_FINITE"),
        ("-Infinity", "NOT_FINITE"),
        ('{"a": 1, "b": 2, "a": 1}', "DUPLICATE_FIELD"),
        ("1" * 5000, "HUGE_NUMBER"),
        ('{"a": \x00}', "NUL_IN_TEXT"),
        ("\t[1]\r\n", ""),
        ("[1] ", ""),
    ],
)
def test_what_is_no_strict_json_is_refused(text: str, expected: str) -> None:
    assert code(lambda: parse(text, 5)) == expected


def test_the_message_of_nothing_says_so() -> None:
    with pytest.raises(RefusedError) as nothing:
        parse(" \t", 5)
    assert nothing.value.what == "nothing"
    with pytest.raises(RefusedError) as broken:
        parse("[1 2]", 5)
    assert "at column 4" in broken.value.what


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2**63 - 1, ""),
        (2**63, "HUGE_NUMBER"),
        (-(2**63), ""),
        (-(2**63) - 1, "HUGE_NUMBER"),
        (0, ""),
        (True, ""),
        (1e308, ""),
        (float("inf"), "NOT_FINITE"),
        ("a\x00", "NUL_IN_TEXT"),
        ("\ud800", "LONE_SURROGATE"),
        ("\U0001f600", ""),
        (None, ""),
    ],
)
def test_values_are_checked_at_any_depth(value: Any, expected: str) -> None:
    assert code(lambda: check_values(value)) == expected
    assert code(lambda: check_values([{"a": [1, value]}])) == expected
    if isinstance(value, str):
        assert code(lambda: check_values({value: 1})) == expected
        assert code(lambda: check_text(value)) == expected


def test_a_mark_and_bytes_that_are_no_utf_8_are_refused() -> None:
    assert decode("é".encode()) == "é"
    assert code(lambda: decode(b"\xef\xbb\xbf{}")) == "BYTE_ORDER_MARK"
    assert code(lambda: decode("{}".encode("utf-16"))) == "BYTE_ORDER_MARK"
    with pytest.raises(RefusedError, match="0xff at position 2"):
        decode(b"ab\xff")
