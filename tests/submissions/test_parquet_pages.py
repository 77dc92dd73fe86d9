"""The sum of the pages is what Arrow says it is, for every way of writing; broken headers are refused."""

from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from submissions.collector import RefusedError
from submissions.parquet_pages import check_pages
from tests.submissions.sample import tables

WAYS: list[dict[str, Any]] = [
    *({"compression": name} for name in ("none", "snappy", "gzip", "brotli", "zstd", "lz4")),
    {"data_page_version": "2.0"},
    {"use_dictionary": False},
    {"write_page_index": True, "write_page_checksum": True},
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
    check_pages(buffer, metadata, said)
    pages = sum(group.num_columns for group in groups)
    with pytest.raises(RefusedError) as refused:
        check_pages(buffer, metadata, (said - 200 * pages) // 2)
    assert refused.value.code == "TOO_LARGE"


def metadata(length: int) -> Any:
    """One column chunk of that many bytes from byte 0."""
    column = SimpleNamespace(data_page_offset=0, has_dictionary_page=False, total_compressed_size=length)
    group = SimpleNamespace(num_rows=1, num_columns=1, column=lambda number: column)
    return SimpleNamespace(num_row_groups=1, row_group=lambda number: group)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\x00",
        b"\x15\x00\x15\x02\x15",
        b"\x15\x00\x15\x01\x15\x02\x00",
        b"\x15\x00\x16\x02\x15\x02\x00",
        b"\x05\x80\x80\x08\x02\x15\x02\x00",
        b"\x15" + b"\xff" * 12,
        b"\x1d\x00",
        b"\x1c" * 20,
        b"\x18\xff\xff\xff\x7f",
    ],
    ids=[
        "nothing",
        "empty",
        "cut",
        "negative size",
        "64 bits",
        "field 65536",
        "endless",
        "unknown type",
        "deep",
        "long",
    ],
)
def test_broken_headers_are_refused(header: bytes) -> None:
    with pytest.raises(RefusedError) as refused:
        check_pages(BytesIO(header), metadata(100), 1000)
    assert refused.value.code == "PARQUET_CORRUPT"


def test_too_many_pages_are_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        check_pages(BytesIO(b"\x15\x00\x15\x00\x15\x00\x00" * 100_001), metadata(700_007), 1000)
    assert "pages" in refused.value.what


def test_the_sizes_are_read_from_the_header() -> None:
    header = b"\x15\x00\x15\x14\x15\x06\x00"
    check_pages(BytesIO(header + b"abc"), metadata(10), 10)
    with pytest.raises(RefusedError, match="grow"):
        check_pages(BytesIO(header + b"abc"), metadata(10), 9)
