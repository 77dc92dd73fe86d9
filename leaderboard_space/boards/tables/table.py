"""A board's table, prepared once for its rows, so that sorting and filtering thousands of them takes milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.adjusted_boards import ADJUSTED
from fairspace.leaderboard_space.boards.board_cache import BoardCache, by_entry
from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.boards.tables.column_sets import column_sets
from fairspace.leaderboard_space.boards.tables.columns import MODEL, TIER, BoardColumn, Key, rank_column
from fairspace.leaderboard_space.boards.telling import provenance_of
from fairspace.leaderboard_space.boards.view import Slice, View
from fairspace.leaderboard_space.boards.views import VIEWS, check_choice
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.state import State
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors


@dataclass(frozen=True)
class Note:
    """A footnote: a printed number that contradicts its own formula."""

    number: int
    erratum: str
    text: str


@dataclass(frozen=True)
class _Searched:
    """Search fields of a row, prepared for comparison."""

    row: Row
    words: str
    licence: str
    architecture: str
    provenance: str


class BoardTable:
    """One table of a board under one standard.

    Args:
        view: of the benchmark.
        part: the table.
        rows: of the whole board, in its order.
        state: knows who handed a row in.
    """

    def __init__(self, view: View, part: Slice, rows: Sequence[Row], state: State) -> None:
        self.rows = [row for row in rows if part.keep(row)]
        self.notes, numbers = _footnotes(view, part, self.rows)
        every = column_sets(view, part, self.rows, numbers, state)
        self.sets = {
            name: tuple(column for column in columns if self._shows(column)) for name, columns in every.items()
        }
        self.front = (rank_column(self.rows), TIER, MODEL)
        self.columns = {column.key: column for columns in (self.front, *every.values()) for column in columns}
        self.numbers = numbers
        self._searched = {row.entry: _searched(row) for row in self.rows}
        self._orders: dict[str, list[Row]] = {"": self.rows, "rank": self.rows}
        searched = self._searched.values()
        self.licences = sorted({row.licence for row in searched} - {""})
        self.architectures = sorted({row.architecture for row in searched} - {""})

    def select(self, query: BoardQuery) -> list[Row]:
        """The rows that a query asks for, in its order. SpaceError BAD_PARAMETER: unknown column or task."""
        tasks = find_benchmark(query.benchmark).task_names()
        check_choice("task", query.task, ("", *tasks))
        rows = self._sorted(query.sort)
        if query.models:
            wanted = set(query.models)
            rows = [row for row in rows if row.entry in wanted]
        return [row for row in rows if self._fits(row, query)] if query.filters else rows

    def _shows(self, column: BoardColumn) -> bool:
        return not column.optional or any(column.sort_by(row) is not None for row in self.rows)

    def column(self, sort: str) -> tuple[BoardColumn, bool]:
        """The sort column, and whether the order is descending."""
        return self.columns[check_choice("sort", sort.removeprefix("-") or "rank", self.columns)], sort.startswith("-")

    def _sorted(self, sort: str) -> list[Row]:
        ordered = self._orders.get(sort)
        if ordered is None:
            column, falling = self.column(sort)
            sure = self._with_errors() if column.errors else self.rows
            keyed: list[tuple[Key, Row]] = [
                (column.sort_by(with_error), row) for with_error, row in zip(sure, self.rows, strict=True)
            ]
            with_key = [(key, row) for key, row in keyed if key is not None]
            with_key.sort(key=lambda pair: pair[0], reverse=falling)
            ordered = [row for _, row in with_key] + [row for key, row in keyed if key is None]
            self._orders[sort] = ordered
        return ordered

    def _with_errors(self) -> list[Row]:
        standards = [row.result.standard for row in self.rows if row.result is not None]
        return with_errors(self.rows, standards[0]) if standards else self.rows

    def _fits(self, row: Row, query: BoardQuery) -> bool:
        searched, facts = self._searched[row.entry], row.facts
        size = facts.parameters
        return (
            all(word in searched.words for word in plain(query.q).casefold().split())
            and (not query.ranked or row.rank is not None)
            and query.provenance in ("", searched.provenance)
            and query.licence.casefold() in ("", searched.licence.casefold())
            and query.architecture.casefold() in ("", searched.architecture.casefold())
            and (not query.open_weights or facts.open_weights is (query.open_weights == "yes"))
            and (not query.task or query.task in facts.tasks)
            and (query.size_from is None or (size is not None and size >= query.size_from))
            and (query.size_to is None or (size is not None and size <= query.size_to))
        )


def _searched(row: Row) -> _Searched:
    words = f"{plain(row.model)}\n{plain(row.organisation)}".casefold()
    licence, architecture = plain(row.facts.licence).strip(), plain(row.facts.architecture).strip()
    return _Searched(row, words, licence, architecture, provenance_of(row))


def _footnotes(view: View, part: Slice, rows: Sequence[Row]) -> tuple[list[Note], dict[tuple[str, str], int]]:
    """The notes on scores and labels that the table shows; notes with the same text share a number."""
    shown = {column.score for column in (part.total, *part.columns)} | set(view.labels)
    texts: dict[tuple[str, str], int] = {}
    numbers = {
        (row.entry, note.score): texts.setdefault((note.erratum, note.text), len(texts) + 1)
        for row in rows
        for note in row.footnotes
        if note.score in shown
    }
    return [Note(number, erratum, text) for (erratum, text), number in texts.items()], numbers


_TABLES: BoardCache[BoardTable] = BoardCache(32)
_ADJUSTED: BoardCache[BoardTable] = BoardCache(ADJUSTED)
"""Those of adjusted boards hold rows of their own, and take no place of the released ones."""


def board_table(state: State, query: BoardQuery) -> tuple[str, BoardTable]:
    """The table that a query is about, and its name in addresses.

    SpaceError BAD_PARAMETER: unknown table; ADJUSTED_BUSY: as `State.board`.
    """
    view = VIEWS[query.benchmark]
    names = {slug(name): part for name, part in view.slices.items()}
    name = check_choice("table", query.table, names)
    about = (query.benchmark, query.standard, query.adjustment)
    if query.models and not query.table:
        wanted = [row for row in state.board(*about) if row.entry in query.models]
        name = next((table for table, part in names.items() if any(map(part.keep, wanted))), name)
    return name, (_ADJUSTED if query.adjusted else _TABLES).get_or_make(
        (query.benchmark, about[1:], name),
        lambda: state.board(*about),
        lambda rows: BoardTable(view, names[name], rows, state),
    )


def slug(name: str) -> str:
    """Name of a table in addresses."""
    return name.lower().replace(" ", "-")


def check_models(state: State, query: BoardQuery) -> list[str]:
    """The withdrawn ones among the named rows. SpaceError BAD_PARAMETER for one that never was."""
    there = by_entry(state.board(query.benchmark, query.standard))
    missing = [name for name in query.models if name not in there]
    for name in missing:
        logged = state.entry(name)
        if logged is None or logged.benchmark != query.benchmark:
            expected = f"rows of {query.benchmark}"
            raise SpaceError("BAD_PARAMETER", "models", repr(name), expected, "copy the address from a board's page")
    return missing
