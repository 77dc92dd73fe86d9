"""Evidence as tables: parts that all have the same numbers are the lines of one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_COLUMNS = 12


@dataclass(frozen=True)
class Grid:
    """A table of parts.

    Args:
        columns: names of the numbers; parts of parts have a dot between them.
        rows: name of the part -> its numbers.
    """

    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Any, ...]]


def grid(data: Any) -> Grid | None:
    """JSON data as a grid; None if its parts are not alike, or are no objects."""
    if not isinstance(data, Mapping) or len(data) < 2 or not all(isinstance(part, Mapping) for part in data.values()):
        return None
    flat = {name: _flat(part) for name, part in data.items()}
    columns = next(iter(flat.values())).keys()
    if not 0 < len(columns) <= MOST_COLUMNS or any(part.keys() != columns for part in flat.values()):
        return None
    return Grid(tuple(columns), {name: tuple(part[column] for column in columns) for name, part in flat.items()})


def _flat(part: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in part.items():
        flat.update(_flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {f"{before}{name}": value})
    return flat
