"""A board's table, prepared once for its rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fairspace.leaderboard_space.boards.columns import MODEL, BoardColumn, column_sets, rank_column
from fairspace.leaderboard_space.boards.view import Slice, View
from fairspace.leaderboard_space.boards.views import VIEWS, BoardQuery, check_choice
from fairspace.leaderboard_space.boards.words import provenance_of
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.state import State
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row, RowClass
from fairspace.submissions.results.row_errors import with_errors


@dataclass(frozen=True)
class Note:
    """A footnote: a printed number that contradicts its own formula."""

    number: int
    erratum: str
    text: str


class _Searched(NamedTuple):
    """Search fields of a row."""

    words: str
    licence: str
    architecture: str
    provenance: str

    @classmethod
    def of(cls, row: Row) -> _Searched:
        facts = row.facts
        words = f"{plain(row.model)}\n{plain(row.organisation)}".casefold()
        return cls(words, plain(facts.licence).strip(), plain(facts.architecture).strip(), provenance_of(row))


class BoardTable:
    """One table of a board under one standard, made of the whole board's rows in order."""

    def __init__(self, view: View, part: Slice, rows: Sequence[Row], standard: str, state: State) -> None:
        self.rows = [row for row in rows if part.keep(row)]
        self.notes, numbers = _footnotes(view, part, self.rows)
        self.choice = column_sets(view, part, self.rows, numbers, state)
        self.front = (rank_column(self.rows), MODEL)
        self.columns = {column.key: column for column in (*self.front, *self.choice.all())}
        self.numbers = numbers
        self._standard = standard
        self._searched = {row.entry: _Searched.of(row) for row in self.rows}
        self._orders = {"": self.rows, "rank": self.rows}
        self.classes: Counter[RowClass] = Counter(row.row_class for row in self.rows)
        self.protocols = list(dict.fromkeys(row.protocol for row in self.rows))
        self.licences = sorted({searched.licence for searched in self._searched.values()} - {""})
        self.architectures = sorted({searched.architecture for searched in self._searched.values()} - {""})

    def select(self, query: BoardQuery) -> list[Row]:
        """The rows of a query, in its order. SpaceError BAD_PARAMETER: unknown column or task."""
        check_choice("task", query.task, ("", *find_benchmark(query.benchmark).task_names()))
        rows = self.sorted(query.sort)
        for fits in self._filters(query):
            rows = [row for row in rows if fits(row)]
        return rows

    def column(self, sort: str) -> tuple[BoardColumn, bool]:
        """The sort column, and whether the order is descending."""
        return self.columns[check_choice("sort", sort.removeprefix("-") or "rank", self.columns)], sort.startswith("-")

    def sorted(self, sort: str) -> list[Row]:
        """All rows by a column: within each class, which keep their order; rows without a key stand last."""
        column, falling = self.column(sort)
        if sort not in self._orders:
            rows = with_errors(self.rows, self._standard) if column.errors else self.rows
            keys = {row.entry: column.sort_by(row) for row in rows}
            with_key = [row for row in self.rows if keys[row.entry] is not None]
            with_key.sort(key=lambda row: keys[row.entry], reverse=falling)  # type: ignore[arg-type, return-value]
            without = (row for row in self.rows if keys[row.entry] is None)
            self._orders[sort] = sorted((*with_key, *without), key=lambda row: row.part)
        return self._orders[sort]

    def _filters(self, query: BoardQuery) -> list[Callable[[Row], bool]]:
        searched, named, words = self._searched, set(query.models), plain(query.q).casefold().split()
        licence, architecture = query.licence.casefold(), query.architecture.casefold()
        filters: list[tuple[Any, Callable[[Row], bool]]] = [
            (named, lambda row: row.entry in named),
            (words, lambda row: all(word in searched[row.entry].words for word in words)),
            (query.provenance, lambda row: searched[row.entry].provenance == query.provenance),
            (licence, lambda row: searched[row.entry].licence.casefold() == licence),
            (architecture, lambda row: searched[row.entry].architecture.casefold() == architecture),
            (query.task, lambda row: query.task in row.facts.tasks),
            (query.ranked, lambda row: row.rank is not None),
            (query.open_weights, lambda row: row.facts.open_weights is (query.open_weights == "yes")),
            (query.size_from is not None, lambda row: _size(row) >= (query.size_from or 0.0)),
            (query.size_to is not None, lambda row: _size(row) <= (query.size_to or 0.0)),
        ]
        return [fits for is_set, fits in filters if is_set]


def _size(row: Row) -> float:
    """Billions of parameters; nan if not stated."""
    return math.nan if row.facts.parameters is None else row.facts.parameters


def _footnotes(view: View, part: Slice, rows: Sequence[Row]) -> tuple[list[Note], dict[tuple[str, str], int]]:
    """The notes on the table's scores and labels; notes with the same text share a number."""
    shown = {column.score for column in (part.total, *part.columns)} | set(view.labels)
    texts: dict[tuple[str, str], int] = {}
    numbers = {
        (row.entry, note.score): texts.setdefault((note.erratum, note.text), len(texts) + 1)
        for row in rows
        for note in row.footnotes
        if note.score in shown
    }
    return [Note(number, erratum, text) for (erratum, text), number in texts.items()], numbers


def board_table(state: State, query: BoardQuery) -> tuple[str, BoardTable]:
    """The table of a query, and its name in addresses. SpaceError BAD_PARAMETER: unknown table."""
    view = VIEWS[query.benchmark]
    names = {slug(name): part for name, part in view.slices.items()}
    name = check_choice("table", query.table, names)
    board = state.board(query.benchmark, query.standard)
    if query.models and not query.table:
        wanted = [board.by_entry[entry] for entry in query.models if entry in board.by_entry]
        name = next((table for table, part in names.items() if any(map(part.keep, wanted))), name)
    return name, board.get_or_make(("table", name), lambda: BoardTable(view, names[name], board, query.standard, state))


def slug(name: str) -> str:
    """Name of a table in addresses."""
    return name.lower().replace(" ", "-")


def check_models(state: State, query: BoardQuery) -> list[str]:
    """The withdrawn ones among the named rows. SpaceError BAD_PARAMETER for an unknown one."""
    there = state.board(query.benchmark, query.standard).by_entry
    missing = [name for name in query.models if name not in there]
    if missing and state.snapshots.renew(query.benchmark):  # they may have come since the last snapshot
        there = state.board(query.benchmark, query.standard).by_entry
        missing = [name for name in missing if name not in there]
    for name in missing:
        logged = state.entry(name)
        if logged is None or logged.benchmark != query.benchmark:
            expected = f"rows of {query.benchmark}"
            raise SpaceError("BAD_PARAMETER", "models", repr(name), expected, "copy the address from a board's page")
    return missing
