"""Which files make a table, budgets at their limits, and the place of a row."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from fairspace.submissions.format.collector import Collector, RefusedError
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.reading.members import Member
from fairspace.submissions.reading.tables import Budget, read_object, read_table, sort_files

ROW = b'{"task": "t", "id": "%d", "sample": 0, "response": "x"}\n'


def member(name: str, data: bytes = b"{}") -> Member:
    return Member(name, len(data), lambda: io.BytesIO(data))


def sorted_files(*names: str) -> tuple[dict[str, list[str]], list[str]]:
    """Table -> its files, and the codes of the faults."""
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


def test_a_fault_of_formats_names_a_file_of_each() -> None:
    faults = Collector(LIMITS.faults)
    sort_files([member("responses.jsonl"), member("responses.parquet")], faults)
    (fault,) = faults.all()
    assert "responses.jsonl and responses.parquet" in fault.what


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
