"""One front door for tables: whatever holds rows, as columns, and these with the types of the format.

Frames, datasets, rows and files of any suffix meet the same conversion, in the library and in the command. A file is
data: bounded in size before and after decompression, never executed. In separated values a cell is missing that is
empty, or holds a word of `MISSING` without quotes; such a text in any other table is a text.
"""

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import Collector, RefusedError, SubmissionError, show
from fairspace.submissions.format.schema import SCHEMAS
from fairspace.submissions.reading.containers import IGNORED, LIMITS, READ_ERRORS, open_container
from fairspace.submissions.reading.parquet import check_pages
from fairspace.submissions.reading.tables import LOOSE, META, TABLE_FILE, Rows, parse

Columns = Mapping[str, Any]
"""Column -> its cells: a sequence, a Series or an Arrow array."""
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")
"""Suffixes of tables, in small or capital letters; each may be followed by `.gz`."""
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
"""Words of other programs for an empty cell of separated values."""


class TableFile(NamedTuple):
    """A table, or one file of it: its name, its columns, and the place of each row (lines from 1, else rows from 0)."""

    name: str
    columns: Columns
    places: Any


def suffix_of(name: str) -> str:
    """The suffix of a table's file in small letters, without `.gz`; '' for any other file."""
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    return suffix if suffix in SUFFIXES and not name.startswith((".", "_")) else ""


def is_table(path: Path) -> bool:
    """Whether a path is a file other than a zip, or a folder of the part files that Spark and datasets write."""
    if not path.is_dir():
        return bool(suffix_of(path.name)) or (path.is_file() and path.suffix.lower() not in ("", ".zip"))
    names = {each.name for each in path.iterdir() if each.name[0] not in "._"} - {*IGNORED}
    return bool(names) and all(suffix_of(name) and name != META and not TABLE_FILE.fullmatch(name) for name in names)


def parts_of(answers: Any, name: str, split: str = "") -> list[TableFile]:
    """The parts of a table in memory, a file, or a folder of files. UsageError; SubmissionError for a damaged file."""
    if not isinstance(answers, Path):
        return [_part(name, columns_of(answers, name, split))]
    if not answers.is_dir():
        return [_read(answers.name, lambda: answers.open("rb"))]
    faults = Collector(LIMITS.faults)
    with open_container(answers, LIMITS, faults) as members:
        parts = [_read(member.name, member.open) for member in members if suffix_of(member.name)]
    if faults.all():
        raise SubmissionError(list(faults.all()))
    return parts


def columns_of(part: Any, place: str, split: str = "") -> Columns:
    """Column -> cells of a frame, dataset, Arrow table, mapping of columns, or rows. UsageError for another thing."""
    if isinstance(part, Mapping) and part and all(hasattr(each, "with_format") for each in part.values()):
        if split not in part and len(part) > 1:
            columns = ", ".join(map(str, part))
            raise UsageError(f"{place} has the splits {columns}. Name one of them with split=, not {split!r}.")
        part = part[split] if split in part else next(iter(part.values()))
    if hasattr(part, "iloc"):  # a data frame of pandas; its index may hold the ids
        part = part.reset_index() if any(name is not None for name in part.index.names) else part
        return _named(part.columns, [part.iloc[:, column] for column in range(part.shape[1])], place)
    if isinstance(part, Mapping):
        return {name: list(cells.values()) if isinstance(cells, Mapping) else cells for name, cells in part.items()}
    if hasattr(part, "collect_schema") and hasattr(part, "collect"):  # a lazy frame of polars
        part = part.collect()
    if hasattr(part, "with_format"):  # a Dataset, or a stream of one
        part = part.with_format("arrow")[:] if hasattr(part, "__len__") else part.with_format(None)
    if hasattr(part, "__arrow_c_stream__"):  # Arrow, polars and others
        table = pa.table(part)
        return _named(table.column_names, table.columns, place)
    if isinstance(part, Iterable) and not isinstance(part, str | bytes):
        return _of_rows(list(part), place)
    expected = "a data frame, a Dataset, a list of dicts, a file, a folder, or what fs.run returned"
    raise UsageError(f"The answers are {type(part).__name__}. Expected: {expected}.")


def _named(names: Iterable[Any], columns: Sequence[Any], place: str) -> Columns:
    names = [str(name) for name in names]
    if twice := [name for name in names if name.strip() and names.count(name) > 1]:
        raise UsageError(f"{place} has {names.count(twice[0])} columns {twice[0]!r}. Keep one of them.")
    return dict(zip(names, columns, strict=True))


def _of_rows(rows: Sequence[Any], place: str) -> Columns:
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise UsageError(f"Row {number} of {place} is {show(row)}. Expected: a dict with id and response.")
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}


def _part(name: str, columns: Columns, places: Any = None) -> TableFile:
    rows = max(map(len, columns.values()), default=0)
    return TableFile(name, columns, np.arange(rows) if places is None else places)


def _read(name: str, opened: Callable[[], Any]) -> TableFile:
    suffix, most = suffix_of(name), LIMITS.member_bytes
    try:
        with opened() as raw:
            data = (gzip.GzipFile(fileobj=raw) if name.lower().endswith(".gz") else raw).read(most + 1)
        if len(data) > most:
            raise RefusedError("TOO_LARGE", f"more than {most:,} bytes", f"at most {most:,} bytes, unpacked")
        if suffix == ".parquet":
            check_pages(io.BytesIO(data), LIMITS)
            table = pq.ParquetFile(io.BytesIO(data)).read()
            return _part(name, _named(table.column_names, table.columns, name))
        data = _utf8(data)
        return _part(name, _separated(data, name)) if suffix in (".csv", ".tsv") else _json(data.decode(), name)
    except RefusedError as refused:
        faults = Collector(1)
        faults.refuse(refused, name)
        raise SubmissionError(list(faults.all())) from refused
    except (*READ_ERRORS, pa.ArrowException) as error:
        raise UsageError(f"{name} cannot be read: {show(str(error), 200)}") from error


def _utf8(data: bytes) -> bytes:
    """The bytes as UTF-8 without a mark; UTF-16 is known by its mark. RefusedError: BROKEN_UTF8."""
    try:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return data.decode("utf-16").encode()
        data = data.removeprefix(b"\xef\xbb\xbf")
        data.decode()
    except UnicodeError as error:
        line = data.count(b"\n", 0, getattr(error, "start", 0)) + 1
        expected = "UTF-8, or a frame: for a file from Windows pandas.read_csv(FILE, encoding='cp1252')"
        raise RefusedError("BROKEN_UTF8", f"a byte in line {line} that is not UTF-8", expected) from error
    if b"\0" in data[:4]:
        raise RefusedError("BROKEN_UTF8", "NUL bytes, as in UTF-16 without its mark", "UTF-8")
    return data


def _separated(data: bytes, name: str) -> Columns:
    """The cells as texts, None where missing; the header tells the separator. RefusedError: UNREADABLE_FILE."""
    head = data.lstrip(b"\r\n").splitlines()[0].decode() if data.strip() else ""
    if not head:
        return {}
    sign = max("\t,;|" if suffix_of(name) == ".tsv" else ",;\t|", key=head.count)
    texts = dict.fromkeys(next(csv.reader([head], delimiter=sign)), pa.string())
    try:
        table = pv.read_csv(
            io.BytesIO(data),
            pv.ReadOptions(block_size=len(data) + 1),
            pv.ParseOptions(delimiter=sign, newlines_in_values=True),
            pv.ConvertOptions(
                column_types=texts, null_values=MISSING, strings_can_be_null=True, quoted_strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        expected = f"as many cells, separated by {sign!r}, in every row; quotes around a cell that holds one"
        raise RefusedError("UNREADABLE_FILE", show(str(error), 200), expected) from error
    cells = [pc.if_else(pc.equal(column, ""), None, column) for column in table.columns]
    return _named(table.column_names, cells, name)


def _json(text: str, name: str) -> TableFile:
    """An array of rows, an object of columns, or a row in each line, whatever the suffix says. RefusedError."""
    body, depth = text.strip(), LIMITS.depth
    first, _, more = body.partition("\n")
    if first[:1] == "[" or first.strip() == "{" or not more:
        whole = parse(body, depth, LOOSE)
        if isinstance(whole, dict) and all(isinstance(cells, list | dict) for cells in whole.values()):
            return _part(name, columns_of(whole, name))
        return _part(name, _of_rows(whole if isinstance(whole, list) else [whole], name))
    rows, places = [], []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                rows.append(parse(line, depth, LOOSE))
                places.append(number)
        except RefusedError as refused:
            raise RefusedError(refused.code, f"line {number}: {refused.what}", refused.expected) from refused
    return _part(name, _of_rows(rows, name), np.array(places, np.int64))


def typed(table: str, part: TableFile, faults: Collector) -> Rows:
    """The rows with the types of the table's schema; notes values that do not fit, and missing ones of a key."""
    arrays = []
    for field in SCHEMAS[table]:
        cells = part.columns.get(field.name)
        wrong: list[int] = []
        array = pa.nulls(len(part.places), field.type) if cells is None else cast(cells, field.type)
        if array is None:
            converted, wrong = _converted(listed(cells), _KINDS[str(field.type)][0])
            array = pa.array(converted, field.type)
        null = [] if field.nullable else [*{*np.flatnonzero(np.asarray(pc.is_null(array))).tolist()} - {*wrong}]
        for code, rows in (("WRONG_TYPE", wrong), ("NULL_VALUE", sorted(null))):
            if rows:
                what = f"{field.name} {show(None if cells is None else listed(cells)[rows[0]])}"
                place = Rows(pa.table({}), part.places, (part.name,)).where(rows[0])[1]
                about = {"expected": _KINDS[str(field.type)][1], "place": place, "kind": field.name, "count": len(rows)}
                faults.add(code, part.name, what, **about)
        arrays.append(array if field.nullable else pc.fill_null(array, "" if field.type == pa.string() else 0))
    return Rows(pa.table(arrays, schema=SCHEMAS[table]), part.places, (part.name,))


def cast(cells: Any, kind: pa.DataType) -> Any:
    """The cells as an array of this type; None if one of them needs a closer look."""
    types = pa.types
    try:
        array = cells if isinstance(cells, pa.Array | pa.ChunkedArray) else pa.array(cells, from_pandas=True)
        if types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        is_text = types.is_string(array.type) or types.is_large_string(array.type) or array.type == pa.string_view()
        if array.null_count == len(array):
            return pa.nulls(len(array), kind)
        if types.is_floating(array.type) and kind != pa.string():
            array = pc.if_else(pc.is_nan(array), None, array)
        elif not is_text and not types.is_integer(array.type):
            return None
        array = array.cast(kind)
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return None
    return None if kind == pa.string() and pc.any(pc.match_substring(array, "\0")).as_py() else array


def listed(cells: Any) -> list[Any]:
    """The cells of a column, whatever holds them, as a list."""
    name = next((name for name in ("to_pylist", "tolist", "to_list") if hasattr(cells, name)), "")
    return list(getattr(cells, name)() if name else cells)


def _converted(values: Sequence[Any], convert: Callable[[Any], Any]) -> tuple[list[Any], list[int]]:
    """The converted values (None if missing), and the rows of values that do not fit."""
    import pandas as pd

    converted, wrong = [], []
    for row, value in enumerate(values):
        try:
            converted.append(None if pd.isna(value) is True else convert(value))
        except (TypeError, ValueError, OverflowError):
            converted.append(None)
            wrong.append(row)
    return converted, wrong


def _text(value: Any) -> str:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float | np.floating) and value == int(value):  # integers of a column with missing cells
        return str(int(value))
    if not isinstance(value, str):
        raise TypeError
    return value.replace("\0", "").encode("utf-8", "replace").decode()


def _integer(value: Any) -> int:
    number = float(value)
    if isinstance(value, bool) or number != int(number) or not -(2**31) <= number < 2**31:
        raise ValueError
    return int(number)


_KINDS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "string": (_text, "a text, or None"),
    "int32": (_integer, "a whole number"),
    "double": (float, "a number, or None"),
}
