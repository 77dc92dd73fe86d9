"""The files of a submission as the JSON of `submission.json` and as Arrow tables, with a fault for all else.

JSON is strict: no repeated fields, no NaN, no deep nesting, UTF-8 without a mark.
JSONL is read line by line, each row checked against the table's schema, in bounded memory.
"""

import dataclasses
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pyarrow as pa

from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.faults import Collector, RefusedError, show
from fairspace.submissions.format.schema import SCHEMAS
from fairspace.submissions.reading.containers import ARCHIVES, READ_ERRORS, Limits, Member
from fairspace.submissions.reading.parquet import HeaderBudget, names_fit, read_parquet

_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _constant(name: str) -> Any:
    raise RefusedError("NOT_FINITE", f"found {name}", "a finite number or null")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        repeated = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise RefusedError("DUPLICATE_FIELD", f"field {show(repeated)} stands there twice", "every field once")
    return fields


DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)
LOOSE = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=lambda name: _constant(name) if name != "NaN" else None
)
"""Decoder that reads Python's NaN as null."""


def check_start(data: bytes) -> None:
    """Refuse a byte order mark, in UTF-8 or UTF-16."""
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise RefusedError("BYTE_ORDER_MARK", f"starts with the bytes {data[:3].hex(' ')}", "UTF-8 without a mark")


def decode(data: bytes) -> str:
    """The text of UTF-8 bytes. RefusedError: BYTE_ORDER_MARK, BROKEN_UTF8."""
    check_start(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte 0x{data[error.start]:02x} at position {error.start}"
        raise RefusedError("BROKEN_UTF8", problem, "text in UTF-8") from error


def depth(text: str, most: int = sys.maxsize) -> int:
    """Depth of brackets outside strings, or `most` + 1 if deeper; linear in the length of the text."""
    bare = text.replace("\\\\", "").replace('\\"', "")
    outside = "".join(bare.split('"')[::2]).encode("utf-8", "surrogatepass")
    left = outside.translate(_SQUARE, _NO_BRACKETS)
    level = 0
    while left and level <= most:
        inner = left.replace(b"[]", b"")
        if inner == left:  # unclosed brackets
            return level + left.count(b"[")
        left, level = inner, level + 1
    return level


def parse(text: str, limit: int, decoder: json.JSONDecoder = DECODER) -> Any:
    """The JSON value of a text; `limit` is the deepest nesting.

    RefusedError: JSON_SYNTAX, JSON_DEPTH, DUPLICATE_FIELD, NOT_FINITE, HUGE_NUMBER (more digits than Python reads),
    NUL_IN_TEXT (a raw NUL byte).
    """
    if text.count("[") + text.count("{") > limit and depth(text, limit) > limit:
        raise RefusedError("JSON_DEPTH", f"nested more than {limit} deep", "flat JSON")
    try:
        value, end = decoder.raw_decode(text)
        return value if end == len(text) else decoder.decode(text)
    except RefusedError:
        raise
    except json.JSONDecodeError as error:
        return _parse_padded(text, limit, decoder, error)
    except ValueError as error:
        raise RefusedError("HUGE_NUMBER", "a number of thousands of digits", "a number that fits its column") from error


def _parse_padded(text: str, limit: int, decoder: json.JSONDecoder, error: json.JSONDecodeError) -> Any:
    if text[:1] in " \t\r\n" and text.strip(" \t\r\n"):
        return parse(text.strip(" \t\r\n"), limit, decoder)
    if "\x00" in text:
        raise RefusedError("NUL_IN_TEXT", "found a raw NUL byte", "text without NUL") from error
    problem = f"{error.msg} at column {error.colno}" if text.strip(" \t\r\n") else "nothing"
    raise RefusedError("JSON_SYNTAX", problem, "one JSON object") from error


def check_values(value: Any, limit: int = 2**63) -> None:
    """Refuse texts with NUL or half surrogates and infinite numbers at any depth, and integers beyond 64 bits.

    `limit` is that of a value which is an integer itself.
    """
    if isinstance(value, dict):
        check_values([*value, *value.values()])
    elif isinstance(value, list):
        for inner in value:
            check_values(inner)
    elif isinstance(value, str):
        check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise RefusedError("NOT_FINITE", f"found {value} (a number beyond the range)", "a finite number or null")
    elif isinstance(value, int) and not -limit <= value < limit:
        most = "an integer of 64 bits" if limit == 2**63 else "a small number"
        raise RefusedError("HUGE_NUMBER", f"an integer of {value.bit_length()} bits", most)


def check_text(text: str) -> None:
    """Refuse a text with NUL or with half of a surrogate pair."""
    if "\x00" in text:
        raise RefusedError("NUL_IN_TEXT", f"found {show(text)}", "text without NUL")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RefusedError("LONE_SURROGATE", f"found {show(text)}", "whole characters") from error


BLOCK = 1 << 18
_TYPES: dict[str, frozenset[type]] = {
    "string": frozenset({str}),
    "int32": frozenset({int}),
    "double": frozenset({int, float}),
}
_WORDS = {"string": "a text", "int32": "an integer", "double": "a number"}


def read_jsonl(
    stream: IO[bytes],
    name: str,
    schema: tuple[str, pa.Schema],
    limits: Limits,
    faults: Collector,
    advance: Callable[[int, int], None],
) -> Iterator[tuple[pa.Table, Any]]:
    """Yield (rows, their line numbers) of an opened file, some thousand at a time; faulty rows are left out.

    `name` is the file's in faults, and the table's stands in `schema`. `advance` is called with the bytes and lines of
    each block, and raises `RefusedError` to stop.

    RefusedError: ROW_TOO_LONG, BYTE_ORDER_MARK, or those of `advance`. Errors of the stream pass through.
    """
    rows = _Rows(name, *schema, limits, faults)
    first = 1
    for block in _blocks(stream, limits.row_bytes):
        if first == 1:
            check_start(block)
        lines = block.removesuffix(b"\n").split(b"\n")
        advance(len(block), len(lines))
        yield rows.read(lines, block, first)
        first += len(lines)


def _blocks(stream: IO[bytes], longest: int) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read(BLOCK):
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield rest + chunk[:cut]
            rest = chunk[cut:]
        else:
            rest += chunk
        if len(rest) > longest:
            raise RefusedError("ROW_TOO_LONG", f"a line of more than {longest:,} bytes", f"at most {longest:,}")
    if rest:
        yield rest


class _Rows:
    def __init__(self, name: str, table: str, schema: pa.Schema, limits: Limits, faults: Collector):
        self.name, self.table, self.schema, self.limits, self.faults = name, table, schema, limits, faults
        self.columns = tuple(schema.names)
        self.known_shapes: set[tuple[str, ...]] = set()

    def read(self, lines: list[bytes], block: bytes, first: int) -> tuple[pa.Table, Any]:
        if len(block) > self.limits.row_bytes:
            self._note_long(lines, first)
        try:
            texts: list[str | None] = [*decode(block).removesuffix("\n").split("\n")]
        except RefusedError:
            texts = [self._decode(line, number) for number, line in enumerate(lines, first)]
        values, numbers = [], []
        for number, text in enumerate(texts, first):
            row = None if text is None else self._row(text, number)
            if row is not None:
                values.append(row)
                numbers.append(number)
        return self._arrow(values, numbers, nul=b"\\u0000" in block)

    def _row(self, text: str, number: int) -> tuple[Any, ...] | None:
        try:
            row = parse(text, self.limits.depth)
        except RefusedError as refused:
            self.faults.refuse(refused, self.name, f"line {number}")
            return None
        if type(row) is not dict:
            expected = "an object with the table's fields"
            self.faults.add(
                "NOT_AN_OBJECT", self.name, lambda: f"found {show(row)}", expected=expected, place=f"line {number}"
            )
            return None
        shape = tuple(row)
        if shape in self.known_shapes or self._shape_is_good(shape, number):
            return tuple(map(row.get, self.columns))
        return None

    def _note_long(self, lines: list[bytes], first: int) -> None:
        for number, line in enumerate(lines, first):
            if len(line) > self.limits.row_bytes:
                most = f"at most {self.limits.row_bytes:,}"
                self.faults.add(
                    "ROW_TOO_LONG", self.name, f"{len(line):,} bytes", expected=most, place=f"line {number}"
                )

    def _decode(self, line: bytes, number: int) -> str | None:
        try:
            return decode(line)
        except RefusedError as refused:
            self.faults.refuse(refused, self.name, f"line {number}")
            return None

    def _shape_is_good(self, shape: tuple[str, ...], number: int) -> bool:
        """Note unknown and missing fields; good shapes are remembered."""
        good = names_fit(shape, self.table, self.schema, self.faults, self.name, "field", f"line {number}")
        if good and len(self.known_shapes) < 64:
            self.known_shapes.add(shape)
        return good

    def _arrow(self, values: list[tuple[Any, ...]], numbers: list[int], nul: bool) -> tuple[pa.Table, Any]:
        try:
            arrays = self._arrays(values, nul)
        except _Suspicious:
            good = [i for i, row in enumerate(values) if self._row_is_good(row, numbers[i])]
            values, numbers = [values[i] for i in good], [numbers[i] for i in good]
            arrays = self._arrays(values, nul=False)
        return pa.Table.from_arrays(arrays, schema=self.schema), pa.array(numbers, pa.int64())

    def _arrays(self, values: list[tuple[Any, ...]], nul: bool) -> list[pa.Array]:
        """The columns; `_Suspicious` if any value needs a closer look."""
        if nul:
            raise _Suspicious
        arrays = []
        columns = zip(*values, strict=True) if values else [()] * len(self.columns)
        for field, column in zip(self.schema, columns, strict=True):
            kinds = set(map(type, column))
            if not kinds <= _TYPES[str(field.type)] | ({type(None)} if field.nullable else set()):
                raise _Suspicious
            if field.type == pa.float64() and not all(math.isfinite(x) for x in column if x is not None):
                raise _Suspicious
            try:
                arrays.append(pa.array(column, field.type))
            except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
                raise _Suspicious from error
        return arrays

    def _row_is_good(self, row: tuple[Any, ...], number: int) -> bool:
        good = True
        for field, value in zip(self.schema, row, strict=True):
            try:
                _check_value(field, value)
            except RefusedError as refused:
                good = False
                what = f"{field.name}: {refused.what}"
                place = f"line {number}"
                self.faults.add(refused.code, self.name, what, expected=refused.expected, place=place, kind=field.name)
        return good


class _Suspicious(Exception):  # noqa: N818 -- no error: the slow path follows
    """A block with a value beyond the fast path."""


def _check_value(field: pa.Field, value: Any) -> None:
    kind = str(field.type)
    if value is None and not field.nullable:
        raise RefusedError("NULL_VALUE", "found null", _WORDS[kind])
    if value is not None and type(value) not in _TYPES[kind]:
        raise RefusedError("WRONG_TYPE", f"found {show(value)}", _WORDS[kind])
    if isinstance(value, float) and not math.isfinite(value):
        raise RefusedError("NOT_FINITE", "a number beyond the range", "a finite number or null")
    check_values(value, 2**31)


META = "submission.json"
MANIFEST = "manifest.json"
TABLE_FILE = re.compile(
    r"(responses|annotations|judgements|human_labels|images)(?:-(\d{5})-of-(\d{5}))?\.(jsonl|parquet)"
)
FILE_BITS = 40
LINE_BYTES = 120
"""Bytes of a short line of JSONL; longer lines count as several."""
Progress = Callable[[str, int, int], None]
Pieces = Iterator[tuple[pa.Table, Any]]
"""Rows of a file, some thousand at a time, and their line or row numbers."""


@dataclass
class SubmissionFiles:
    """The files of a submission by kind."""

    meta: Member | None = None
    manifest: Member | None = None
    tables: dict[str, list[Member]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Rows:
    """The well-formed rows of one table; `places` holds file number and line (or row) number in one integer per row."""

    table: pa.Table
    places: Any
    files: tuple[str, ...]

    def where(self, row: int) -> tuple[str, str]:
        """File and place of a row, for a fault."""
        name = self.files[int(self.places[row]) >> FILE_BITS]
        unit = "line" if name.endswith((".jsonl", ".ndjson")) else "row"
        return name, f"{unit} {int(self.places[row]) & ((1 << FILE_BITS) - 1)}"

    def file_numbers(self) -> Any:
        """Per row the number of its file."""
        return self.places >> FILE_BITS


def sort_files(members: list[Member], faults: Collector) -> SubmissionFiles:
    """The members by kind; notes unknown, missing and contradicting files."""
    files = SubmissionFiles()
    names = (META, MANIFEST, *(f"{table}.{end}" for table in SCHEMAS for end in ("jsonl", "parquet")), "images.parquet")
    for member in members:
        match = TABLE_FILE.fullmatch(member.name)
        if member.name == META:
            files.meta = member
        elif member.name == MANIFEST:
            files.manifest = member
        elif match and (match[1] != "images" or match[4] == "parquet"):
            files.tables.setdefault(match[1], []).append(member)
        elif member.name.lower().endswith(ARCHIVES):
            expected = "the files themselves"
            faults.add("NESTED_ARCHIVE", member.name, "an archive in the submission", expected=expected)
        else:
            what = f"the file {show(member.name)}{did_you_mean(member.name, names)}"
            faults.add("UNKNOWN_FILE", member.name, what, expected=", ".join(names))
    for table in list(files.tables):
        if not _shards_fit(table, [member.name for member in files.tables[table]], faults):
            del files.tables[table]
    return files


def _shards_fit(table: str, names: list[str], faults: Collector) -> bool:
    matches = [match for name in names if (match := TABLE_FILE.fullmatch(name))]
    if len({match[4] for match in matches}) > 1:
        faults.add("MIXED_FORMATS", table, f"{names[0]} and {names[-1]}", expected=".jsonl or .parquet")
        return False
    if len(matches) == 1 and matches[0][2] is None:
        return True
    totals = {match[3] for match in matches}
    numbers = sorted(int(match[2]) for match in matches if match[2])
    if len(totals) > 1 or None in totals or numbers != list(range(int(matches[0][3]))):
        what = f"{len(names)} files: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}"
        expected = f"{table}-00000-of-0000n to the last one of n, or one file without a number"
        faults.add("SHARDS_INCOMPLETE", table, what, expected=expected)
        return False
    return True


def read_object(member: Member, most: int, depth: int) -> dict[str, Any]:
    """The object in `submission.json` or `manifest.json`, within `most` bytes and `depth` of nesting. RefusedError."""
    if member.size > most:
        raise RefusedError("TOO_LARGE", f"{member.size:,} bytes", f"at most {most:,} bytes")
    try:
        with member.open() as stream:
            data = stream.read(most + 1)
    except READ_ERRORS as error:
        raise unreadable(error) from error
    if len(data) > most:
        raise RefusedError("TOO_LARGE", "it grew while it was read", f"at most {most:,} bytes")
    parsed = parse(decode(data), depth)
    if not isinstance(parsed, dict):
        raise RefusedError("NOT_AN_OBJECT", f"found {show(parsed)}", f"an object with the fields of {member.name}")
    check_values(parsed)
    return parsed


def unreadable(error: Exception) -> RefusedError:
    """A reading's exception as a refusal."""
    return RefusedError("UNREADABLE_FILE", show(str(error)), "a file that can be read")


class Budget:
    """Counters of bytes, rows and header values over all tables, which stop the reading at the limits."""

    def __init__(self, limits: Limits, total: int, progress: Progress | None):
        self.limits, self.total, self.progress = limits, total, progress
        self.headers = HeaderBudget(limits.header_values)
        self.bytes = self.rows = self.lines = self.good = self.done = 0

    def spend_lines(self, count: int, lines: int) -> None:
        """Count a block of JSONL. RefusedError: as `spend`."""
        self.lines += max(lines, count // LINE_BYTES)
        if self.lines > self.limits.lines:
            raise RefusedError("TOO_MANY_ROWS", f"more than {self.limits.lines:,} lines of JSONL", "tables as Parquet")
        self.spend(count, lines)

    def check_faulty(self) -> None:
        """Count the rows that were spent and are not good. RefusedError: TOO_MANY_FAULTY_ROWS."""
        faulty = self.rows - self.good
        if faulty > self.limits.faulty_rows:
            most = f"at most {self.limits.faulty_rows:,}"
            raise RefusedError("TOO_MANY_FAULTY_ROWS", f"{faulty:,} in {self.rows:,} rows", most)

    def spend(self, count: int, rows: int) -> None:
        """Count a block. RefusedError: TOO_LARGE, TOO_MANY_ROWS."""
        self.bytes += count
        self.rows += rows
        if self.bytes > self.limits.total_bytes:
            raise RefusedError(
                "TOO_LARGE", "too many bytes in all tables", f"at most {self.limits.total_bytes:,} bytes"
            )
        if self.rows > self.limits.rows:
            raise RefusedError("TOO_MANY_ROWS", f"more than {self.limits.rows:,} rows", "each item and sample once")

    def report(self, member: Member) -> None:
        """Report the progress of the reading."""
        self.done += member.size
        if self.progress is not None:
            self.progress(f"read {member.name}", self.done, self.total)


def read_table(table: str, members: list[Member], limits: Limits, faults: Collector, budget: Budget) -> Rows:
    """All well-formed rows of one table, over its shards."""
    schema = (table, SCHEMAS[table])

    def pieces(stream: IO[bytes], name: str) -> Pieces:
        if name.endswith(".jsonl"):
            return read_jsonl(stream, name, schema, limits, faults, budget.spend_lines)
        seekable = io.BytesIO(stream.read(limits.member_bytes + 1))
        return read_parquet(seekable, name, schema, limits, faults, budget.spend, headers=budget.headers)

    return read_files(SCHEMAS[table], members, faults, budget, pieces)


def read_files(
    schema: pa.Schema,
    members: list[Member],
    faults: Collector,
    budget: Budget,
    pieces: Callable[[IO[bytes], str], Pieces],
) -> Rows:
    """All well-formed rows of some files; `pieces` yields those of an opened file by its name, with their numbers."""
    tables, places = [schema.empty_table()], [np.zeros(0, np.int64)]
    for number, member in enumerate(members):
        try:
            budget.check_faulty()
            with member.open() as stream:
                for piece, lines in pieces(stream, member.name):
                    budget.good += piece.num_rows
                    budget.check_faulty()
                    tables.append(piece)
                    places.append(np.asarray(lines, np.int64) + (number << FILE_BITS))
        except RefusedError as refused:
            faults.refuse(refused, member.name)
        except READ_ERRORS as error:
            faults.refuse(unreadable(error), member.name)
        budget.report(member)
    return Rows(pa.concat_tables(tables), np.concatenate(places), tuple(member.name for member in members))
