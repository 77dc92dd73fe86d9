"""How large a Parquet file really becomes: its footer may lie about sizes, the headers of its pages cannot.

Footer and page headers are Thrift structs in the compact protocol (parquet-format: FileMetaData, PageHeader). They are
read here, before Arrow opens the file, for two reasons: Arrow allocates what a page header says, whatever the footer
said; and pyarrow's accessors of column metadata end the process on some damaged footers instead of raising.
"""

from __future__ import annotations

import struct
from typing import IO, Any

from fairspace.submissions.format.collector import RefusedError
from fairspace.submissions.reading.limits import Limits

PAGES = 100_000
"""Pages of one file; writers fill about a megabyte into each."""
FOOTER = 4 << 20
"""Bytes of the footer; writers need some hundred for each column of a row group."""
_WINDOWS = (1 << 12, 1 << 20)
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_EXPECTED = "a Parquet file that can be read"
Fields = dict[tuple[int, int], Any]


def check_pages(stream: IO[bytes], limits: Limits) -> None:
    """Refuse a file of too many rows, row groups or pages, or whose pages become too large.

    RefusedError: PARQUET_CORRUPT, TOO_MANY_ROWS, TOO_LARGE.
    """
    footer = _footer(stream)
    groups = _structs(footer, 4)
    rows = [group.get((3, _I64), -1) for group in groups]
    if footer.get((3, _I64), -1) > limits.rows:
        raise RefusedError("TOO_MANY_ROWS", f"{footer[3, _I64]:,} rows", f"at most {limits.rows:,}")
    if len(groups) > limits.row_groups:
        raise RefusedError("TOO_LARGE", f"{len(groups):,} row groups", f"at most {limits.row_groups:,}")
    if min(rows, default=0) < 0 or sum(rows) != footer.get((3, _I64)):
        raise RefusedError("PARQUET_CORRUPT", "row counts that do not add up", _EXPECTED)
    total = pages = 0
    for column in [column for group in groups if group[3, _I64] for column in _structs(group, 1)]:
        at, end = _extent(column.get((3, _STRUCT), {}))
        while at < end:
            size, stored, header = _page(stream, at)
            total, pages, at = total + size, pages + 1, at + header + stored
            if total > limits.member_bytes:
                raise RefusedError("TOO_LARGE", "pages that grow too much", f"at most {limits.member_bytes:,} bytes")
            if pages > PAGES:
                raise RefusedError("TOO_LARGE", f"more than {PAGES:,} pages", f"at most {PAGES:,}")


def _footer(stream: IO[bytes]) -> Fields:
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
    stream.seek(length - 8 - size)
    try:
        return _Compact(stream.read(size)).struct()
    except IndexError as error:
        raise RefusedError("PARQUET_CORRUPT", "a footer that cannot be read", _EXPECTED) from error


def _structs(fields: Fields, number: int) -> list[Fields]:
    """The structs in a list field; none if there is no such field."""
    items = fields.get((number, _LIST), [])
    if not all(isinstance(element, dict) for element in items):
        raise RefusedError("PARQUET_CORRUPT", "a footer whose lists hold no structs", _EXPECTED)
    return list(items)


def _extent(column: Fields) -> tuple[int, int]:
    """Where the pages of a column chunk begin and end."""
    at, dictionary = column.get((9, _I64), -1), column.get((11, _I64), 0)
    size = column.get((7, _I64), -1)
    if min(at, size) < 0:
        raise RefusedError("PARQUET_CORRUPT", "a column without pages", _EXPECTED)
    at = dictionary if 0 < dictionary < at else at
    return at, at + size


def _page(stream: IO[bytes], at: int) -> tuple[int, int, int]:
    """Of the page at an offset: its size after decompression, its size in the file, the length of its header."""
    for window in _WINDOWS:
        stream.seek(at)
        try:
            reader = _Compact(stream.read(window))
            fields = reader.struct()
        except IndexError:
            continue
        size, stored = fields.get((2, _I32), -1), fields.get((3, _I32), -1)
        if size >= 0 and stored >= 0:
            return size, stored, reader.at
        break
    raise RefusedError("PARQUET_CORRUPT", f"no page header at byte {at:,}", _EXPECTED)


class _Compact:
    """Reads Thrift's compact protocol; IndexError where the bytes end or make no sense."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def struct(self, depth: int = 0) -> Fields:
        """The fields of the struct that begins here, by number and type; texts are skipped."""
        fields: Fields = {}
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self._integer()
            if not 0 < number < 2**15:
                raise IndexError("a field number that no struct has")
            kind = header & 15
            fields[number, kind] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > 16:
            raise IndexError("nested too deeply")
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind in (_I16, _I32, _I64):
            return self._integer()
        if kind == _DOUBLE:
            return self._skip(8)
        if kind == _BINARY:
            return self._skip(self._varint())
        if kind in (_LIST, _SET):
            header = self._byte()
            count = header >> 4 if header >> 4 < 15 else self._varint()
            return [self._value(header & 15, depth + 1) for _ in range(self._sane(count))]
        if kind == _MAP:
            count = self._varint()
            kinds = self._byte() if count else 0
            pairs = range(self._sane(count))
            return [(self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1)) for _ in pairs]
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise IndexError("a type that does not exist")

    def _sane(self, count: int) -> int:
        """A count of elements, each of which takes a byte at least."""
        if count > len(self.data) - self.at:
            raise IndexError("more elements than bytes")
        return count

    def _skip(self, length: int) -> None:
        self.at += length
        if self.at > len(self.data):
            raise IndexError("a value longer than the data")

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise IndexError("an integer of more than 64 bits")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
