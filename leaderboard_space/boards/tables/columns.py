"""Columns of a board's page: their cells and sort keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.boards.tables import intervals
from fairspace.leaderboard_space.boards.tables.intervals import Strip, interval
from fairspace.leaderboard_space.boards.tables.scores import Column
from fairspace.leaderboard_space.boards.telling import is_computed
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row

Notes = Mapping[tuple[str, str], int]
Key = float | str | None


@dataclass(frozen=True)
class Cell:
    """Content of a cell, as plain text.

    Args:
        text: the number, or the state in words.
        sure: a second line: the 95 % interval.
        below: a third line: bounds, coverage.
        note: number of the footnote.
        strength: from -100 to 100: how strongly a signed number is coloured.
        strip: where the number and its ends are on the column's scale.
        missing: there is no number; `text` is a state.
        chip: `text` is a word that is marked as such.
    """

    text: str
    below: str = ""
    note: int | None = None
    strength: int = 0
    strip: Strip | None = None
    missing: bool = False
    chip: bool = False
    sure: str = ""


@dataclass(frozen=True)
class BoardColumn:
    """One column.

    Args:
        key: what the address calls it.
        header: what stands above it.
        sort_by: a number or text to sort by, None for rows that stand last either way.
        cell: what it shows of a row.
        numeric: it holds numbers.
        falling: its largest number stands first when it is sorted by for the first time.
        total: it is what ranks go by.
        hint: what its numbers are, where the header does not say.
        errors: it is sorted by what `fairspace.submissions.results.row_errors` makes.
        optional: it is left out of a table where no row has anything to sort by in it.
    """

    key: str
    header: str
    sort_by: Callable[[Row], Key]
    cell: Callable[[Row], Cell]
    numeric: bool = False
    falling: bool = False
    total: bool = False
    hint: str = ""
    errors: bool = False
    optional: bool = False


def rank_column(rows: Sequence[Row]) -> BoardColumn:
    """The rank; rows stand in the board's order."""
    places = {row.entry: float(place) for place, row in enumerate(rows)}
    return BoardColumn("rank", "Rank", lambda row: places[row.entry], lambda row: Cell(number(row.rank, 0)), True)


def _tier(row: Row) -> Cell:
    return Cell("–", intervals.no_tier(row)) if row.tier is None else Cell(str(row.tier))


TIER = BoardColumn("tier", "Tier", lambda row: row.tier, _tier, True)
MODEL = BoardColumn("model", "Model", lambda row: plain(row.model).casefold(), lambda row: Cell(plain(row.model)))


def score_column(column: Column, rows: Sequence[Row], notes: Notes, up: bool) -> BoardColumn:
    """A score with its bounds."""
    numbers = (column.number(row) for row in rows) if column.signed else ()
    largest = max((abs(n) for n in numbers if n is not None), default=0.0)

    def cell(row: Row) -> Cell:
        shown = column.number(row)
        strength = round(100 * shown / largest) if column.signed and shown and largest else 0
        note = notes.get((row.entry, column.score))
        computed = "computed" if is_computed(column.of(row), row.provenance == "published") else ""
        could = bounds(column, row)
        below = f"could be {could}" if could else computed
        sure = interval(column, row)
        return Cell(column.text(row), below, note, strength, missing=shown is None, sure=sure)

    return BoardColumn(column.score, column.header, column.number, cell, True, up)


def bounds(column: Column, row: Row) -> str:
    """'41.20 to 56.00' if missing samples leave the score open; '' if not."""
    value = column.of(row)
    if value is None or value.value is None or value.low is None or value.high is None:
        return ""
    low, high = (column.format(column.scaled(end)) for end in (value.low, value.high))
    return "" if low == high else f"{low} to {high}"


def worst_case(column: Column, row: Row, up: bool) -> float | None:
    """The worst case over the missing samples, in the column's unit; None for printed figures and without bounds."""
    value = column.of(row)
    end = None if value is None or value.value is None else value.low if up else value.high
    return None if end is None else column.scaled(end)
