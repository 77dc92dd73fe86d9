"""Results of the log, of which thousands are held at once: what one has in common with others is held once."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, overload

from fairspace.leaderboard_space.folding.packed_values import Alike, PackedValues
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.results.result import Result, further
from fairspace.submissions.uncertainty.variant import Variant


class Table(Sequence[Sequence[int]]):
    """Rows of counts, four bytes for each.

    Args:
        rows: of one length, of numbers below 2^31.
    """

    __slots__ = ("_cells", "_rows", "_width")

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self._cells = array("i", chain.from_iterable(rows))
        self._rows, self._width = len(rows), len(rows[0]) if rows else 0

    def __len__(self) -> int:
        return self._rows

    @overload
    def __getitem__(self, place: int) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[int, ...]]: ...
    def __getitem__(self, place: int | slice) -> tuple[int, ...] | list[tuple[int, ...]]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(self._rows))]
        first = range(self._rows)[place] * self._width
        return tuple(self._cells[first : first + self._width])


@dataclass
class Shared:
    """What results had so far.

    Args:
        alike: names, states and reasons of values; names and notes of variants.
        names: those of kept draws.
    """

    alike: Alike = field(default_factory=Alike)
    names: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)

    def result(self, data: Mapping[str, Any]) -> Result:
        """The result that `result_draft` wrote into an event: its values without evidence, and no scores yet.

        KeyError, TypeError or ValueError if it is none.
        """
        fields = further(data)
        values = PackedValues(data["values"], self.alike)
        if (draws := fields["draws"]) is not None:
            names = tuple(map(self.alike.text, draws.names))
            fields["draws"] = replace(draws, names=self.names.setdefault(names, names))
        fields["variants"] = tuple(map(self._variant, fields["variants"]))
        fields["counts"] = {self.alike.text(name): Table(rows) for name, rows in fields["counts"].items()}
        nothing = Scored({}, "", None)
        return Result(data["benchmark"], "", data["meta"], values, nothing, data["signature"], **fields)

    def _variant(self, variant: Variant) -> Variant:
        return replace(
            variant,
            name=self.alike.text(variant.name),
            values={self.alike.text(name): number for name, number in variant.values.items()},
            intervals={self.alike.text(name): ends for name, ends in variant.intervals.items()},
            note=self.alike.text(variant.note),
        )
