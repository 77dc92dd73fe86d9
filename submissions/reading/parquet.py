"""One table's Parquet file, some row groups at a time, with checks of types, nulls and sizes before texts grow.

Footer and page headers (Thrift's compact protocol; parquet-format: FileMetaData, PageHeader) are read here before Arrow
opens the file: Arrow allocates the sizes in page headers, whatever the footer says, and pyarrow's accessors of column
metadata end the process on some damaged footers. A budget counts every value read, and pages share no byte.
"""

import struct
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.faults import Collector, RefusedError, show
from fairspace.submissions.format.schema import REQUIRED
from fairspace.submissions.reading.containers import Limits

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, _SET, _MAP, STRUCT = range(1, 13)
Fields = dict[tuple[int, int], Any]
_DEPTH = 16
_NUMBERS = (I16, I32, I64)


class HeaderBudget:
    """Budget of values in the footers and page headers of a submission; each costs about a microsecond."""

    def __init__(self, most: int) -> None:
        self.most = self.left = most

    def spend(self, values: int) -> None:
        """Count some values. RefusedError: TOO_LARGE."""
        self.left -= values
        if self.left < 0:
            what = f"footers and page headers of more than {self.most:,} values"
            raise RefusedError("TOO_LARGE", what, "row groups and pages of thousands of rows, and fewer shards")


class Compact:
    """Reader of structs from `data`, within the budget; IndexError for truncated or senseless bytes."""

    def __init__(self, data: bytes, budget: HeaderBudget) -> None:
        self.data, self.at, self.budget = data, 0, budget

    def struct(self, depth: int = 0) -> Fields:
        """The fields of the next struct by number and type; texts are skipped."""
        fields: Fields = {}
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self._integer()
            if not 0 < number < 2**15:
                raise IndexError("a field number that no struct has")
            kind = header & 15
            fields[number, kind] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth + 1)
        self.budget.spend(len(fields) + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEPTH:
            raise IndexError("nested too deeply")
        if kind in _NUMBERS:
            return self._integer()
        if kind == BINARY:
            return self._skip(self._varint())
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind == LIST:
            return self._list(depth)
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind == DOUBLE:
            return self._skip(8)
        raise IndexError("a type that Parquet does not use")

    def _list(self, depth: int) -> list[Any]:
        header = self._byte()
        count = header >> 4 if header >> 4 < 15 else self._varint()
        if count > len(self.data) - self.at:
            raise IndexError("more elements than bytes")
        self.budget.spend(count)
        return [self._value(header & 15, depth + 1) for _ in range(count)]

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


PAGES = 100_000
"""Pages of one file; writers fill about a megabyte into each."""
FOOTER = 4 << 20
"""Bytes of the footer; writers need some hundred per column of a row group."""
COLUMNS = 64
"""Columns of a file; no table of the format has more than a dozen."""
_WINDOWS = (1 << 9, 1 << 14)
"""Bytes of a page header; the second bound holds the longest text in writers' statistics."""
_PAGE_VALUES = 20
"""Cost of finding a footer or a page, in values."""
_GROUP_VALUES = 100
"""Cost of a row group beside its rows, in values."""
_EXPECTED = "a Parquet file that can be read"


def check_pages(stream: IO[bytes], limits: Limits, budget: HeaderBudget | None = None) -> None:
    """Refuse a file of too many rows, row groups, columns or pages, or with overlapping or too large pages.

    Several files may share a budget; without one `header_values` of the limits holds. RefusedError: PARQUET_CORRUPT,
    TOO_MANY_ROWS, TOO_LARGE.
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
    length, _, head = stream.seek(0, 2), stream.seek(0), stream.read(4)
    stream.seek(max(0, length - 8))
    tail = stream.read(8)
    if length < 12 or {head, tail[4:]} != {b"PAR1"}:
        raise RefusedError("PARQUET_CORRUPT", "a file without the mark PAR1 at both ends", _EXPECTED)
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
    items = fields.get((number, LIST), [])
    if not all(isinstance(element, dict) for element in items):
        raise RefusedError("PARQUET_CORRUPT", "a footer whose lists hold no structs", _EXPECTED)
    return list(items)


def _extents(footer: Fields, groups: list[Fields], most: int) -> list[tuple[int, int]]:
    """Start and end of the pages of each column of each row group; disjoint and before byte `most`."""
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
    at, dictionary = column.get((9, I64), -1), column.get((11, I64), 0)
    size = column.get((7, I64), -1)
    if min(at, size) < 0:
        raise RefusedError("PARQUET_CORRUPT", "a column without pages", _EXPECTED)
    at = dictionary if 0 < dictionary < at else at
    return at, at + size


def _page(stream: IO[bytes], at: int, budget: HeaderBudget) -> tuple[int, int, int]:
    """Decompressed size, size in the file and header length of the page at an offset."""
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


ROWS = 10_000
"""Rows up to which row groups are read together."""
ERRORS = (pa.ArrowException, OSError, ValueError, KeyError, OverflowError)


def read_parquet(
    stream: IO[bytes],
    name: str,
    schema: tuple[str, pa.Schema],
    limits: Limits,
    faults: Collector,
    advance: Callable[[int, int], None],
    beside: Collection[str] = (),
    headers: HeaderBudget | None = None,
) -> Iterator[tuple[pa.Table, Any]]:
    """Yield (rows, their row numbers from 1) of an opened file, some row groups at a time; faulty rows are left out.

    Texts are read as dictionaries, small until their full size is known. Columns `beside` those of the schema are left
    unread; one that does not fit is a fault, and no page is read then. Other arguments and errors as in `read_jsonl`
    and `check_pages`.
    """
    table, wanted = schema
    check_pages(stream, limits, headers)
    opened = _open(stream, [], None)
    metadata = opened.metadata
    if not _check_schema(opened.schema_arrow, name, table, wanted, faults, beside):
        return
    present = [field.name for field in wanted if field.name in metadata.schema.to_arrow_schema().names]
    texts = [column for column in present if wanted.field(column).type == pa.string()]
    file = _open(stream, texts, metadata)
    first = 1
    for groups in _batches(metadata):
        try:
            rows = file.read_row_groups(groups, columns=present, use_threads=False)
        except ERRORS as error:
            raise _corrupt(error) from error
        advance(_spelt_out(rows, limits), rows.num_rows)
        yield _typed(rows, first, name, wanted, faults)
        first += rows.num_rows


def _batches(metadata: pq.FileMetaData) -> Iterator[list[int]]:
    """The row groups in order, small ones together, because each read has a price of its own."""
    batch: list[int] = []
    rows = 0
    for group in range(metadata.num_row_groups):
        more = metadata.row_group(group).num_rows
        if batch and rows + more > ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(group)
        rows += more
    if batch:
        yield batch


def _open(stream: IO[bytes], texts: list[str], metadata: pq.FileMetaData | None) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(
            stream,
            metadata=metadata,
            read_dictionary=texts,
            thrift_string_size_limit=1 << 20,
            thrift_container_size_limit=1 << 20,
        )
    except ERRORS as error:
        raise _corrupt(error) from error


def _corrupt(error: Exception) -> RefusedError:
    return RefusedError("PARQUET_CORRUPT", show(str(error), 160), "a Parquet file that can be read")


def names_fit(
    names: Sequence[str], table: str, wanted: pa.Schema, faults: Collector, file: str, word: str, place: str = ""
) -> bool:
    """Note unknown and missing names of a row's fields, or of columns, as `word` says; whether there was none."""
    columns = wanted.names
    unknown = [name for name in names if name not in columns]
    missing = [name for name in columns if name in REQUIRED[table] and name not in names]
    for name in unknown[:8]:

        def what(name: str = name) -> str:
            hint = "; write it with index=False" if name.startswith("__index") else did_you_mean(name[:64], columns)
            return f"{word} {show(name)}{hint}"

        faults.add("UNKNOWN_FIELD", file, what, expected=", ".join(columns), place=place, kind=name[:64])
    for name in missing:
        faults.add("MISSING_FIELD", file, f"no {name!r}", expected=f"every required {word}", place=place, kind=name)
    return not unknown and not missing


def _check_schema(
    schema: pa.Schema, name: str, table: str, wanted: pa.Schema, faults: Collector, beside: Collection[str]
) -> bool:
    """Note unknown, repeated, missing and wrongly typed columns; whether there was none."""
    good = names_fit([name for name in schema.names if name not in beside], table, wanted, faults, name, "column")
    for field in wanted:
        times = schema.names.count(field.name)
        if times > 1:
            code, what, expected = "DUPLICATE_FIELD", f"{times} times", "every column once"
        elif times == 1 and not _fits(kind := schema.field(field.name).type, field.type):
            code, what, expected = "WRONG_TYPE", f"of type {show(str(kind))}", str(field.type)
        else:
            continue
        faults.add(code, name, f"column {field.name!r} {what}", expected=expected, kind=field.name)
        good = False
    return good


def _fits(kind: pa.DataType, wanted: pa.DataType) -> bool:
    types = pa.types
    if types.is_null(kind):
        return True
    if types.is_dictionary(kind):
        kind = kind.value_type
    if wanted == pa.string():
        return bool(types.is_string(kind) or types.is_large_string(kind) or kind == pa.string_view())
    if wanted == pa.int32():
        return bool(types.is_integer(kind))
    return bool(types.is_floating(kind) or types.is_integer(kind))


def _spelt_out(rows: pa.Table, limits: Limits) -> int:
    """The bytes of a row group without dictionaries. RefusedError: ROW_TOO_LONG, BROKEN_UTF8."""
    total = 0
    for column in rows.columns:
        for chunk in column.chunks:
            total += 8 * len(chunk)
            if pa.types.is_dictionary(chunk.type) and len(chunk.dictionary):
                total += _text_bytes(chunk, limits)
    return total


def _text_bytes(chunk: pa.DictionaryArray, limits: Limits) -> int:
    try:
        chunk.validate(full=True)
        chunk.dictionary.validate(full=True)
    except (pa.ArrowException, IndexError) as error:
        what = show(str(error))
        code = "BROKEN_UTF8" if "UTF8" in str(error) else "PARQUET_CORRUPT"
        raise RefusedError(code, what, "text in UTF-8") from error
    lengths = np.asarray(pc.fill_null(pc.binary_length(chunk.dictionary), 0), np.int64)
    if lengths.max() > limits.row_bytes:
        raise RefusedError("ROW_TOO_LONG", f"a text of {lengths.max():,} bytes", f"at most {limits.row_bytes:,}")
    indices = np.asarray(pc.drop_null(chunk.indices), np.int64)
    return int(lengths[indices].sum())


def _typed(rows: pa.Table, first: int, name: str, wanted: pa.Schema, faults: Collector) -> tuple[pa.Table, Any]:
    good = np.ones(rows.num_rows, bool)
    columns = []
    for field in wanted:
        if field.name not in rows.column_names:
            columns.append(pa.nulls(rows.num_rows, field.type))
            continue
        column, bad = _cast(rows[field.name], field)
        if not field.nullable:
            bad["NULL_VALUE"] = ("null", str(field.type), np.asarray(pc.is_null(column)))
        for code, (what, expected, mask) in bad.items():
            hits = np.flatnonzero(mask)
            if len(hits):
                place, what = f"row {first + hits[0]}", f"{field.name}: {what}"
                faults.add(code, name, what, expected=expected, place=place, kind=field.name, count=len(hits))
                good[hits] = False
        columns.append(column)
    keep = pa.array(good)
    table = pa.table(columns, names=wanted.names).filter(keep).cast(wanted)
    return table, pa.array(np.arange(first, first + rows.num_rows)).filter(keep)


def _cast(column: pa.ChunkedArray, field: pa.Field) -> tuple[pa.ChunkedArray, dict[str, tuple[str, str, Any]]]:
    if field.type == pa.string():
        column = column.cast(pa.string())
        nul = np.asarray(pc.fill_null(pc.match_substring(column, "\0"), False))
        return column, {"NUL_IN_TEXT": ("a text with NUL", "text without NUL", nul)}
    if field.type == pa.int32():
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        bounds = (pa.scalar(-(2**31), pa.int64()), pa.scalar(2**31 - 1, pa.int64()))
        if pa.types.is_uint64(column.type):
            big = pc.greater(column, pa.scalar(2**31 - 1, pa.uint64()))
        else:
            wide = column.cast(pa.int64())
            big = pc.or_(pc.less(wide, bounds[0]), pc.greater(wide, bounds[1]))
        huge = np.asarray(pc.fill_null(big, False))
        narrow = pc.if_else(pa.array(huge), pa.scalar(0, column.type), column).cast(pa.int32())
        return narrow, {"HUGE_NUMBER": ("a number beyond 32 bits", "a small number", huge)}
    column = column.cast(pa.float64(), safe=False)
    odd = np.asarray(pc.fill_null(pc.invert(pc.is_finite(column)), False))
    return column, {"NOT_FINITE": ("NaN or infinite", "a finite number or null", odd)}
