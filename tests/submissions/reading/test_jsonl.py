"""Lines of JSONL at the ends of their types, and lines and faults at their limits."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from fairspace.submissions.format.collector import Collector, RefusedError
from fairspace.submissions.format.schema import SCHEMAS
from fairspace.submissions.reading import tables
from fairspace.submissions.reading.limits import LIMITS, Limits
from fairspace.submissions.reading.members import Member
from fairspace.submissions.reading.tables import Budget, read_jsonl, read_table

ROW = {"task": "t", "id": "a", "sample": 0, "response": "x"}
FACE = {"task": "t", "id": "a", "sample": 0, "face": 0, "status": "ok"}


def read(
    lines: list[Any], table: str = "responses", limits: Limits = LIMITS
) -> tuple[list[dict[str, Any]], list[int], list[tuple[str, str]]]:
    """The rows, their lines, and codes and places of the faults. Lines are rows, or bytes as they stand there."""
    faults, data = Collector(LIMITS.faults), b""
    for line in lines:
        data += (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"
    found = list(read_jsonl(BytesIO(data), "f", (table, SCHEMAS[table]), limits, faults, lambda size, rows: None))
    rows = [row for piece, _ in found for row in piece.to_pylist()]
    numbers = [int(number) for _, places in found for number in places.to_pylist()]
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
    ],
    ids=str,
)
def test_a_faulty_line_is_left_out_and_its_neighbours_are_read(change: dict[str, Any], code: str) -> None:
    rows, numbers, faults = read([ROW, ROW | change, ROW | {"id": "b"}])
    assert numbers == ([1, 3] if code else [1, 2, 3])
    assert [found for found, _ in faults] == ([code] if code else [])
    assert all("line 2" in where for _, where in faults)
    if not code:
        assert rows[1] == {**dict.fromkeys(SCHEMAS["responses"].names), **ROW, **change}


@pytest.mark.parametrize(
    ("number", "code"),
    [(0.5, ""), (1, ""), (None, ""), (b"1e999", "NOT_FINITE"), (b"NaN", "NOT_FINITE"), ("1", "WRONG_TYPE")],
)
def test_numbers_are_finite(number: Any, code: str) -> None:
    line = json.dumps(FACE | {"image_quality": "@"}).encode()
    text = number if isinstance(number, bytes) else json.dumps(number).encode()
    rows, numbers, faults = read([FACE, line.replace(b'"@"', text)], "annotations")
    assert numbers == ([1] if code else [1, 2])
    assert [found for found, _ in faults] == ([code] if code else [])
    if not code:
        assert rows[1]["image_quality"] == number


@pytest.mark.parametrize("line", [b"[]", b"7", b"", b"{", b"\xff", b'{"task": "t"}'])
def test_what_is_no_row_is_a_fault(line: bytes) -> None:
    _, numbers, faults = read([ROW, line, ROW | {"id": "b"}])
    assert numbers == [1, 3]
    assert faults
    assert all("line 2" in where for _, where in faults)


def test_every_missing_and_unknown_field_is_named() -> None:
    _, _, faults = read([{"task": "t", "other": 1, "more": 2}])
    assert [code for code, _ in faults].count("UNKNOWN_FIELD") == 2
    assert [code for code, _ in faults].count("MISSING_FIELD") == len({"id", "sample", "response"})
    many = {**ROW, **{f"other-{number}": 1 for number in range(12)}}
    assert len(read([many])[2]) == 8
    assert read([ROW, many, ROW])[1] == [1, 3]


@pytest.mark.parametrize(("allowed", "refused"), [(6, False), (5, True)])
def test_all_files_may_have_as_many_faulty_lines_as_the_limit(allowed: int, refused: bool) -> None:
    lines = [json.dumps(ROW).encode(), b"{", b"[]", json.dumps(ROW | {"sample": "x"}).encode()]
    members = [Member(f"f{n}.jsonl", 0, lambda: BytesIO(b"\n".join(lines))) for n in range(2)]
    limits, faults = replace(LIMITS, faulty_rows=allowed), Collector(LIMITS.faults)
    rows = read_table("responses", members, limits, faults, Budget(limits, 0, None))
    codes = {fault.code: fault.what for fault in faults.all()}
    assert codes.get("TOO_MANY_FAULTY_ROWS") == ("6 in 8 rows" if refused else None)
    assert rows.table.num_rows == 2


@pytest.mark.parametrize("block", [16, 64, 1 << 20])
def test_lines_are_read_whole_however_the_file_is_cut(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK", block)
    lines = [ROW | {"id": str(number), "response": "é" * number} for number in range(20)]
    rows, numbers, faults = read(lines)
    assert ([row["id"] for row in rows], numbers, faults) == ([str(n) for n in range(20)], list(range(1, 21)), [])


@pytest.mark.parametrize("block", [16, 1 << 20])
def test_a_line_may_be_as_long_as_the_limit(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK", block)
    long = json.dumps(ROW | {"response": "x" * 200}).encode()
    assert read([ROW, long], limits=replace(LIMITS, row_bytes=len(long)))[1:] == ([1, 2], [])
    faults = read([ROW, long], limits=replace(LIMITS, row_bytes=len(long) - 1))[2]
    assert faults == [("ROW_TOO_LONG", "f line 2")]


def test_a_line_that_does_not_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK", 16)
    with pytest.raises(RefusedError) as raised:
        read([ROW, b"x" * 10_000], limits=replace(LIMITS, row_bytes=200))
    assert raised.value.code == "ROW_TOO_LONG"


def test_a_mark_before_the_first_line_is_refused() -> None:
    with pytest.raises(RefusedError) as raised:
        read([b"\xef\xbb\xbf" + json.dumps(ROW).encode()])
    assert raised.value.code == "BYTE_ORDER_MARK"
