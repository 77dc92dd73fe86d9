"""A board's table, prepared once for its rows, so that sorting and filtering thousands of them takes milliseconds."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
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
from fairspace.submissions.results.row import Row, row_with
from fairspace.submissions.results.row_classes import RowClass
from fairspace.submissions.results.row_errors import with_errors


@dataclass(frozen=True)
class Note:
    """A footnote: a printed number that contradicts its own formula."""

    number: int
    erratum: str
    text: str


@dataclass(frozen=True)
class _Searched:
    """What follows from a result and rows are searched by; `provenance` of a row that is not verified."""

    model: str
    words: str
    licence: str
    architecture: str
    provenance: str
    tasks: Sequence[str]


@dataclass(frozen=True)
class _Ordered:
    """The rows of a table in an order, and the place of each among all."""

    places: Sequence[int]
    rows: list[Row]


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
        searched = list(map(_searched, self.rows))
        self._words = [fields.words for fields in searched]
        self._licences = [fields.licence.casefold() for fields in searched]
        self._architectures = [fields.architecture.casefold() for fields in searched]
        self._provenances = [
            provenance_of(row) if row.verified else fields.provenance
            for row, fields in zip(self.rows, searched, strict=True)
        ]
        self._tasks = [fields.tasks for fields in searched]
        self._keys: dict[str, list[Key]] = {
            "provenance": [*self._provenances],
            "model": [fields.model for fields in searched],
        }
        by_rank = _Ordered(range(len(self.rows)), self.rows)
        self._orders = {"": by_rank, "rank": by_rank}
        self._by_part: defaultdict[float, list[int]] = defaultdict(list)
        for place, row in enumerate(self.rows):
            self._by_part[row.part].append(place)
        self.classes: Counter[RowClass] = Counter(row.row_class for row in self.rows)
        self.protocols = list(dict.fromkeys(row.protocol for row in self.rows))
        self.licences = sorted({fields.licence for fields in searched} - {""})
        self.architectures = sorted({fields.architecture for fields in searched} - {""})

    def select(self, query: BoardQuery) -> list[Row]:
        """The rows that a query asks for, in its order. SpaceError BAD_PARAMETER: unknown column or task."""
        check_choice("task", query.task, ("", *find_benchmark(query.benchmark).task_names()))
        ordered = self._sorted(query.sort)
        places = self._filtered(ordered.places, query)
        return ordered.rows if places is ordered.places else [self.rows[place] for place in places]

    def _filtered(self, places: Sequence[int], query: BoardQuery) -> Sequence[int]:
        """Those of the places whose rows fit the filters: a column at a time, for a call for each row takes longer."""
        for word in plain(query.q).casefold().split():
            places = [place for place in places if word in self._words[place]]
        for wanted, column in (
            (query.provenance, self._provenances),
            (query.licence.casefold(), self._licences),
            (query.architecture.casefold(), self._architectures),
        ):
            if wanted:
                places = [place for place in places if column[place] == wanted]
        if query.task:
            places = [place for place in places if query.task in self._tasks[place]]
        for fits in _filters(query):
            places = [place for place in places if fits(self.rows[place])]
        return places

    def column(self, sort: str) -> tuple[BoardColumn, bool]:
        """The sort column, and whether the order is descending."""
        return self.columns[check_choice("sort", sort.removeprefix("-") or "rank", self.columns)], sort.startswith("-")

    def sort_by_errors(self) -> None:
        """Make the orders by the columns that are always shown, for the errors of all rows, before somebody asks."""
        self._make_keys(self.choice.fixed)
        for column in self.choice.fixed:
            self._sorted(column.key)
            self._sorted(f"-{column.key}")

    def _sorted(self, sort: str) -> _Ordered:
        column, falling = self.column(sort)
        if sort not in self._orders:
            if column.key not in self._keys and column.errors:
                self._make_keys([column])
            elif column.key not in self._keys:
                self._keys[column.key] = list(map(column.sort_by, self.rows))
            places = self._order(self._keys[column.key], falling)
            self._orders[sort] = _Ordered(places, [self.rows[place] for place in places])
        return self._orders[sort]

    def _make_keys(self, columns: Sequence[BoardColumn]) -> None:
        """What the rows are sorted by in columns of errors, which few of them have not been sorted by before."""
        kept = [{} if row.result is None else _KEYS.get(row.result) or {} for row in self.rows]
        about = {column.key: (self._total, column.key) for column in columns}
        lacking = [place for place, keys in enumerate(kept) if any(name not in keys for name in about.values())]
        new = [self.rows[place] for place in lacking]
        standards = [row.result.standard for row in new if row.result is not None]
        for place, row in zip(lacking, with_errors(new, standards[0]) if standards else new, strict=True):
            kept[place] = {**kept[place], **{about[column.key]: column.sort_by(row) for column in columns}}
            if row.result is not None:
                _KEYS.put(row.result, kept[place])
        for key, name in about.items():
            self._keys[key] = [keys[name] for keys in kept]

    def _order(self, keys: Sequence[Key], falling: bool) -> list[int]:
        """Places by their keys; no class stands above an earlier one, and rows without a key stand last in theirs."""
        ordered: list[int] = []
        for _, places in sorted(self._by_part.items()):
            with_key = [place for place in places if keys[place] is not None]
            with_key.sort(key=keys.__getitem__, reverse=falling)  # type: ignore[arg-type]
            ordered += with_key
            ordered += [place for place in places if keys[place] is None]
        return ordered


def _filters(query: BoardQuery) -> list[Callable[[Row], bool]]:
    """What a row must fit, one function for each of the further filters that are set."""
    named = set(query.models)
    filters: list[tuple[Any, Callable[[Row], bool]]] = [
        (named, lambda row: row.entry in named),
        (query.ranked, lambda row: row.rank is not None),
        (query.open_weights, lambda row: row.facts.open_weights is (query.open_weights == "yes")),
        (query.size_from is not None, lambda row: _size(row) >= (query.size_from or 0.0)),
        (query.size_to is not None, lambda row: _size(row) <= (query.size_to or 0.0)),
    ]
    return [fits for is_set, fits in filters if is_set]


def _size(row: Row) -> float:
    """In billions of parameters, nan where none is stated."""
    return math.nan if row.facts.parameters is None else row.facts.parameters


def _searched(row: Row) -> _Searched:
    """Made once for each result: the fields are stated with it."""
    return _SEARCHED.get_or_make(row.result, lambda: _search_fields(row))


def _search_fields(row: Row) -> _Searched:
    model = plain(row.model).casefold()
    words = f"{model}\n{plain(row.organisation).casefold()}"
    licence, architecture = plain(row.facts.licence).strip(), plain(row.facts.architecture).strip()
    provenance = provenance_of(row_with(row, verified=False))
    return _Searched(model, words, licence, architecture, provenance, row.facts.tasks)


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
