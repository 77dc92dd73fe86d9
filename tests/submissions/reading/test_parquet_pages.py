"""The sum of the pages is what Arrow says it is, for every way of writing; broken headers are refused."""

import struct
from dataclasses import replace
from io import BytesIO
from typing import Any

import pyarrow.parquet as pq
import pytest

from fairspace.submissions.format.collector import RefusedError
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.reading.parquet import check_pages
from tests.submissions.sample import tables

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
    """A file of one row group and one column chunk that holds these bytes."""
    chunk = b"\x1c" + b"\x76" + varint(len(pages)) + b"\x26" + varint(at) + b"\x00"
    column = b"\x3c" + chunk[1:] + b"\x00"
    group = b"\x19\x1c" + column + b"\x26" + varint(rows) + b"\x00"
    schema = b"\x29\x2c" + b"\x55\x02\x00" + b"\x00"
    footer = schema + b"\x16" + varint(1) + b"\x19\x1c" + group + b"\x00"
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


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_broken_headers_are_refused(header: bytes) -> None:
    assert code(file(header)) == "PARQUET_CORRUPT"
    assert code(b"PAR1" + header + struct.pack("<I", len(header)) + b"PAR1") == "PARQUET_CORRUPT"


@pytest.mark.parametrize("footer", [b"\x36\x02\x19\x15\x02\x00", b"\x36\x02\x19\x1c\x19\x15\x02\x26\x02\x00\x00"])
def test_lists_without_structs_are_refused(footer: bytes) -> None:
    assert code(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1") == "PARQUET_CORRUPT"


def test_a_column_that_begins_nowhere_is_refused() -> None:
    assert code(file(b"\x15\x00\x15\x00\x15\x00\x00", at=-4)) == "PARQUET_CORRUPT"
    assert code(file(b"\x15\x00\x15\x00\x15\x00\x00", at=1 << 40)) == "PARQUET_CORRUPT"


def test_row_counts_that_do_not_add_up_are_refused() -> None:
    assert code(file(b"", rows=2)) == "PARQUET_CORRUPT"
    assert code(file(b"", rows=-1)) == "PARQUET_CORRUPT"


def test_too_many_pages_are_refused() -> None:
    assert code(file(b"\x15\x00\x15\x00\x15\x00\x00" * 100_001)) == "TOO_LARGE"


def test_a_long_footer_is_refused() -> None:
    footer = bytes(5 << 20)
    assert code(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1") == "TOO_LARGE"


def test_the_sizes_are_read_from_the_header() -> None:
    pages = b"\x15\x00\x15\x14\x15\x06\x00abc"
    check_pages(BytesIO(file(pages)), replace(LIMITS, member_bytes=10))
    assert code(file(pages), member_bytes=9) == "TOO_LARGE"
