"""Columns of a board's page: their cells and sort keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.boards.query import NO_COLUMNS
from fairspace.leaderboard_space.boards.tables.intervals import Strip
from fairspace.leaderboard_space.boards.tables.scores import Column
from fairspace.leaderboard_space.boards.views import check_choice
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.folded_facts import Fact, folded_facts
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import ThreeNumbers, ideal_of, numbers_in_row

Notes = Mapping[tuple[str, str], int]
Key = float | str | None


@dataclass(frozen=True)
class Cell:
    """Content of a cell, as plain text.

    Args:
        text: the number, or the state in words.
        sure: a second line: the 95 % interval.
        below: a third line: what else must be known.
        note: number of the footnote.
        strength: from -100 to 100: how strongly a signed number is coloured.
        strip: where the number and its ends are on the column's scale.
        missing: there is no number; `text` is a state.
        chip: `text` is a word that is marked as such.
        facts: what is folded away.
    """

    text: str
    below: str = ""
    note: int | None = None
    strength: int = 0
    strip: Strip | None = None
    missing: bool = False
    chip: bool = False
    sure: str = ""
    facts: Sequence[Fact] = ()


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
        errors: it is sorted by what `fairspace.submissions.results.row_errors` makes, so by the row's result alone.
        words: what its numbers are, in a few words.
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
    words: str = ""


GROUPS = ("parts", "profile", "coverage", "about")
"""Names of the groups of columns in addresses; not every table has all."""


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that a reader can choose, under one heading."""

    title: str
    columns: tuple[BoardColumn, ...]


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table, to the right of rank and model.

    Args:
        fixed: those that it always has.
        groups: name in addresses -> columns that a reader can choose.
        first: keys of those that are shown while the reader has chosen none.
    """

    fixed: tuple[BoardColumn, ...]
    groups: Mapping[str, ColumnGroup]
    first: tuple[str, ...]

    def all(self) -> list[BoardColumn]:
        """Every column."""
        return [*self.fixed, *(column for group in self.groups.values() for column in group.columns)]

    def chosen(self, names: Sequence[str]) -> tuple[BoardColumn, ...]:
        """Those that an address names, by key or by group, in the table's order. SpaceError BAD_PARAMETER."""
        known = {column.key for column in self.all()} | {*GROUPS, NO_COLUMNS}
        wanted = {check_choice("columns", name, known) for name in names or self.first}
        wanted |= {column.key for name in wanted & self.groups.keys() for column in self.groups[name].columns}
        return tuple(column for column in self.all() if column in self.fixed or column.key in wanted)


def rank_column(rows: Sequence[Row]) -> BoardColumn:
    """The rank; rows stand in the board's order."""
    places = {row.entry: float(place) for place, row in enumerate(rows)}
    return BoardColumn("rank", "Rank", lambda row: places[row.entry], lambda row: Cell(number(row.rank, 0)), True)


MODEL = BoardColumn("model", "Model", lambda row: plain(row.model).casefold(), lambda row: Cell(plain(row.model)))


def numbers_of(column: Column, row: Row, ranked: bool = False) -> ThreeNumbers:
    """The three numbers of a row's value in the column's unit; `ranked`: ranks go by it."""
    return numbers_in_row(row, column.score, column.of(row), column.show, ranked=ranked)


def facts_of(column: Column, row: Row) -> list[Fact]:
    """The folded facts of the value that a row is ranked by."""
    published = row.provenance == "published"
    return folded_facts(column.of(row), ideal_of(row, column.score), column.show, published=published, row=row)


def score_column(column: Column, rows: Sequence[Row], notes: Notes, up: bool, words: str) -> BoardColumn:
    """A score with its interval, what its missing part could make of it, and the verdict; `words`: what it is."""
    numbers = (column.number(row) for row in rows) if column.signed else ()
    largest = max((abs(n) for n in numbers if n is not None), default=0.0)

    def cell(row: Row) -> Cell:
        three = numbers_of(column, row)
        strength = 0
        if column.signed and three.value is not None and largest:
            strength = round(100 * max(-1.0, min(1.0, three.value / largest)))
        word = three.interval_text if row.provenance == "published" and three.interval_text != "printed" else ""
        return Cell(
            three.value_text,
            "; ".join(three.notes) or word,
            notes.get((row.entry, column.score)),
            strength,
            missing=three.value is None,
            sure="" if three.interval is None else three.interval_text,
        )

    return BoardColumn(column.score, column.header, column.number, cell, True, up, errors=True, words=words)


def bounds(column: Column, row: Row) -> str:
    """'41.20 to 56.00' if missing samples leave the score open; '' if not."""
    value = column.of(row)
    if value is None or value.value is None or value.low is None or value.high is None:
        return ""
    low, high = (column.show(end) for end in (value.low, value.high))
    return "" if low == high else f"{low} to {high}"


def worst_case(column: Column, row: Row, up: bool) -> float | None:
    """The worst case over the missing samples, in the column's unit; None for printed figures and without bounds."""
    value = column.of(row)
    return None if value is None or value.value is None else value.low if up else value.high
