"""Thrift's compact protocol, as far as Parquet's footers and page headers use it, within a budget of values."""

from __future__ import annotations

from typing import Any

from fairspace.submissions.format.collector import RefusedError

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, _SET, _MAP, STRUCT = range(1, 13)
Fields = dict[tuple[int, int], Any]
_DEPTH = 16
_NUMBERS = (I16, I32, I64)


class HeaderBudget:
    """The values that are read of the footers and page headers of a submission; each costs about a microsecond.

    Args:
        most: how many may be read.
    """

    def __init__(self, most: int) -> None:
        self.most = self.left = most

    def spend(self, values: int) -> None:
        """Count some values. RefusedError: TOO_LARGE."""
        self.left -= values
        if self.left < 0:
            what = f"footers and page headers of more than {self.most:,} values"
            raise RefusedError("TOO_LARGE", what, "row groups and pages of thousands of rows, and fewer shards")


class Compact:
    """Reads structs; IndexError where the bytes end or make no sense.

    Args:
        data: begins with a struct.
        budget: what is read is taken from it.
    """

    def __init__(self, data: bytes, budget: HeaderBudget) -> None:
        self.data, self.at, self.budget = data, 0, budget

    def struct(self, depth: int = 0) -> Fields:
        """The fields of the struct that begins here, by number and type; texts are skipped."""
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
