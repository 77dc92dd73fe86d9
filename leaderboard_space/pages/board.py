"""The board of a benchmark, at `/?benchmark=`: its rows, which `board.js` searches and sorts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from fastapi import Request, Response

from fairspace.leaderboard_space.boards.table import BoardTable, board_table, check_models, slug
from fairspace.leaderboard_space.boards.view import View
from fairspace.leaderboard_space.boards.views import VIEWS, BoardQuery
from fairspace.leaderboard_space.boards.words import EVIDENCE
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
    """Rows under one heading: their class and rank group. `means` explains the class at its first part."""

    title: str
    means: str
    rows: Sequence[Row]
    row_class: RowClass

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.rows)


def board(request: Request) -> Response:
    """The page of a board."""
    state = space_of(request).state
    query = BoardQuery.read(request.query_params)
    name, table = board_table(state, query)
    withdrawn = check_models(state, query)
    view = VIEWS[query.benchmark]
    selected = table.select(query)
    models = [row for row in selected if row.row_class != "baseline"]
    pages = max(1, -(-len(models) // PAGE))
    number = min(query.page, pages)
    begin = PAGE * (number - 1)
    shown = with_errors(models[begin : begin + PAGE], query.standard)
    baselines = [row for row in selected if row.row_class == "baseline"][:PAGE] if number == 1 else []
    entries = {row.entry for row in (*shown, *baselines)}
    columns = table.columns.shown(query.wide)
    keys = {column.key for column in columns}
    parts = _parts(shown, view.cohort)
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
        protocols=table.protocols,
        parts=[part for part in parts if part.row_class != "handed in"],
        submitted=[part for part in parts if part.row_class == "handed in"],
        baselines=_parts(with_errors(baselines, query.standard), ""),
        classes=CLASSES,
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
        elsewhere=_elsewhere(view, query, table),
        figures=place_figures(state, query.benchmark, query.standard, "board", table=name),
        provenances=EVIDENCE,
    )


def _parts(rows: Sequence[Row], cohorts: str) -> list[Part]:
    def key(row: Row) -> tuple[RowClass, bool, str, str]:
        return row.row_class, row.rank is not None, *((row.cohort, row.group) if row.rank is not None else ("", ""))

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


def _elsewhere(view: View, query: BoardQuery, table: BoardTable) -> int:
    """Number of named rows that only other tables of the benchmark have."""
    if not query.models or len(view.slices) == 1:
        return 0
    here = {row.entry for row in table.rows}
    return len(set(query.models) - here)
