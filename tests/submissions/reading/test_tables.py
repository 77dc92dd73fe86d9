import io
import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from fairspace.submissions.format.faults import Collector, RefusedError
from fairspace.submissions.format.schema import SCHEMAS
from fairspace.submissions.reading import tables
from fairspace.submissions.reading.containers import LIMITS, Limits, Member
from fairspace.submissions.reading.tables import (
    Budget,
    check_text,
    check_values,
    decode,
    depth,
    parse,
    read_jsonl,
    read_object,
    read_table,
    sort_files,
)

LINE = {"task": "t", "id": "a", "sample": 0, "response": "x"}
FACE = {"task": "t", "id": "a", "sample": 0, "face": 0, "status": "ok"}


def read(
    lines: list[Any], table: str = "responses", limits: Limits = LIMITS
) -> tuple[list[dict[str, Any]], list[int], list[tuple[str, str]]]:
    """Rows, their lines, and codes and places of the faults; a line is a row or raw bytes."""
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
    rows, numbers, faults = read([LINE, LINE | change, LINE | {"id": "b"}])
    assert numbers == ([1, 3] if code else [1, 2, 3])
    assert [found for found, _ in faults] == ([code] if code else [])
    assert all("line 2" in where for _, where in faults)
    if not code:
        assert rows[1] == {**dict.fromkeys(SCHEMAS["responses"].names), **LINE, **change}


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
    _, numbers, faults = read([LINE, line, LINE | {"id": "b"}])
    assert numbers == [1, 3]
    assert faults
    assert all("line 2" in where for _, where in faults)


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
    rows = read_table("responses", members, limits, faults, Budget(limits, 0, None))
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
    with pytest.raises(RefusedError) as raised:
        read([LINE, b"x" * 10_000], limits=replace(LIMITS, row_bytes=200))
    assert raised.value.code == "ROW_TOO_LONG"


def test_a_mark_before_the_first_line_is_refused() -> None:
    with pytest.raises(RefusedError) as raised:
        read([b"\xef\xbb\xbf" + json.dumps(LINE).encode()])
    assert raised.value.code == "BYTE_ORDER_MARK"


ROW = b'{"task": "t", "id": "%d", "sample": 0, "response": "x"}\n'


def member(name: str, data: bytes = b"{}") -> Member:
    return Member(name, len(data), lambda: io.BytesIO(data))


def sorted_files(*names: str) -> tuple[dict[str, list[str]], list[str]]:
    faults = Collector(LIMITS.faults)
    files = sort_files([member(name) for name in names], faults)
    tables = {table: [one.name for one in members] for table, members in files.tables.items()}
    return tables, [fault.code for fault in faults.all()]


def shards(*numbers: int, of: int = 3, table: str = "responses", end: str = "jsonl") -> list[str]:
    return [f"{table}-{number:05d}-of-{of:05d}.{end}" for number in numbers]


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["responses.jsonl"], ""),
        (shards(0, 1, 2), ""),
        (shards(0, of=1), ""),
        (["images.parquet"], ""),
        (shards(0, 1, of=2, table="images", end="parquet"), ""),
        (["images.jsonl"], "UNKNOWN_FILE"),
        (["answers.jsonl"], "UNKNOWN_FILE"),
        (["responses.csv"], "UNKNOWN_FILE"),
        (["more.tar.gz"], "NESTED_ARCHIVE"),
        (shards(0, 1), "SHARDS_INCOMPLETE"),
        (shards(1, 2), "SHARDS_INCOMPLETE"),
        (shards(0, 1, 2, 3), "SHARDS_INCOMPLETE"),
        ([*shards(0, 1, 2), "responses.jsonl"], "SHARDS_INCOMPLETE"),
        ([*shards(0, of=2), *shards(1, of=3)], "SHARDS_INCOMPLETE"),
        (["responses.jsonl", "responses.parquet"], "MIXED_FORMATS"),
        ([*shards(0, of=2), *shards(1, of=2, end="parquet")], "MIXED_FORMATS"),
    ],
    ids=lambda part: part if isinstance(part, str) else " ".join(part),
)
def test_a_table_is_one_file_or_all_of_its_shards(names: list[str], code: str) -> None:
    tables, codes = sorted_files("submission.json", "annotations.jsonl", *names)
    assert codes == ([code] if code else [])
    assert tables.pop("annotations") == ["annotations.jsonl"]
    assert tables == ({} if code else {names[0].split(".")[0].split("-")[0]: names})


def test_a_row_is_found_in_its_file_and_line() -> None:
    parts = [
        member(name, b"".join(ROW % (10 * number + i) for i in range(3)))
        for number, name in enumerate(shards(0, 1, of=2))
    ]
    said: list[tuple[str, int, int]] = []
    budget = Budget(
        LIMITS, sum(part.size for part in parts), lambda what, done, total: said.append((what, done, total))
    )
    rows = read_table("responses", parts, LIMITS, Collector(LIMITS.faults), budget)
    assert rows.table["id"].to_pylist() == ["0", "1", "2", "10", "11", "12"]
    assert [rows.where(row) for row in (0, 2, 3, 5)] == [
        (parts[0].name, "line 1"),
        (parts[0].name, "line 3"),
        (parts[1].name, "line 1"),
        (parts[1].name, "line 3"),
    ]
    assert rows.file_numbers().tolist() == [0, 0, 0, 1, 1, 1]
    assert (budget.rows, budget.done) == (6, budget.total)
    assert said == [
        (f"read {part.name}", size, budget.total)
        for part, size in zip(parts, (parts[0].size, budget.total), strict=True)
    ]


def test_a_file_that_breaks_off_leaves_the_others_to_be_read() -> None:
    def fail() -> io.BytesIO:
        raise OSError("it is gone")

    faults = Collector(LIMITS.faults)
    gone = Member(shards(0, of=2)[0], 9, fail)
    parts = [gone, member(shards(1, of=2)[0], ROW % 7)]
    rows = read_table("responses", parts, LIMITS, faults, Budget(LIMITS, 9, None))
    assert rows.table["id"].to_pylist() == ["7"]
    assert [(fault.code, gone.name in fault.where) for fault in faults.all()] == [("UNREADABLE_FILE", True)]


def test_budgets_may_be_spent_to_the_last() -> None:
    budget = Budget(replace(LIMITS, total_bytes=10, rows=4), 10, None)
    budget.spend(6, 2)
    budget.spend(4, 2)
    with pytest.raises(RefusedError) as bytes_spent:
        budget.spend(1, 0)
    assert bytes_spent.value.code == "TOO_LARGE"
    budget = Budget(replace(LIMITS, rows=4), 10, None)
    with pytest.raises(RefusedError) as rows_spent:
        budget.spend(0, 5)
    assert rows_spent.value.code == "TOO_MANY_ROWS"


def test_an_object_may_be_as_large_as_the_limit() -> None:
    data = b'{"a": [1]}'
    assert read_object(member("submission.json", data), len(data), 2) == {"a": [1]}
    grown = Member("submission.json", 3, lambda: io.BytesIO(data))
    for part, most, deep, code in (
        (member("submission.json", data), len(data) - 1, 2, "TOO_LARGE"),
        (grown, len(data) - 1, 2, "TOO_LARGE"),
        (member("submission.json", data), len(data), 1, "JSON_DEPTH"),
        (member("submission.json", b"[]"), 99, 2, "NOT_AN_OBJECT"),
        (member("submission.json", b'{"a": 1e999}'), 99, 2, "NOT_FINITE"),
    ):
        with pytest.raises(RefusedError) as refused:
            read_object(part, most, deep)
        assert refused.value.code == code
    assert read_object(grown, len(data), 2) == {"a": [1]}


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
