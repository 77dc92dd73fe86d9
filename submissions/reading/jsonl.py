"""One table's JSONL file, line by line: every row strictly checked against the table's schema, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import IO, Any

import pyarrow as pa

from fairspace.submissions.errors import did_you_mean
from fairspace.submissions.format.collector import Collector, RefusedError, show
from fairspace.submissions.format.schema import REQUIRED
from fairspace.submissions.reading.limits import Limits
from fairspace.submissions.reading.strict_json import check_start, check_text, decode, parse

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

    Args:
        stream: the file.
        name: its name, for the faults.
        schema: the table's name and schema.
        limits: `row_bytes` and `depth` are used here.
        faults: where the faults go.
        advance: called with the bytes and lines of each block; raises `RefusedError` to stop.

    RefusedError: ROW_TOO_LONG, BYTE_ORDER_MARK, or what `advance` raises. Errors of the stream pass through.
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
    """Whole lines, about `BLOCK` bytes at a time."""
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
    """Turns lines into Arrow columns."""

    def __init__(self, name: str, table: str, schema: pa.Schema, limits: Limits, faults: Collector):
        self.name, self.schema, self.limits, self.faults = name, schema, limits, faults
        self.columns = tuple(schema.names)
        self.required = frozenset(REQUIRED[table])
        self.known_shapes: set[tuple[str, ...]] = set()

    def read(self, lines: list[bytes], block: bytes, first: int) -> tuple[pa.Table, Any]:
        """The good rows of a block and their line numbers."""
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
        """The values of a line in the schema's order, or None and a fault."""
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
        """Note unknown and missing fields; a shape without any is remembered."""
        unknown = [field for field in shape if field not in self.columns]
        missing = [field for field in self.columns if field in self.required and field not in shape]
        place = f"line {number}"
        for field in unknown[:8]:

            def what(field: str = field) -> str:
                return f"field {show(field)}{did_you_mean(field[:64], self.columns)}"

            kind = field if len(field) < 64 else ""
            self.faults.add("UNKNOWN_FIELD", self.name, what, expected=", ".join(self.columns), place=place, kind=kind)
        for field in missing:
            self.faults.add(
                "MISSING_FIELD", self.name, f"no {field!r}", expected="every required field", place=place, kind=field
            )
        good = not unknown and not missing
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
    """A block holds a value that the fast path does not take."""


def _check_value(field: pa.Field, value: Any) -> None:
    kind = str(field.type)
    if value is None:
        if not field.nullable:
            raise RefusedError("NULL_VALUE", "found null", _WORDS[kind])
    elif type(value) not in _TYPES[kind]:
        raise RefusedError("WRONG_TYPE", f"found {show(value)}", _WORDS[kind])
    elif isinstance(value, str):
        check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise RefusedError("NOT_FINITE", "a number beyond the range", "a finite number or null")
    elif isinstance(value, int) and not -(2**31) <= value < 2**31:
        raise RefusedError("HUGE_NUMBER", f"an integer of {value.bit_length()} bits", "a small number")
