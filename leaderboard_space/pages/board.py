"""The board of a benchmark, at `/`: tabs, standard, filters, column sets, sorting, links to compare and download."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.adjusting import panel
from fairspace.leaderboard_space.boards.board_cache import by_entry
from fairspace.leaderboard_space.boards.query import COLUMN_SETS, BoardQuery
from fairspace.leaderboard_space.boards.tables.columns import TIER, BoardColumn
from fairspace.leaderboard_space.boards.tables.table import BoardTable, board_table, check_models, slug
from fairspace.leaderboard_space.boards.telling import EVIDENCE
from fairspace.leaderboard_space.boards.view import View
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.figures import GALLERY
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row_errors import with_errors

router = APIRouter(include_in_schema=False)
PAGE = 100
"""Rows of a page."""
FORMATS = ("csv", "parquet", "json")


@dataclass(frozen=True)
class Header:
    """Heading of a column: the address of a click, and the current sort order.

    Args:
        column: whose head it is.
        address: of the board sorted by it, or the other way round.
        sorted: `ascending`, `descending`, or '' if the board is sorted by another one.
    """

    column: BoardColumn
    address: str
    sorted: str


@router.get("/")
def board(request: Request) -> Response:
    """The page of a board."""
    state = space_of(request).state
    query = BoardQuery.read(request.query_params)
    name, table = board_table(state, query)
    withdrawn = check_models(state, query)
    view = VIEWS[query.benchmark]
    released = by_entry(state.board(query.benchmark, query.standard))
    rows = table.select(query)
    pages = max(1, -(-len(rows) // PAGE))
    number = min(query.page, pages)
    shown = with_errors(rows[PAGE * (number - 1) : PAGE * number], query.standard, query.adjustment)
    columns = table.sets.get(query.columns, table.sets["scores"])
    entries, keys = {row.entry for row in shown}, {column.key for column in columns}
    marked = {note for (entry, key), note in table.numbers.items() if entry in entries and key in keys}
    return page(
        request,
        "board.html.jinja",
        view=view,
        views=VIEWS.values(),
        query=query,
        about=find_benchmark(query.benchmark),
        standard=find_benchmark(query.benchmark).standards[query.standard],
        table=table,
        name=name,
        tables={title: slug(title) for title in view.slices},
        sets={key: COLUMN_SETS[key] for key in table.sets},
        front=_headers(query, table, table.front),
        heads=_headers(query, table, columns),
        columns=columns,
        protocols=list(dict.fromkeys(row.protocol for row in table.rows)),
        tier=TIER,
        rows=shown,
        count=len(rows),
        first=PAGE * (number - 1) + 1,
        number=number,
        pages=pages,
        notes=[note for note in table.notes if note.number in marked],
        withdrawn=withdrawn,
        licences=[(text, text) for text in table.licences],
        architectures=[(text, text) for text in table.architectures],
        tasks=[(task, task.replace("_", " ")) for task in find_benchmark(query.benchmark).task_names()],
        default_standard=find_benchmark(query.benchmark).default,
        elsewhere=_elsewhere(view, query, table),
        figures=() if query.adjusted else GALLERY.place(state, query.benchmark, query.standard, "board"),
        sensitivity=panel(query.benchmark, query.standard, query.adjustment, table.rows, released),
        as_released=AS_RELEASED,
        provenances=EVIDENCE,
        formats=FORMATS,
    )


def _headers(query: BoardQuery, table: BoardTable, columns: tuple[BoardColumn, ...]) -> list[Header]:
    now, falling = table.column(query.sort)
    heads = []
    for column in columns:
        if column.key == now.key:
            other = column.key if falling else f"-{column.key}"
            heads.append(Header(column, query.address(sort=other, page=1), "descending" if falling else "ascending"))
        else:
            sort = f"-{column.key}" if column.falling else column.key
            heads.append(Header(column, query.address(sort=sort, page=1), ""))
    return heads


def _elsewhere(view: View, query: BoardQuery, table: BoardTable) -> int:
    """Number of named rows that only other tables of the benchmark have."""
    if not query.models or len(view.slices) == 1:
        return 0
    here = {row.entry for row in table.rows}
    return len(set(query.models) - here)
