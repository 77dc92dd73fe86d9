import struct
from contextlib import nullcontext
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.submissions.format.faults import Collector, RefusedError
from fairspace.submissions.format.schema import SCHEMAS
from fairspace.submissions.reading.containers import LIMITS, Limits
from fairspace.submissions.reading.parquet import PAGES, check_pages, read_parquet
from tests.submissions.sample import tables

RESPONSES = {"task": ["t"] * 4, "id": ["a", "b", "c", "d"], "response": ["w", "x", None, "z"]}


def read(
    columns: dict[str, Any] | pa.Table, table: str = "responses", limits: Limits = LIMITS, **how: Any
) -> tuple[pa.Table, list[int], list[tuple[str, str]], list[tuple[int, int]]]:
    """Rows, their numbers, codes and places of the faults, and the spent budget."""
    stream, faults = BytesIO(), Collector(LIMITS.faults)
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), stream, **how)
    spent: list[tuple[int, int]] = []
    pieces = list(
        read_parquet(
            stream, "f", (table, SCHEMAS[table]), limits, faults, lambda size, rows: spent.append((size, rows))
        )
    )
    rows = pa.concat_tables([SCHEMAS[table].empty_table(), *(piece for piece, _ in pieces)])
    numbers = [int(number) for _, places in pieces for number in places.to_pylist()]
    return rows, numbers, [(fault.code, fault.where) for fault in faults.all()], spent


@pytest.mark.parametrize(
    ("kind", "numbers", "good"),
    [
        (pa.int64(), [-(2**31), 2**31 - 1, 2**31, -(2**31) - 1], 2),
        (pa.uint64(), [0, 2**31 - 1, 2**31, 2**64 - 1], 2),
        (pa.uint32(), [0, 2**31 - 1, 2**31, 2**32 - 1], 2),
        (pa.int8(), [-128, 127, 0, 1], 4),
    ],
    ids=str,
)
def test_integers_of_32_bits_are_read_whatever_their_column(kind: pa.DataType, numbers: list[int], good: int) -> None:
    rows, places, faults, _ = read(RESPONSES | {"sample": pa.array(numbers, kind)})
    assert rows["sample"].to_pylist() == numbers[:good]
    assert places == list(range(1, good + 1))
    assert [code for code, _ in faults] == (["HUGE_NUMBER"] if good < 4 else [])
    assert all("row 3" in where for _, where in faults)


@pytest.mark.parametrize(("together", "reads"), [(3, [2, 2]), (4, [4])])
def test_numbers_of_rows_go_on_over_row_groups_and_nulls_are_no_numbers(
    together: int, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairspace.submissions.reading.parquet.ROWS", together)
    sample = pa.array([0, None, 2**40, 3], pa.int64())
    rows, places, faults, spent = read(RESPONSES | {"sample": sample}, row_group_size=2)
    assert rows["id"].to_pylist() == ["a", "d"]
    assert places == [1, 4]
    assert {code for code, _ in faults} == {"NULL_VALUE", "HUGE_NUMBER"}
    assert [number for _, number in spent] == reads


def test_what_a_row_group_costs_is_its_texts_spelt_out() -> None:
    """Eight bytes a row and column, and each text as often as it stands there; nulls have none."""
    columns = {
        "task": ["t"] * 4,
        "id": ["aa", "aa", "aa", "b"],
        "sample": [0, 1, 2, 0],
        "response": ["x", None, None, "é"],
    }
    spent = read(columns)[3]
    assert spent == [(4 * 4 * 8 + 4 * 1 + 3 * 2 + 1 + 1 + 2, 4)]


@pytest.mark.parametrize(("most", "refused"), [(5, False), (4, True)])
def test_a_text_may_be_as_long_as_a_row(most: int, refused: bool) -> None:
    columns = RESPONSES | {"sample": [0] * 4, "response": ["12345", "é", None, ""]}
    with pytest.raises(RefusedError, match="a text of 5 bytes") if refused else nullcontext():
        assert read(columns, limits=replace(LIMITS, row_bytes=most))[0].num_rows == 4


def test_numbers_that_are_none_and_texts_with_nul_leave_their_rows_out() -> None:
    annotations = {
        "task": ["t"] * 4,
        "id": ["a", "b", "c", "d"],
        "sample": [0] * 4,
        "face": [0] * 4,
        "status": ["ok"] * 4,
        "image_quality": [0.5, np.nan, np.inf, None],
    }
    rows, places, faults, _ = read(annotations, "annotations")
    assert rows["image_quality"].to_pylist() == [0.5, None]
    assert places == [1, 4]
    assert [code for code, _ in faults] == ["NOT_FINITE"]
    _, places, faults, _ = read(RESPONSES | {"sample": [0] * 4, "response": ["a", "b\0", None, "\0"]})
    assert places == [1, 3]
    assert [code for code, _ in faults] == ["NUL_IN_TEXT"]


def test_each_unknown_column_is_named_however_long() -> None:
    columns = {"task": ["t"], "id": ["a"], "sample": [0], "response": ["x"], "y" * 64: [1], "z" * 100: [1]}
    assert [code for code, _ in read(columns)[2]] == ["UNKNOWN_FIELD"] * 2


WAYS: list[dict[str, Any]] = [
    *({"compression": name} for name in ("none", "snappy", "gzip", "brotli", "zstd", "lz4")),
    {"data_page_version": "2.0"},
    {"use_dictionary": False},
    {"write_page_index": True, "write_page_checksum": True},
    {"store_schema": False, "use_compliant_nested_type": False},
    {"sorting_columns": [pq.SortingColumn(1)], "use_deprecated_int96_timestamps": True},
    {"write_statistics": False, "version": "1.0"},
    {"data_page_size": 64, "row_group_size": 7},
    {"column_encoding": {"id": "DELTA_BYTE_ARRAY", "sample": "DELTA_BINARY_PACKED"}, "use_dictionary": False},
]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_pages_add_up_however_they_were_written(way: dict[str, Any]) -> None:
    buffer = BytesIO()
    pq.write_table(tables()["responses"], buffer, **way)
    metadata = pq.ParquetFile(buffer).metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    said = sum(group.column(i).total_uncompressed_size for group in groups for i in range(group.num_columns))
    check_pages(buffer, replace(LIMITS, member_bytes=said))
    pages = sum(group.num_columns for group in groups)
    assert code(buffer.getvalue(), member_bytes=(said - 200 * pages) // 2) == "TOO_LARGE"
    assert code(buffer.getvalue(), rows=10) == "TOO_MANY_ROWS"
    assert code(buffer.getvalue(), row_groups=0) == "TOO_LARGE"


@pytest.mark.parametrize(
    "way",
    [
        {"row_group_size": 1, "data_page_version": "2.0"},
        {"write_batch_size": 1, "data_page_size": 1, "dictionary_pagesize_limit": 1},
        {"use_dictionary": False, "compression": "none"},
    ],
    ids=str,
)
def test_no_way_of_writing_is_beyond_the_budget_of_headers(way: dict[str, Any]) -> None:
    """Row groups and pages of one row, and statistics of texts that are as long as pyarrow copies them."""
    table = tables()["responses"].slice(0, 16)
    table = table.set_column(table.column_names.index("response"), "response", [["a" * 4096, "b" * 4096] * 8])
    buffer = BytesIO()
    pq.write_table(table, buffer, write_page_index=True, **way)
    check_pages(buffer, LIMITS.of_zip(buffer.tell()))


def code(data: bytes, **limits: int) -> str:
    with pytest.raises(RefusedError) as refused:
        check_pages(BytesIO(data), replace(LIMITS, **limits))
    return refused.value.code


def file(pages: bytes, at: int = 4, rows: int = 1) -> bytes:
    """A file of one row group and one column chunk with these bytes."""
    chunk = b"\x1c" + b"\x76" + varint(len(pages)) + b"\x26" + varint(at) + b"\x00"
    column = b"\x3c" + chunk[1:] + b"\x00"
    group = b"\x19\x1c" + column + b"\x26" + varint(rows) + b"\x00"
    schema = b"\x29\x2c" + b"\x55\x02\x00" + b"\x00"
    return with_footer(schema + b"\x16" + varint(1) + b"\x19\x1c" + group + b"\x00", pages)


def with_footer(footer: bytes, pages: bytes = b"") -> bytes:
    return b"PAR1" + pages + footer + struct.pack("<I", len(footer)) + b"PAR1"


def varint(number: int) -> bytes:
    value, parts = number << 1 if number >= 0 else -2 * number - 1, bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


HEADERS = {
    "empty": b"\x00",
    "cut": b"\x15\x00\x15\x02\x15",
    "negative size": b"\x15\x00\x15\x01\x15\x02\x00",
    "64 bits": b"\x15\x00\x16\x02\x15\x02\x00",
    "field 65536": b"\x05\x80\x80\x08\x02\x15\x02\x00",
    "endless": b"\x15" + b"\xff" * 12,
    "unknown type": b"\x1d\x00",
    "deep": b"\x1c" * 20,
    "deep lists": b"\x19" * 40,
    "deep structs that end": b"\x1c" * 5_000 + bytes(5_001),
    "deep lists that end": b"\x19" + b"\x19" * 5_000 + bytes(5_001),
    "deep maps that end": b"\x1b" + b"\x01\xbb" * 5_000 + bytes(5_001),
    "long text": b"\x18\xff\xff\xff\x7f",
    "long list": b"\x19\xf5\xff\xff\xff\x7f",
    "long map": b"\x1b\xff\xff\xff\x7f\x55",
}
PAGE = b"\x15\x00\x15\x00\x15\x00\x00"
BROKEN = {
    **{f"page header: {name}": file(header) for name, header in HEADERS.items()},
    **{f"footer: {name}": with_footer(header) for name, header in HEADERS.items()},
    "a list without structs": with_footer(b"\x36\x02\x19\x15\x02\x00"),
    "a list in a list without structs": with_footer(b"\x36\x02\x19\x1c\x19\x15\x02\x26\x02\x00\x00"),
    "a column that begins before the file": file(PAGE, at=-4),
    "a column that begins behind the file": file(PAGE, at=1 << 40),
    "more rows in a group than in the file": file(b"", rows=2),
    "fewer rows than none": file(b"", rows=-1),
}
TOO_LARGE = {"too many pages": file(PAGE * (PAGES + 1)), "a long footer": with_footer(bytes(5 << 20))}


@pytest.mark.parametrize("name", [*BROKEN, *TOO_LARGE])
def test_broken_and_too_large_headers_are_refused(name: str) -> None:
    assert code((BROKEN | TOO_LARGE)[name]) == ("PARQUET_CORRUPT" if name in BROKEN else "TOO_LARGE")


def test_the_sizes_are_read_from_the_header() -> None:
    pages = b"\x15\x00\x15\x14\x15\x06\x00abc"
    check_pages(BytesIO(file(pages)), replace(LIMITS, member_bytes=10))
    assert code(file(pages), member_bytes=9) == "TOO_LARGE"
