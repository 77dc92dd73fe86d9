"""Figures: what each shows, how to read it, its numbers as a table, and how it is drawn.

A benchmark's module declares its figures in its `View`; `pages.figures` serves them, the macro `figure` places them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from markupsafe import Markup, escape

from fairspace.leaderboard_space.boards.board_cache import Board
from fairspace.leaderboard_space.boards.telling import behind, value_text
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.leaderboard_space.state import State
from fairspace.submissions.drawing.svg import Svg
from fairspace.submissions.errors import plain
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import Value, number_of

Place = Literal["board", "model", "compare", "space"]


@dataclass(frozen=True)
class Table:
    """The numbers of a figure; the first cell of a row is its head. Cells are plain text, made harmless."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]

    @cached_property
    def html(self) -> Markup:
        """The table as HTML, computed once."""
        heads = "".join(f'<th scope="col">{escape(header)}</th>' for header in self.headers)
        lines = []
        for first, *cells in self.rows:
            lines.append(f'<tr><th scope="row">{escape(first)}</th>')
            lines.extend(f"<td>{escape(cell)}</td>" for cell in cells)
            lines.append("</tr>\n")
        content = "".join(lines)
        text = f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{content}</tbody>\n</table>"
        return Markup(text)  # noqa: S704 every cell is escaped above


@dataclass(frozen=True)
class Drawing:
    """A figure of some models: its numbers, and a function that draws it on demand.

    Args:
        draw: how many pixels wide it shall be -> the image; None where there is nothing to draw, and `note` says why.
        table: its numbers.
        note: what is left out, and why.
    """

    draw: Callable[[float], Svg] | None
    table: Table
    note: str = ""


@dataclass(frozen=True)
class _Fit:
    """The rows of a board with and without the values of a figure."""

    places: dict[str, int]
    order: list[Row]
    without: list[Row]

    @classmethod
    def of(cls, rows: Sequence[Row], has: Callable[[Row], bool]) -> _Fit:
        fit: dict[str, int] = {}
        order: list[Row] = []
        without: list[Row] = []
        for place, row in enumerate(rows):
            if has(row):
                fit[row.entry] = place
                order.append(row)
            else:
                without.append(row)
        order.sort(key=lambda row: (row.row_class == "handed in", float("inf") if row.rank is None else row.rank))
        return cls(fit, order, without)

    def note(self, drawn: int) -> str:
        """A note on the rows that are left out."""
        parts = []
        if drawn < len(self.order):
            which = "verified and printed ones, baselines, the best of the others"
            parts.append(f"The figure shows {drawn} of {len(self.order)} models: {which}.")
        if self.without and self.order:
            parts.append(f"Without a number: {names_of(self.without)}.")
        return " ".join(parts)


@dataclass(frozen=True)
class Source:
    """Input of a figure.

    Args:
        state: of the store.
        benchmark: its name.
        standard: its name.
        rows: of the board, or of one of its tables.
        chosen: the models that a reader chose, at most four.
    """

    state: State
    benchmark: str
    standard: str
    rows: Board
    chosen: tuple[Row, ...] = ()

    def href(self, row: Row) -> str:
        """The page of a row under this standard."""
        return f"/model/{self.benchmark}/{row.entry}?standard={self.standard}"

    def some(self, most: int, what: str, has: Callable[[Row], bool]) -> tuple[list[Row], str]:
        """At most `most` rows that have the values of a figure, in the board's order, and a note on the others.

        Selected rows first, then verified and printed rows and baselines, then the others by rank. `what` names the
        test `has` of a row's values.
        """
        fit = self.rows.get_or_make(("fit", what), lambda: _Fit.of(self.rows, has))
        kept = {row.entry: row for row in self.chosen if row.entry in fit.places}
        for row in fit.order:
            if len(kept) >= most:
                break
            kept[row.entry] = row
        return sorted(kept.values(), key=lambda row: fit.places[row.entry]), fit.note(len(kept))

    def full(self, row: Row) -> Result | None:
        """The result behind a row with its evidence; None for a printed row."""
        return self.state.full(row.entry) if row.provenance != "published" else None


@dataclass(frozen=True)
class Figure:
    """A figure of a benchmark.

    Args:
        name: in its address.
        title: its heading.
        how_to_read: Markdown of ours.
        draw: makes it.
        places: the pages that it stands on.
        needs: how many models must be chosen.
    """

    name: str
    title: str
    how_to_read: str
    draw: Callable[[Source], Drawing]
    places: tuple[Place, ...] = ("board",)
    needs: int = 0


def value_of(row: Row, name: str) -> Value | None:
    """A row's score or raw value; None if it has no value of that name."""
    return row.scores.get(name) or row.values.get(name)


def has_number(row: Row, name: str) -> bool:
    """Whether a row's value of that name has a number."""
    return number_of(row.scores if name in row.scores else row.values, name) is not None


def values_table(rows: Sequence[Row], names: dict[str, str], digits: int = 2, scale: float = 1.0) -> Table:
    """One line per model, and per name its value with its bounds.

    Args:
        rows: models.
        names: name of a value -> what stands above it.
        digits: decimals.
        scale: what every number is multiplied by.
    """
    lines = []
    for row in rows:
        values = [value_of(row, name) for name in names]
        lines.append([plain(row.model), behind(row, values), *(cell(row, value, digits, scale) for value in values)])
    return Table(["Model", "Evidence", *names.values()], lines)


def cell(row: Row, value: Value | None, digits: int = 2, scale: float = 1.0) -> str:
    """A row's value with its bounds as text, or its state in words."""
    return value_text(value, digits, scale, row.provenance == "published")


def names_of(rows: Sequence[Row], most: int = 6) -> str:
    """The models' names with their cohorts, the first ones of many."""
    names = [f"{shortened(plain(row.model), 40)} ({row.cohort})" if row.cohort else plain(row.model) for row in rows]
    names = [shortened(name, 60) for name in names[:most]]
    return ", ".join(names) + (f" and {len(rows) - most} more" if len(rows) > most else "")
