"""Figures as SVG images of a requested width."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.figures import TIERS, DrawnFigure, Figure, FigureInput, Place, note
from fairspace.leaderboard_space.boards.models import SCALE
from fairspace.leaderboard_space.boards.table import slug
from fairspace.leaderboard_space.boards.view import View, total_of
from fairspace.leaderboard_space.boards.views import VIEWS, check_choice
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.state import Board, State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.results.row import Row

MOST_CHOSEN = 4
"""Maximum chosen models of a figure."""


@dataclass(frozen=True)
class Placed:
    """A figure on a page, for the macro `figure`; `address` is that of its default width."""

    about: Figure
    address: str
    drawing: DrawnFigure


FIGURES: dict[tuple[str, str], Figure] = {
    (view.benchmark, figure.name): figure for view in VIEWS.values() for figure in (TIERS, SCALE, *view.figures)
}
"""Benchmark and name -> figure."""


def find_figure(benchmark: str, name: str) -> Figure:
    """The figure of that name. SpaceError UNKNOWN_PAGE."""
    figure = FIGURES.get((benchmark, name))
    if figure is None:
        names = ", ".join(figure_name for of, figure_name in FIGURES if of == benchmark) or ", ".join(NAMES)
        raise SpaceError("UNKNOWN_PAGE", "the figure", f"{benchmark}/{name}"[:80], f"one of: {names}", "see the board")
    return figure


def draw_figure(
    state: State, benchmark: str, standard: str, name: str, models: Sequence[str] = (), table: str = ""
) -> DrawnFigure:
    """A figure of chosen models, among the rows of a table, by default the first table with these models.

    The board caches it. SpaceError UNKNOWN_PAGE, BAD_PARAMETER or UNKNOWN_ENTRY.
    """
    figure = find_figure(benchmark, name)
    view = VIEWS[benchmark]
    check_choice("table", table, ("", *map(slug, view.slices)))
    rows = board_of(state, benchmark, standard)

    def draw() -> DrawnFigure:
        rows_shown, missing = chosen_rows(rows, models)
        if missing:
            expected = "entries of rows on this board"
            raise SpaceError("UNKNOWN_ENTRY", "models", repr(missing[0]), expected, "see the board")
        if len(rows_shown) < figure.needs:
            mend = f"name up to {MOST_CHOSEN} entries, with commas between them"
            raise SpaceError("BAD_PARAMETER", "models", f"{len(rows_shown)} models", f"{figure.needs} or more", mend)
        of = table or _table_of(view, rows_shown)
        group = rows_shown[0].group if rows_shown else None
        kept = rows.get_or_make(("rows", of, group or ""), lambda: _kept_by(view, of, rows, group))
        return figure.draw(FigureInput(state, benchmark, standard, kept, rows_shown))

    return rows.get_or_make(("figure", name, table, *models), draw)


def place_figures(
    state: State, benchmark: str, standard: str, where: Place, models: Sequence[str] = (), table: str = ""
) -> list[Placed]:
    """The figures of a page, without empty ones and those that need more models than were chosen."""
    of = f"row/{','.join(models)}/" if models else f"table/{table}/" if table else ""
    return [
        Placed(about, f"/figures/{benchmark}/{standard}/{of}{name}.svg", drawing)
        for (whose, name), about in FIGURES.items()
        if whose == benchmark and where in about.places and len(models) >= about.needs
        if (drawing := draw_figure(state, benchmark, standard, name, models, table)).draw is not None
    ]


def _table_of(view: View, rows: Sequence[Row]) -> str:
    """The first table with all chosen models; '' without models or such a table."""
    names = [slug(name) for name, part in view.slices.items() if rows and all(map(part.keep, rows))]
    return names[0] if names else ""


def _kept_by(view: View, table: str, rows: Board, group: str | None) -> Board:
    """The rows of a table and a group of protocols, by default that of most models with a number."""
    parts = [part for name, part in view.slices.items() if table in ("", slug(name))]
    kept = [row for row in rows if any(part.keep(row) for part in parts)]
    models = [row for row in kept if row.row_class != "baseline"]
    groups = Counter(row.group for row in models if total_of(view, row).number(row) is not None)
    group_name = next(iter(groups.most_common(1)), (kept[0].group if kept else "", 0))[0] if group is None else group
    return Board(row for row in kept if row.group == group_name)


def board_of(state: State, name: str, standard: str) -> Board:
    """The rows of a board. SpaceError UNKNOWN_PAGE for an unknown benchmark or standard."""
    if name not in NAMES or standard not in benchmark(name).standards:
        names = ", ".join(benchmark(name).standards) if name in NAMES else ", ".join(NAMES)
        what = f"{name}, standard {standard}"
        raise SpaceError("UNKNOWN_PAGE", "the board", repr(what[:80]), f"one of: {names}", "choose one of these")
    return state.board(name, standard)


def chosen_rows(rows: Board, models: Sequence[str]) -> tuple[tuple[Row, ...], list[str]]:
    """The distinct rows of entries in the given order, and the entries that the board lacks."""
    if len(models) > MOST_CHOSEN:
        count = f"{len(models)} models"
        raise SpaceError("BAD_PARAMETER", "models", count, f"at most {MOST_CHOSEN}", "remove some")
    wanted = list(dict.fromkeys(models))
    there = rows.by_entry
    return tuple(there[entry] for entry in wanted if entry in there), [e for e in wanted if e not in there]


router = APIRouter(include_in_schema=False)
WIDTHS = (760, 360, 1160)
"""Widths of the files of a figure in pixels, the default first."""


@router.get("/figures/{benchmark}/{standard}/{name}.svg")
@router.get("/figures/{benchmark}/{standard}/table/{table}/{name}.svg")
@router.get("/figures/{benchmark}/{standard}/row/{rows}/{name}.svg")
def figure(request: Request, benchmark: str, standard: str, name: str, table: str = "", rows: str = "") -> Response:
    """A figure of a board, of a table or of some rows, whose entries have commas between them.

    `NAME.360.svg` is 360 pixels wide. Its links have the address of this site.
    """
    name, _, end = name.partition(".")
    width = check_choice("width", end, ["", *map(str, WIDTHS)])
    drawing = draw_figure(
        space_of(request).state, benchmark, standard, name, tuple(filter(None, rows.split(","))), table
    )
    wide = int(width or WIDTHS[0])
    image = note(drawing.note, wide) if drawing.draw is None else drawing.draw(wide)
    return Response(image.document(space_of(request).settings.site()).encode(), media_type="image/svg+xml")
