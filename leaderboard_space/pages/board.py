"""The board of a benchmark, at `/?benchmark=`: its rows, which `board.js` searches and sorts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from fastapi import Request, Response

from fairspace.leaderboard_space.boards.table import BoardTable, board_table, check_models, slug
from fairspace.leaderboard_space.boards.views import TABS, VIEWS, BoardQuery
from fairspace.leaderboard_space.boards.words import EVIDENCE, provenance_of
from fairspace.leaderboard_space.pages.figures import place_figures
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import CLASSES, Row, RowClass, none_verified
from fairspace.submissions.results.row_errors import with_errors

PAGE = 100
"""Rows per page."""
GONE = 50
"""Maximum withdrawn rows in the list, the newest."""


@dataclass(frozen=True)
class Part:
    """Rows under one heading, of one class and rank group. `means`: ends of its bars; of the first also its class."""

    title: str
    means: str
    rows: Sequence[Row]
    row_class: RowClass


def board(request: Request) -> Response:
    """The page of a board."""
    state = space_of(request).state
    query = BoardQuery.read(request.query_params)
    name, table = board_table(state, query)
    withdrawn = check_models(state, query)
    view = VIEWS[query.benchmark]
    selected, columns = table.of_tab(query)
    models = [row for row in selected if row.row_class != "baseline"]
    pages = max(1, -(-len(models) // PAGE))
    number = min(query.page, pages)
    begin = PAGE * (number - 1)
    shown = with_errors(models[begin : begin + PAGE], query.standard)
    baselines = [row for row in selected if row.row_class == "baseline"][:PAGE] if number == 1 else []
    entries = {row.entry for row in (*shown, *baselines)}
    keys = {column.key for column in columns}
    parts = _parts(shown, view.cohort, table)
    evidence = {provenance_of(row) for row in selected}
    placed = place_figures(state, query.benchmark, query.standard, "board", table=name)
    marked = {note for (entry, key), note in table.numbers.items() if entry in entries and key in keys}
    about = find_benchmark(query.benchmark)
    return page(
        request,
        "board.html.jinja",
        view=view,
        views=VIEWS.values(),
        query=query,
        about=about,
        standard=about.standards[query.standard],
        name=name,
        tables={title: slug(title) for title in view.slices},
        front=table.front,
        columns=columns,
        protocols=list(dict.fromkeys(row.protocol for row in selected)),
        parts=[part for part in parts if part.row_class != "submitted"],
        submitted=[part for part in parts if part.row_class == "submitted"],
        baselines=_parts(with_errors(baselines, query.standard), view.cohort, table),
        tabs={key: sum(row.row_class != "baseline" for row in rows) for key, rows in table.tabs.items()},
        tab_titles=TABS,
        tab="" if query.models else query.tab or table.tab,
        classes={key: about for key, about in CLASSES.items() if key in table.classes},
        none_verified=none_verified(table.classes),
        count=len(models),
        first=begin + 1,
        last=begin + len(shown),
        number=number,
        pages=pages,
        notes=[note for note in table.notes if note.number in marked],
        withdrawn=withdrawn,
        gone=state.withdrawn(query.benchmark)[:GONE],
        default_standard=about.default,
        elsewhere=len(set(query.models) - {row.entry for row in table.rows}),
        figures=placed,
        provenances={key: words for key, words in EVIDENCE.items() if key in evidence},
    )


def _parts(rows: Sequence[Row], cohorts: str, table: BoardTable) -> list[Part]:
    def key(row: Row) -> tuple[RowClass, bool, str, str]:
        return row.row_class, row.rank is not None, row.cohort, row.group

    grouped = [(about, list(members)) for about, members in groupby(rows, key)]
    groups = {row_class: {key[3] for key, _ in grouped if key[0] == row_class} for row_class in CLASSES}
    parts: list[Part] = []
    for place, ((row_class, ranked, cohort, group), members) in enumerate(grouped):
        about = CLASSES[row_class]
        title = about.title if ranked or row_class == "baseline" else f"{about.title}, unranked"
        of = (f"{cohorts.lower()} {cohort}" if cohorts and cohort else "", group if len(groups[row_class]) > 1 else "")
        title = " · ".join((title, *filter(None, of)))
        means = about.means if place == 0 or grouped[place - 1][0][0] != row_class else ""
        parts.append(Part(title, f"{table.span_of(members)} {means}", members, row_class))
    return parts
