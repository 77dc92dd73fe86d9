import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import Any

import pytest

from fairspace.submissions.format.faults import Collector, RefusedError
from fairspace.submissions.format.schema import SCHEMAS
from fairspace.submissions.reading import tables
from fairspace.submissions.reading.containers import LIMITS, Limits, Member

LINE = {"task": "t", "id": "a", "sample": 0, "response": "x"}
FACE = {"task": "t", "id": "a", "sample": 0, "face": 0, "status": "ok"}


def read(
    lines: list[Any], table: str = "responses", limits: Limits = LIMITS
) -> tuple[list[dict[str, Any]], list[int], list[tuple[str, str]]]:
    """Rows, their lines, and codes and places of the faults; a line is a row or raw bytes."""
    faults, data = Collector(LIMITS.faults), b""
    for line in lines:
        data += (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"
    blocks = list(
        tables.read_jsonl(BytesIO(data), "f", (table, SCHEMAS[table]), limits, faults, lambda size, rows: None)
    )
    rows = [row for piece, _ in blocks for row in piece.to_pylist()]
    numbers = [int(number) for _, places in blocks for number in places.to_pylist()]
    return rows, numbers, [(fault.code, fault.where) for fault in faults.all()]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"sample": 2**31 - 1}, ""),
        ({"sample": 2**31}, "HUGE_NUMBER"),
        ({"sample": -(2**31)}, ""),
        ({"sample": -(2**31) - 1}, "HUGE_NUMBER"),
        ({"sample": 2**70}, "HUGE_NUMBER"),
        ({"sample": True}, "WRONG_TYPE"),
        ({"sample": 1.0}, "WRONG_TYPE"),
        ({"sample": None}, "NULL_VALUE"),
        ({"response": None}, ""),
        ({"response": 7}, "WRONG_TYPE"),
        ({"response": "a\0"}, "NUL_IN_TEXT"),
        ({"response": "\ud800"}, "LONE_SURROGATE"),
        ({"other": 1}, "UNKNOWN_FIELD"),
        (b"[]", "NOT_AN_OBJECT"),
        (b"7", "NOT_AN_OBJECT"),
        (b"", "JSON_SYNTAX"),
        (b"{", "JSON_SYNTAX"),
        (b"\xff", "BROKEN_UTF8"),
        (b'{"task": "t"}', "MISSING_FIELD"),
    ],
    ids=str,
)
def test_a_faulty_line_is_left_out_and_its_neighbours_are_read(change: dict[str, Any] | bytes, code: str) -> None:
    line = change if isinstance(change, bytes) else LINE | change
    rows, numbers, faults = read([LINE, line, LINE | {"id": "b"}])
    assert numbers == ([1, 3] if code else [1, 2, 3])
    assert {found for found, _ in faults} == ({code} if code else set())
    assert all("line 2" in where for _, where in faults)
    if isinstance(line, dict) and not code:
        assert rows[1] == {**dict.fromkeys(SCHEMAS["responses"].names), **line}


def test_every_missing_and_unknown_field_is_named() -> None:
    _, _, faults = read([{"task": "t", "other": 1, "more": 2}])
    assert [code for code, _ in faults].count("UNKNOWN_FIELD") == 2
    assert [code for code, _ in faults].count("MISSING_FIELD") == len({"id", "sample", "response"})
    many = {**LINE, **{f"other-{number}": 1 for number in range(12)}}
    assert len(read([many])[2]) == 8
    assert read([LINE, many, LINE])[1] == [1, 3]


@pytest.mark.parametrize(("allowed", "refused"), [(6, False), (5, True)])
def test_all_files_may_have_as_many_faulty_lines_as_the_limit(allowed: int, refused: bool) -> None:
    lines = [json.dumps(LINE).encode(), b"{", b"[]", json.dumps(LINE | {"sample": "x"}).encode()]
    members = [Member(f"f{n}.jsonl", 0, lambda: BytesIO(b"\n".join(lines))) for n in range(2)]
    limits, faults = replace(LIMITS, faulty_rows=allowed), Collector(LIMITS.faults)
    rows = tables.read_table("responses", members, limits, faults, tables.Budget(limits, 0, None))
    codes = {fault.code: fault.what for fault in faults.all()}
    assert codes.get("TOO_MANY_FAULTY_ROWS") == ("6 in 8 rows" if refused else None)
    assert rows.table.num_rows == 2


@pytest.mark.parametrize("block", [16, 64, 1 << 20])
def test_lines_are_read_whole_however_the_file_is_cut(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK", block)
    lines = [LINE | {"id": str(number), "response": "é" * number} for number in range(20)]
    rows, numbers, faults = read(lines)
    assert ([row["id"] for row in rows], numbers, faults) == ([str(n) for n in range(20)], list(range(1, 21)), [])


@pytest.mark.parametrize("block", [16, 1 << 20])
def test_a_line_may_be_as_long_as_the_limit(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK", block)
    long = json.dumps(LINE | {"response": "x" * 200}).encode()
    assert read([LINE, long], limits=replace(LIMITS, row_bytes=len(long)))[1:] == ([1, 2], [])
    faults = read([LINE, long], limits=replace(LIMITS, row_bytes=len(long) - 1))[2]
    assert faults == [("ROW_TOO_LONG", "f line 2")]


def test_a_line_that_does_not_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK", 16)
    assert code(lambda: read([LINE, b"x" * 10_000], limits=replace(LIMITS, row_bytes=200))) == "ROW_TOO_LONG"


def member(name: str, data: bytes = b"{}") -> Member:
    return Member(name, len(data), lambda: BytesIO(data))


def test_a_file_that_breaks_off_leaves_the_others_to_be_read() -> None:
    def fail() -> BytesIO:
        raise OSError("it is gone")

    faults = Collector(LIMITS.faults)
    parts = [Member("gone.jsonl", 9, fail), member("there.jsonl", json.dumps(LINE).encode())]
    rows = tables.read_table("responses", parts, LIMITS, faults, tables.Budget(LIMITS, 9, None))
    assert rows.table["id"].to_pylist() == ["a"]
    assert [(fault.code, fault.where[:10]) for fault in faults.all()] == [("UNREADABLE_FILE", "gone.jsonl")]


def test_budgets_may_be_spent_to_the_last() -> None:
    budget = tables.Budget(replace(LIMITS, total_bytes=10, rows=4), 10, None)
    budget.spend(6, 2)
    budget.spend(4, 2)
    assert code(lambda: budget.spend(1, 0)) == "TOO_LARGE"
    assert code(lambda: tables.Budget(replace(LIMITS, rows=4), 10, None).spend(0, 5)) == "TOO_MANY_ROWS"


def test_an_object_may_be_as_large_as_the_limit() -> None:
    data = b'{"a": [1]}'
    for part in (member("submission.json", data), Member("submission.json", 3, lambda: BytesIO(data))):  # it grew
        assert tables.read_object(part, len(data), 2) == {"a": [1]}
        assert code(partial(tables.read_object, part, len(data) - 1, 2)) == "TOO_LARGE"
        assert code(partial(tables.read_object, part, len(data), 1)) == "JSON_DEPTH"


def code(call: Callable[[], Any]) -> str:
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
    assert tables.depth(text) == deep


@pytest.mark.parametrize("text", ["[[[1]]]", '[[{"a": 1}]]', "[[[1], [2], [3], [4]]]"])
def test_the_deepest_nesting_itself_is_read(text: str) -> None:
    assert tables.parse(text, 3)
    assert code(lambda: tables.parse(text, 2)) == "JSON_DEPTH"
    assert code(lambda: tables.parse(" " + text, 2)) == "JSON_DEPTH"
    assert code(lambda: tables.parse('{"a": {"b": {}}}', 2)) == "JSON_DEPTH"


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
    assert code(lambda: tables.check_values(value)) == expected
    assert code(lambda: tables.check_values([{"a": [1, value]}])) == expected
    if isinstance(value, str):
        assert code(lambda: tables.check_values({value: 1})) == expected
        assert code(lambda: tables.check_text(value)) == expected
