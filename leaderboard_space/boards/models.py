"""Models over all boards: the rows of one name, and their places on one scale from even (0) to the worst (1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from fairspace.leaderboard_space.boards.figures import Drawing, Figure, Source, Table, dot, told
from fairspace.leaderboard_space.boards.view import Column, part_of, total_of
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.state import Board, State
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.drawing.dots import DotPlot, Line, dot_plots
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import BLUE, INK, number
from fairspace.submissions.report.figure import ends_from_ideal, from_ideal
from fairspace.submissions.results.row import CLASSES, ORDER, Facts, Row, RowClass
from fairspace.submissions.results.row_errors import with_errors

STEREOTYPED = "baseline: stereotyped"
"""Name of the bundled baseline that stands for the worst where a score has no upper limit."""
KNOWN: Sequence[RowClass] = ("verified", "own", "printed")
"""Classes on the front page: what we or a paper ran; submitted rows stand on the boards and on a model's page."""
_UNSAFE = re.compile(r"[^\w.]+")
_CHARACTERS = 60


def slug_of(name: str) -> str:
    """A model's name in addresses: small letters, digits, dots and dashes; '' for a name without any."""
    return _UNSAFE.sub("-", plain(name).casefold()).strip("-.")[:_CHARACTERS]


@dataclass(frozen=True)
class Model:
    """A model of a name and its rows, `rows`: benchmark -> rows by evidence, the best first; none is a baseline."""

    slug: str
    name: str
    rows: Mapping[str, Sequence[Row]]

    @property
    def facts(self) -> Facts:
        """Facts of its row with the best evidence that knows its size."""
        rows = [row for rows in self.rows.values() for row in rows]
        every = sorted([row for row in rows if row.row_class in KNOWN] or rows, key=_evidence)
        return next((row.facts for row in every if row.facts.parameters is not None), every[0].facts)

    @cached_property
    def known(self) -> Mapping[str, Sequence[Row]]:
        """Its rows of the classes in `KNOWN` by benchmark, without benchmarks that have none."""
        known = {name: [row for row in rows if row.row_class in KNOWN] for name, rows in self.rows.items()}
        return {name: rows for name, rows in known.items() if rows}

    def shown(self, benchmark: str) -> Row | None:
        """The row for a matrix: the first with a score, else the first; None where the model was not run."""
        rows = self.known.get(benchmark, ())
        scored = (row for row in rows if total_of(VIEWS[benchmark], row).number(row) is not None)
        return next(scored, rows[0] if rows else None)


def find_model(state: State, slug: str) -> Model | None:
    """The model of a slug, under the default standards; None if no row has its name."""
    rows = {name: named for name in VIEWS if (named := _by_slug(state, name).get(slug))}
    return _model(slug, rows) if rows else None


def known_models(state: State) -> list[Model]:
    """The models that we or a paper ran: those with the best evidence and the most tests first, then by name."""
    boards = {name: _by_slug(state, name) for name in VIEWS}
    slugs = {slug for board in boards.values() for slug, rows in board.items() if rows[0].row_class in KNOWN}
    models = [_model(slug, {name: board[slug] for name, board in boards.items() if slug in board}) for slug in slugs]

    def place(model: Model) -> tuple[int, int, str]:
        shown = [row for name in VIEWS if (row := model.shown(name))]
        return min(ORDER[row.row_class] for row in shown), -len(shown), model.slug

    return sorted(models, key=place)


def place_of(
    state: State, benchmark: str, row: Row, column: Column | None = None, standard: str = ""
) -> Callable[[float], float] | None:
    """Distance of a row's score from its ideal, in [0, 1] of the worst that it can be; None without a scale.

    Where a score has no limit, 1 is the fully stereotyped baseline of the row's cohort and protocol, once it is scored.
    `column` is that of the ranked score unless given, `standard` the benchmark's default.
    """
    bench, column = find_benchmark(benchmark), column or total_of(VIEWS[benchmark], row)
    standard = standard or bench.default
    place = from_ideal(bench, standard, column.score, row.labels)
    if place is not None:
        return place
    ideal = bench.ideal(column.score, standard)
    alike = (other for other in state.board(benchmark, standard) if other.ranked_with[1:] == row.ranked_with[1:])
    stereotyped = (other for other in alike if other.provenance == "baseline" and other.model == STEREOTYPED)
    worst = next((number for other in stereotyped if (number := column.number(other)) is not None), None)
    if worst is None or ideal is None or ideal.number is None or worst == ideal.number:
        return None
    best, most = ideal.number, abs(worst - ideal.number)
    return lambda number: min(abs(number - best) / most, 1.0)


def _model(slug: str, rows: Mapping[str, Sequence[Row]]) -> Model:
    best = min((rows_of[0] for rows_of in rows.values()), key=_evidence)
    return Model(slug, plain(best.model), rows)


def _evidence(row: Row) -> int:
    return ORDER[row.row_class]


def _by_slug(state: State, benchmark: str) -> Mapping[str, Sequence[Row]]:
    board = state.board(benchmark, find_benchmark(benchmark).default)
    made: Mapping[str, Sequence[Row]] = board.get_or_make("models", lambda: _grouped(board))
    return made


def _grouped(board: Board) -> Mapping[str, Sequence[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in sorted((row for row in board if row.row_class != "baseline"), key=_evidence):
        if slug := slug_of(row.model):
            groups.setdefault(slug, []).append(row)
    return groups


def _draw_scale(source: Source) -> Drawing:
    """The ranked score of each chosen row and its parts, a plot for each row: protocols have axes of their own."""
    bench, plots, cells = find_benchmark(source.benchmark), [], []
    keys = {"value, 95 % interval where it is known": (BLUE, "circle")}
    for row in with_errors(source.chosen, source.standard):
        lines, part = [], part_of(VIEWS[source.benchmark], row)
        head = " · ".join(filter(None, (CLASSES[row.row_class].title, row.cohort, row.protocol)))
        for column in (part.total, *part.columns):
            value, name = column.of(row), column.header
            mark = dot(source, row, value, column.digits, what=name, symbol="circle")
            place = place_of(source.state, source.benchmark, row, column, source.standard)
            if value is None or mark is None or place is None:
                continue
            at, ideal = place(mark.value), bench.ideal(column.score, source.standard)
            mark = replace(mark, value=at, interval=ends_from_ideal(place, ideal, mark.interval), bounds=None)
            fair = None if value.uncertainty is None else value.uncertainty.fair
            if fair is not None:
                keys["a fair model by chance"] = (INK, "tick")
            chance = None if fair is None else (place(fair), f"{name} by chance: {column.show(fair)}")
            lines.append(Line(name, [mark], reference=chance))
            cells.append([head, name, told(row, value, column.digits), column.show(fair), number(at, 2)])
        plots += [DotPlot(lines, (0.0, 1.0), levels={0.0: "even", 1.0: "worst"}, heading=head)] if lines else []
    draw = partial(dot_plots, title=SCALE.title, plots=plots, keys=keys) if plots else None
    table = Table(["Row", "Score", "Value", "By chance", "Place"], cells)
    return Drawing(draw, table, "" if plots else "No score has a place between even and worst.")


SCALE = Figure(
    "scale",
    "From even to worst",
    "Dots are scores, lines their 95 % intervals. 0 is even, or all right; 1 is the worst that the score can be or, "
    "without such a limit, the fully stereotyped baseline. A tick is the mean of fair models with as many answers. "
    "Printed numbers have no interval. Numbers of different protocols do not compare.",
    _draw_scale,
    ("models",),
    1,
)
"""Figure of a model's page: its scores of one benchmark on one scale."""
