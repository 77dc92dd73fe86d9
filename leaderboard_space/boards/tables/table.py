"""A board's table, prepared once for its rows, so that sorting and filtering thousands of them takes milliseconds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fairspace.leaderboard_space.adjusted_boards import ADJUSTED
from fairspace.leaderboard_space.boards.board_cache import BoardCache, by_entry
from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.boards.tables.column_sets import column_sets, folded_columns
from fairspace.leaderboard_space.boards.tables.columns import MODEL, BoardColumn, Key, rank_column
from fairspace.leaderboard_space.boards.telling import provenance_of
from fairspace.leaderboard_space.boards.view import Slice, View
from fairspace.leaderboard_space.boards.views import VIEWS, check_choice
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.state import State
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.by_result import ByResult
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_classes import ORDER
from fairspace.submissions.results.row_errors import with_errors


@dataclass(frozen=True)
class Note:
    """A footnote: a printed number that contradicts its own formula."""

    number: int
    erratum: str
    text: str


@dataclass(frozen=True)
class _Searched:
    """Search fields of a row, prepared for comparison; `size` in billions of parameters, nan where none is stated."""

    words: str
    licence: str
    architecture: str
    size: float


_SEARCHED: ByResult[_Searched] = ByResult()
_KEYS: ByResult[dict[tuple[str, str], Key]] = ByResult()
"""Score that ranks go by and column -> what a row with a result is sorted by. A new snapshot shows few new results."""


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
        self.choice = column_sets(view, part, self.rows, numbers, state)
        self.front = (rank_column(self.rows), MODEL)
        folded = folded_columns(part.total, find_benchmark(view.benchmark).higher_is_better)
        self.columns = {column.key: column for column in (*folded, *self.front, *self.choice.all())}
        self.numbers = numbers
        self._total = part.total.score
        self._searched = {row.entry: _searched(row) for row in self.rows}
        self._keys: dict[str, list[Key]] = {}
        self._orders: dict[str, list[Row]] = {"": self.rows, "rank": self.rows}
        searched = self._searched.values()
        self._classes = [ORDER[row.row_class] for row in self.rows]
        self.classes = Counter(row.row_class for row in self.rows)
        self.protocols = list(dict.fromkeys(row.protocol for row in self.rows))
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
        for fits in _filters(query):
            rows = [row for row in rows if fits(row, self._searched[row.entry])]
        return rows

    def column(self, sort: str) -> tuple[BoardColumn, bool]:
        """The sort column, and whether the order is descending."""
        return self.columns[check_choice("sort", sort.removeprefix("-") or "rank", self.columns)], sort.startswith("-")

    def sort_by_errors(self) -> None:
        """Make the orders by the columns that are always shown, for the errors of all rows, before somebody asks."""
        for column in self.choice.fixed:
            self._sorted(column.key)
            self._sorted(f"-{column.key}")

    def _sorted(self, sort: str) -> list[Row]:
        column, falling = self.column(sort)
        if sort not in self._orders:
            if column.key not in self._keys:
                self._keys[column.key] = (
                    self._keys_of(column) if column.errors else list(map(column.sort_by, self.rows))
                )
            self._orders[sort] = self._order(self._keys[column.key], falling)
        return self._orders[sort]

    def _keys_of(self, column: BoardColumn) -> list[Key]:
        """What the rows are sorted by in a column of errors, which few of them have not been sorted by before."""
        about = (self._total, column.key)
        kept = [{} if row.result is None else _KEYS.get(row.result) or {} for row in self.rows]
        new = [row for row, keys in zip(self.rows, kept, strict=True) if about not in keys]
        standards = [row.result.standard for row in new if row.result is not None]
        made = {row.entry: column.sort_by(row) for row in (with_errors(new, standards[0]) if standards else new)}
        for row in new:
            if row.result is not None:
                _KEYS.put(row.result, {**(_KEYS.get(row.result) or {}), about: made[row.entry]})
        pairs = zip(self.rows, kept, strict=True)
        return [keys[about] if about in keys else made[row.entry] for row, keys in pairs]

    def _order(self, keys: Sequence[Key], falling: bool) -> list[Row]:
        """The rows by their keys; no class stands above an earlier one, and rows without a key stand last in theirs."""
        by_class: dict[int, list[int]] = {}
        for place, number in enumerate(self._classes):
            by_class.setdefault(number, []).append(place)
        ordered: list[Row] = []
        for number in sorted(by_class):
            with_key = [place for place in by_class[number] if keys[place] is not None]
            with_key.sort(key=keys.__getitem__, reverse=falling)  # type: ignore[arg-type]
            without = [place for place in by_class[number] if keys[place] is None]
            ordered += [self.rows[place] for place in (*with_key, *without)]
        return ordered


def _filters(query: BoardQuery) -> list[Callable[[Row, _Searched], bool]]:
    """What a row must fit, one function for each filter that is set."""
    words = plain(query.q).casefold().split()
    licence, architecture = query.licence.casefold(), query.architecture.casefold()
    filters: list[tuple[Any, Callable[[Row, _Searched], bool]]] = [
        (words, lambda row, about: all(word in about.words for word in words)),
        (query.ranked, lambda row, about: row.rank is not None),
        (query.provenance, lambda row, about: provenance_of(row) == query.provenance),
        (licence, lambda row, about: about.licence.casefold() == licence),
        (architecture, lambda row, about: about.architecture.casefold() == architecture),
        (query.open_weights, lambda row, about: row.facts.open_weights is (query.open_weights == "yes")),
        (query.task, lambda row, about: query.task in row.facts.tasks),
        (query.size_from is not None, lambda row, about: about.size >= (query.size_from or 0.0)),
        (query.size_to is not None, lambda row, about: about.size <= (query.size_to or 0.0)),
    ]
    return [fits for is_set, fits in filters if is_set]


def _searched(row: Row) -> _Searched:
    """Made once for each result: the fields are stated with it."""
    if row.result is None:
        return _search_fields(row)
    kept = _SEARCHED.get(row.result)
    if kept is None:
        kept = _search_fields(row)
        _SEARCHED.put(row.result, kept)
    return kept


def _search_fields(row: Row) -> _Searched:
    words = f"{plain(row.model)}\n{plain(row.organisation)}".casefold()
    licence, architecture = plain(row.facts.licence).strip(), plain(row.facts.architecture).strip()
    size = math.nan if row.facts.parameters is None else row.facts.parameters
    return _Searched(words, licence, architecture, size)


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
    if missing and state.snapshots.renew(query.benchmark):  # they may have come since the last snapshot
        there = by_entry(state.board(query.benchmark, query.standard))
        missing = [name for name in missing if name not in there]
    for name in missing:
        logged = state.entry(name)
        if logged is None or logged.benchmark != query.benchmark:
            expected = f"rows of {query.benchmark}"
            raise SpaceError("BAD_PARAMETER", "models", repr(name), expected, "copy the address from a board's page")
    return missing
