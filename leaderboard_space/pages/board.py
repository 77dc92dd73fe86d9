"""The board of a benchmark, at `/board/BENCHMARK`: its tables as pages, and as `board.json` for scripts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from fairspace.leaderboard_space.boards.table import MODEL, RANK, SECTIONS, BoardColumn, BoardTable, board_table, slug
from fairspace.leaderboard_space.boards.views import VIEWS, BoardQuery
from fairspace.leaderboard_space.boards.words import EVIDENCE
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.jobs.jobs import missing
from fairspace.leaderboard_space.pages.figures import place_figures
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT, page
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import CLASSES, Row, none_verified
from fairspace.submissions.results.row_errors import with_errors

PAGE = 100
"""Rows per page."""
GONE = 50
"""Maximum withdrawn rows in the list, the newest."""
DATA = "board.json"
router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class TablePart:
    """Rows under one heading, of one class and rank group, as lines of the table. `means`: ends of its bars."""

    title: str
    means: str
    lines: Sequence[Markup]


@router.get("/board/{benchmark}")
@router.get("/board/{benchmark}/{rest:path}")
def board(request: Request, benchmark: str, rest: str = "") -> Response:
    """A page of a table, or its data."""
    state = space_of(request).state
    query = BoardQuery.read(benchmark, rest.removesuffix(DATA))
    name, table = board_table(state, query.benchmark, query.standard, query.table)
    if rest.endswith(f"/{DATA}"):
        return Response(board_data(state, query, name, table), media_type="application/json")
    view, columns, models = VIEWS[query.benchmark], table.shown(query.wide), table.models
    number, pages = int(query.page), max(1, -(-len(models) // PAGE))
    if number > pages:
        raise SpaceError("UNKNOWN_PAGE", "page", str(number), f"one of {pages}", "start at page 1")
    shown = models[PAGE * (number - 1) : PAGE * number]
    baselines = table.sections["baseline"][:PAGE] if number == 1 else []
    keys, about = {column.key for column in columns}, find_benchmark(query.benchmark)
    marked = {
        note for row in (*shown, *baselines) for key, note in table.numbers.get(row.entry, {}).items() if key in keys
    }
    lines = _Lines(state, query, name, table, columns)
    begins = {
        section: 1 + sum(len(table.sections[before]) for before in [*SECTIONS][:place])
        for place, section in enumerate(SECTIONS)
    }
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
        front=(RANK, MODEL),
        columns=columns,
        protocols=table.protocols,
        sections={
            section: lines.parts(rows)
            for section in SECTIONS
            if section != "baseline" and (rows := [row for row in shown if table.section_of(row) == section])
        },
        titles=SECTIONS,
        baselines_left=_baselines_left(space_of(request), query.benchmark),
        baselines=lines.parts(baselines),
        sizes={section: len(table.sections[section]) for section in SECTIONS},
        places={section: -(-begin // PAGE) for section, begin in begins.items()},
        classes={key: means for key, means in CLASSES.items() if key in table.classes},
        none_verified=none_verified(table.classes),
        count=len(models),
        first=PAGE * (number - 1) + 1,
        last=PAGE * (number - 1) + len(shown),
        number=number,
        pages=pages,
        notes=[note for note in table.notes if note.number in marked],
        gone=state.withdrawn(query.benchmark)[:GONE],
        figures=place_figures(state, query.benchmark, query.standard, "board", table=name),
        provenances={key: words for key, words in EVIDENCE.items() if key in table.provenances},
    )


def _baselines_left(space: Space, benchmark: str) -> tuple[int, int]:
    """The bundled baselines that are to be scored here and are not yet, and all of them."""
    scores = space.settings.workers and space.settings.baselines
    return sum(name == benchmark for name, _ in missing(space.state)) if scores else 0, len(BASELINES)


@dataclass(frozen=True)
class _Lines:
    """The lines of a table, each made again only if what it shows has changed."""

    state: State
    query: BoardQuery
    name: str
    table: BoardTable
    columns: Sequence[BoardColumn]

    def parts(self, rows: Sequence[Row]) -> list[TablePart]:
        """The rows under their headings."""
        view = VIEWS[self.query.benchmark]
        grouped = [(about, list(of)) for about, of in groupby(rows, lambda row: (*row.ranked_with, row.rank is None))]
        groups = {row_class: {group for (of, _, group, _), _ in grouped if of == row_class} for row_class in CLASSES}
        parts: list[TablePart] = []
        for (row_class, cohort, group, is_unranked), members in grouped:
            about = CLASSES[row_class]
            unranked = is_unranked and row_class not in ("baseline", "submitted")
            cohorts = f"{view.cohort.lower()} {cohort}" if view.cohort and cohort else ""
            of = (
                f"{about.title}, unranked" if unranked else about.title,
                cohorts,
                group if len(groups[row_class]) > 1 else "",
            )
            means = f"{self.table.span_of(members)} {about.means}"
            parts.append(TablePart(" · ".join(filter(None, of)), means, [*map(self.line, members)]))
        return parts

    def line(self, row: Row) -> Markup:
        """The line of a row."""
        query = self.query
        key = ("line", query.benchmark, query.standard, self.name, query.wide, row.entry)
        return self.state.piece(key, self.table.marks(row, self.columns), lambda: self._made(row))

    def _made(self, row: Row) -> Markup:
        [scored] = with_errors([row], self.query.standard)
        template = ENVIRONMENT.get_template("parts/board_row.html.jinja")
        is_default = self.query.standard == find_benchmark(self.query.benchmark).default
        view, under = VIEWS[self.query.benchmark], "" if is_default else f"/under/{self.query.standard}"
        return Markup(template.render(row=scored, view=view, under=under, columns=self.columns))  # noqa: S704 rendered


def board_data(state: State, query: BoardQuery, name: str, table: BoardTable) -> bytes:
    """A table's data for scripts: its scores, and its rows with values and lines, as JSON."""
    bench, columns = find_benchmark(query.benchmark), table.shown(query.wide)
    lines = _Lines(state, query, name, table, columns)
    scores = (table.part.total, *table.part.columns)

    def data(row: Row) -> bytes:
        [scored] = with_errors([row], query.standard)
        values: dict[str, Any] = {}
        for column in scores:
            if (value := column.of(scored)) is not None:
                sure = value.uncertainty
                errors = (None,) * 4 if sure is None else (sure.error, sure.low, sure.high, sure.fair)
                values[column.score] = [value.value, *errors]
        about = {
            "entry": row.entry,
            "model": plain(row.model),
            "organisation": plain(row.organisation),
            "class": row.row_class,
            "part": table.section_of(row),
            "cohort": row.cohort,
            "group": row.group,
            "protocol": row.protocol,
            "rank": row.rank,
            "address": f"/model/{query.benchmark}/{row.entry}",
            "values": values,
            "tr": lines.line(row),
        }
        return orjson.dumps(about)

    def fragment(row: Row) -> orjson.Fragment:
        key = ("data", query.benchmark, query.standard, name, query.wide, row.entry)
        return orjson.Fragment(state.piece(key, table.marks(row, columns), lambda: data(row)))

    about = {
        "benchmark": query.benchmark,
        "standard": query.standard,
        "table": name,
        "higher_is_better": bench.higher_is_better,
        "sections": SECTIONS,
        "scores": [
            {
                "key": column.score,
                "header": column.header,
                "words": bench.describe(column.score),
                "ideal": None if (ideal := bench.ideal(column.score, query.standard)) is None else ideal.number,
                "digits": column.digits,
            }
            for column in scores
        ],
        "rows": [fragment(row) for row in (*table.models, *table.sections["baseline"])],
    }
    return orjson.dumps(about)
