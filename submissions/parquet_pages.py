"""How large the pages of a Parquet file really become: its footer may lie, the headers of its pages cannot.

A page header is a Thrift struct in the compact protocol (parquet-format, PageHeader: field 2 is the size after
decompression, field 3 the size in the file). Arrow allocates what the header says; so the headers are summed first.
"""

from __future__ import annotations

from typing import IO, Any

from submissions.collector import RefusedError

PAGES = 100_000
"""Pages of one file; writers fill about a megabyte into each."""
_WINDOWS = (1 << 12, 1 << 20)
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 12


def check_pages(stream: IO[bytes], metadata: Any, limit: int) -> None:
    """Refuse a file whose pages become more than `limit` bytes. RefusedError: TOO_LARGE, PARQUET_CORRUPT."""
    total = pages = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for number in range(row_group.num_columns if row_group.num_rows else 0):
            column = row_group.column(number)
            at = column.data_page_offset
            if column.has_dictionary_page and 0 < column.dictionary_page_offset < at:
                at = column.dictionary_page_offset
            end = at + column.total_compressed_size
            while at < end:
                size, stored, header = _page(stream, at)
                total, pages, at = total + size, pages + 1, at + header + stored
                if total > limit:
                    raise RefusedError("TOO_LARGE", "pages that grow too much", f"at most {limit:,} bytes")
                if pages > PAGES:
                    raise RefusedError("TOO_LARGE", f"more than {PAGES:,} pages", f"at most {PAGES:,}")


def _page(stream: IO[bytes], at: int) -> tuple[int, int, int]:
    """Of the page at an offset: its size after decompression, its size in the file, the length of its header."""
    for window in _WINDOWS:
        stream.seek(at)
        try:
            reader = _Compact(stream.read(window))
            fields = reader.struct()
        except IndexError:
            continue
        size, stored = fields.get(2, -1), fields.get(3, -1)
        if size >= 0 and stored >= 0:
            return size, stored, reader.at
        break
    raise RefusedError("PARQUET_CORRUPT", f"no page header at byte {at:,}", "a Parquet file that can be read")


class _Compact:
    """Reads Thrift's compact protocol; IndexError where the bytes end or make no sense."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def struct(self, depth: int = 0) -> dict[int, int]:
        """The 32-bit fields of the struct that begins here, by number; the others are skipped."""
        if depth > 8:
            raise IndexError("nested too deeply")
        fields: dict[int, int] = {}
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self._integer()
            if not 0 < number < 2**15:
                raise IndexError("a field number that no header has")
            if header & 15 == _I32:
                fields[number] = self._integer()
            else:
                self._skip(header & 15, depth)
        return fields

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

    def _skip(self, kind: int, depth: int) -> None:
        if kind == _BINARY:
            length = self._varint()
            self.at += length
        elif kind in (_I16, _I64):
            self._varint()
        elif kind in (_BYTE, _DOUBLE):
            self.at += 1 if kind == _BYTE else 8
        elif kind == _STRUCT:
            self.struct(depth + 1)
        elif kind not in (_TRUE, _FALSE):
            raise IndexError("a type that no page header has")
