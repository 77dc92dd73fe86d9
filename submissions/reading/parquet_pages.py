"""How large a Parquet file really becomes: its footer may lie about sizes, the headers of its pages cannot.

Footer and page headers are Thrift structs in the compact protocol (parquet-format: FileMetaData, PageHeader). They are
read here, before Arrow opens the file, for two reasons: Arrow allocates what a page header says, whatever the footer
said; and pyarrow's accessors of column metadata end the process on some damaged footers instead of raising.

What reading them costs is bounded by what was handed in: pages of two columns share no byte, and a budget counts every
value that is read.
"""

from __future__ import annotations

import struct
from typing import IO

from fairspace.submissions.format.collector import RefusedError
from fairspace.submissions.reading.limits import Limits
from fairspace.submissions.reading.thrift import I32, I64, LIST, STRUCT, Compact, Fields, HeaderBudget

PAGES = 100_000
"""Pages of one file; writers fill about a megabyte into each."""
FOOTER = 4 << 20
"""Bytes of the footer; writers need some hundred for each column of a row group."""
COLUMNS = 64
"""Columns of a file; no table of the format has more than a dozen."""
_WINDOWS = (1 << 9, 1 << 14)
"""Bytes in which a page header ends; a longer one holds the longest text that writers copy into its statistics."""
_PAGE_VALUES = 20
"""What finding a footer or a page costs, in values read."""
_GROUP_VALUES = 100
"""What reading a row group costs beside its rows, in values read."""
_EXPECTED = "a Parquet file that can be read"


def check_pages(stream: IO[bytes], limits: Limits, budget: HeaderBudget | None = None) -> None:
    """Refuse a file of too many rows, row groups, columns or pages, or whose pages overlap or become too large.

    Args:
        stream: the file.
        limits: `rows`, `row_groups`, `member_bytes` and, without a budget, `header_values` are used here.
        budget: of the values of footers and page headers, which several files may share.

    RefusedError: PARQUET_CORRUPT, TOO_MANY_ROWS, TOO_LARGE.
    """
    budget = budget or HeaderBudget(limits.header_values)
    budget.spend(_PAGE_VALUES)
    footer, begin = _footer(stream, budget)
    groups = _structs(footer, 4)
    rows = [group.get((3, I64), -1) for group in groups]
    if footer.get((3, I64), -1) > limits.rows:
        raise RefusedError("TOO_MANY_ROWS", f"{footer[3, I64]:,} rows", f"at most {limits.rows:,}")
    if len(groups) > limits.row_groups:
        raise RefusedError("TOO_LARGE", f"{len(groups):,} row groups", f"at most {limits.row_groups:,}")
    if min(rows, default=0) < 0 or sum(rows) != footer.get((3, I64)):
        raise RefusedError("PARQUET_CORRUPT", "row counts that do not add up", _EXPECTED)
    budget.spend(_GROUP_VALUES * len(groups))
    total = pages = 0
    for at, end in _extents(footer, groups, begin):
        while at < end:
            budget.spend(_PAGE_VALUES)
            size, stored, header = _page(stream, at, budget)
            total, pages, at = total + size, pages + 1, at + header + stored
            if total > limits.member_bytes:
                raise RefusedError("TOO_LARGE", "pages that grow too much", f"at most {limits.member_bytes:,} bytes")
            if pages > PAGES:
                raise RefusedError("TOO_LARGE", f"more than {PAGES:,} pages", f"at most {PAGES:,}")


def _footer(stream: IO[bytes], budget: HeaderBudget) -> tuple[Fields, int]:
    """The footer, and where it begins."""
    length = stream.seek(0, 2)
    stream.seek(max(0, length - 8))
    tail = stream.read(8)
    if length < 12 or tail[4:] != b"PAR1":
        raise RefusedError("PARQUET_CORRUPT", "a file without the mark PAR1 at its end", _EXPECTED)
    (size,) = struct.unpack("<I", tail[:4])
    if size > length - 12:
        raise RefusedError("PARQUET_CORRUPT", "a footer longer than the file", _EXPECTED)
    if size > FOOTER:
        raise RefusedError("TOO_LARGE", f"a footer of {size:,} bytes", f"at most {FOOTER:,} bytes")
    begin = stream.seek(length - 8 - size)
    try:
        return Compact(stream.read(size), budget).struct(), begin
    except IndexError as error:
        raise RefusedError("PARQUET_CORRUPT", "a footer that cannot be read", _EXPECTED) from error


def _structs(fields: Fields, number: int) -> list[Fields]:
    """The structs in a list field; none if there is no such field."""
    items = fields.get((number, LIST), [])
    if not all(isinstance(element, dict) for element in items):
        raise RefusedError("PARQUET_CORRUPT", "a footer whose lists hold no structs", _EXPECTED)
    return list(items)


def _extents(footer: Fields, groups: list[Fields], most: int) -> list[tuple[int, int]]:
    """Where the pages of each column of each row group begin and end, none within another, all before byte `most`."""
    leaves = sum(not element.get((5, I32), 0) for element in _structs(footer, 2))
    if leaves > COLUMNS:
        raise RefusedError("TOO_LARGE", f"{leaves:,} columns", f"at most {COLUMNS}")
    extents = []
    for group in groups:
        columns = _structs(group, 1)
        if len(columns) != leaves:
            what = f"a row group of {len(columns):,} columns where the schema has {leaves}"
            raise RefusedError("PARQUET_CORRUPT", what, _EXPECTED)
        if group[3, I64]:
            extents += [_extent(column.get((3, STRUCT), {})) for column in columns]
    extents.sort()
    following = [at for at, _ in extents[1:]] + [most]
    if any(end > start for (_, end), start in zip(extents, following, strict=False)):
        raise RefusedError("PARQUET_CORRUPT", "columns that share bytes, or go beyond the file", _EXPECTED)
    return extents


def _extent(column: Fields) -> tuple[int, int]:
    """Where the pages of a column chunk begin and end."""
    at, dictionary = column.get((9, I64), -1), column.get((11, I64), 0)
    size = column.get((7, I64), -1)
    if min(at, size) < 0:
        raise RefusedError("PARQUET_CORRUPT", "a column without pages", _EXPECTED)
    at = dictionary if 0 < dictionary < at else at
    return at, at + size


def _page(stream: IO[bytes], at: int, budget: HeaderBudget) -> tuple[int, int, int]:
    """Of the page at an offset: its size after decompression, its size in the file, the length of its header."""
    for window in _WINDOWS:
        stream.seek(at)
        try:
            reader = Compact(stream.read(window), budget)
            fields = reader.struct()
        except IndexError:
            continue
        size, stored = fields.get((2, I32), -1), fields.get((3, I32), -1)
        if size >= 0 and stored >= 0:
            return size, stored, reader.at
        break
    raise RefusedError("PARQUET_CORRUPT", f"no page header at byte {at:,}", _EXPECTED)
