"""One table's Parquet file, some row groups at a time: types, nulls and sizes are checked before texts grow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.format.schema import REQUIRED
from fairspace.submissions.reading.limits import Limits
from fairspace.submissions.reading.parquet_pages import check_pages
from fairspace.submissions.reading.thrift import HeaderBudget

ROWS = 10_000
"""Rows up to which row groups are read together."""
ERRORS = (pa.ArrowException, OSError, ValueError, KeyError, OverflowError)
"""What reading a damaged Parquet file can raise."""


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

    Texts are read as dictionaries, so that a file of one repeated text stays small until its full size is known.
    Columns `beside` those of the schema are left unread; `headers` is the budget of `check_pages`. Other arguments and
    errors are those of `read_jsonl`; also PARQUET_CORRUPT, TOO_MANY_ROWS, TOO_LARGE.
    """
    _, wanted = schema
    metadata = check_parquet(stream, name, schema, limits, faults, beside, headers)
    if metadata is None:
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


def check_parquet(
    stream: IO[bytes],
    name: str,
    schema: tuple[str, pa.Schema],
    limits: Limits,
    faults: Collector,
    beside: Collection[str] = (),
    headers: HeaderBudget | None = None,
) -> pq.FileMetaData | None:
    """What a file says of itself if its sizes and columns fit; None with a fault for each column that does not.

    Arguments and errors are those of `read_parquet`; no page is read.
    """
    table, wanted = schema
    check_pages(stream, limits, headers)
    file = _open(stream, [], None)
    return file.metadata if _check_schema(file.schema_arrow, name, table, wanted, faults, beside) else None


def _batches(metadata: pq.FileMetaData) -> Iterator[list[int]]:
    """The row groups in order, small ones together: each read has a price of its own."""
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


def _check_schema(
    schema: pa.Schema, name: str, table: str, wanted: pa.Schema, faults: Collector, beside: Collection[str]
) -> bool:
    """Note unknown, repeated, missing and wrongly typed columns; whether there was none."""
    good = True
    for column in [field for field in schema.names if field not in wanted.names and field not in beside][:8]:
        hint = "; write it with index=False" if column.startswith("__index") else did_you_mean(column, wanted.names)
        what = f"column {show(column)}{hint}"
        faults.add("UNKNOWN_FIELD", name, what, expected=", ".join(wanted.names), kind=column)
        good = False
    for field in wanted:
        times = schema.names.count(field.name)
        if times > 1:
            what = f"column {field.name!r} {times} times"
            faults.add("DUPLICATE_FIELD", name, what, expected="every column once", kind=field.name)
            good = False
        elif times == 0 and field.name in REQUIRED[table]:
            faults.add("MISSING_FIELD", name, f"no {field.name!r}", expected="every required column", kind=field.name)
            good = False
        elif times == 1 and not _fits(schema.field(field.name).type, field.type):
            what = f"column {field.name!r} of type {show(str(schema.field(field.name).type))}"
            faults.add("WRONG_TYPE", name, what, expected=str(field.type), kind=field.name)
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
    """The bytes of a row group once its dictionaries are spelt out. RefusedError: ROW_TOO_LONG, BROKEN_UTF8."""
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
    """The good rows with the table's types, and their numbers."""
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
    """A column in its schema's type (null where that fails), and masks of the rows that do not fit."""
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
