"""The board of a benchmark, at `/`: standard, filters, columns, order, links to compare and download."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.fronts import fronts
from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.boards.tables.columns import BoardColumn
from fairspace.leaderboard_space.boards.tables.table import BoardTable, board_table, check_models, slug
from fairspace.leaderboard_space.boards.telling import EVIDENCE
from fairspace.leaderboard_space.boards.view import View
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.figures import GALLERY
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import CLASSES, Row, RowClass, none_verified
from fairspace.submissions.results.row_errors import with_errors

router = APIRouter(include_in_schema=False)
PAGE = 100
"""Rows of a page."""
GONE = 50
"""Withdrawn rows that are listed, the newest."""
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


@dataclass(frozen=True)
class Part:
    """Rows that stand together, under one heading.

    Args:
        title: their class, and what their ranks are counted within.
        means: of the class, where its first rows stand; else ''.
        rows: in their order.
        row_class: of all of them.
    """

    title: str
    means: str
    rows: Sequence[Row]
    row_class: RowClass

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows)


@router.get("/")
def board(request: Request) -> Response:
    """The page of a board."""
    state = space_of(request).state
    query = BoardQuery.read(request.query_params)
    name, table = board_table(state, query)
    withdrawn = check_models(state, query)
    view = VIEWS[query.benchmark]
    selected = table.select(query)
    count = len(selected) - sum(
        1 for _ in takewhile(_is_baseline, reversed(selected))
    )  # they stand last in every order
    pages = max(1, -(-count // PAGE))
    number = min(query.page, pages)
    first, last = PAGE * (number - 1), min(PAGE * number, count)
    baselines = selected[count:][:PAGE] if number == 1 else []
    shown = with_errors([*selected[first:last], *baselines], query.standard)
    models, baselines = shown[: last - first], shown[last - first :]
    columns = table.choice.chosen(query.columns)
    entries, keys = {row.entry for row in shown}, {column.key for column in columns}
    parts = _parts(models, view.cohort, in_order=query.sort in ("", "rank"))
    marked = {note for (entry, key), note in table.numbers.items() if entry in entries and key in keys}
    return page(
        request,
        "board.html.jinja",
        view=view,
        fronts=fronts(state),
        query=query,
        about=find_benchmark(query.benchmark),
        standard=find_benchmark(query.benchmark).standards[query.standard],
        table=table,
        name=name,
        tables={title: slug(title) for title in view.slices},
        orders=_orders(table, columns, query.sort),
        front=_headers(query, table, table.front),
        heads=_headers(query, table, columns),
        columns=columns,
        protocols=table.protocols,
        parts=[part for part in parts if part.row_class != "handed in"],
        submitted=[part for part in parts if part.row_class == "handed in"],
        baselines=_parts(baselines, "", in_order=False),
        classes=CLASSES,
        none_verified=none_verified(table.classes),
        count=count,
        total=len(table.rows) - table.classes["baseline"],
        first=first + 1,
        last=last,
        number=number,
        pages=pages,
        notes=[note for note in table.notes if note.number in marked],
        withdrawn=withdrawn,
        gone=state.withdrawn(query.benchmark)[:GONE],
        licences=[(text, text) for text in table.licences],
        architectures=[(text, text) for text in table.architectures],
        tasks=[(task, task.replace("_", " ")) for task in find_benchmark(query.benchmark).task_names()],
        default_standard=find_benchmark(query.benchmark).default,
        elsewhere=_elsewhere(view, query, table),
        figures=GALLERY.place(state, query.benchmark, query.standard, "board", table=name),
        provenances=EVIDENCE,
        formats=FORMATS,
    )


def _is_baseline(row: Row) -> bool:
    return row.row_class == "baseline"


def _parts(rows: Sequence[Row], cohorts: str, *, in_order: bool) -> list[Part]:
    """The rows of a page by class; in the order of ranks, also by what their ranks are counted within.

    Args:
        rows: in their order.
        cohorts: what a cohort is, '' for none.
        in_order: whether they stand by rank.
    """

    def key(row: Row) -> tuple[RowClass, bool, str, str]:
        ranked = row.rank is not None or not in_order
        within = (row.cohort, row.group) if ranked and in_order else ("", "")
        return row.row_class, ranked, *within

    grouped = [(about, list(members)) for about, members in groupby(rows, key)]
    groups = Counter(row_class for row_class, _, group in {(key[0], key[1], key[3]) for key, _ in grouped} if group)
    parts: list[Part] = []
    for place, ((row_class, ranked, cohort, group), members) in enumerate(grouped):
        about = CLASSES[row_class]
        title = about.title
        if cohorts and cohort:
            title = f"{title} · {cohorts.lower()} {cohort}"
        if groups[row_class] > 1 and group:
            title = f"{title} · {group}"
        title = title if ranked or row_class == "baseline" else f"{title} · not ranked"
        means = about.means if place == 0 or grouped[place - 1][0][0] != row_class else ""
        parts.append(Part(title, means, members, row_class))
    return parts


def _orders(table: BoardTable, columns: tuple[BoardColumn, ...], sort: str) -> list[tuple[str, str]]:
    """What the rows can be ordered by: the columns that are shown, best first; and how they are ordered now."""
    by = {f"-{column.key}" if column.falling else column.key: column for column in (*table.front[1:], *columns)}
    now, _ = table.column(sort)
    orders = {key: f"by {column.header}" for key, column in by.items()}
    return list(({sort: f"by {now.header}, the other way round"} | orders if sort else orders).items())


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
