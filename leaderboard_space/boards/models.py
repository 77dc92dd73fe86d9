"""Models over all boards: the rows of one name, and their places between our random and stereotyped answers."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import log

from fairspace.leaderboard_space.boards.figures import DrawnFigure, Figure, FigureInput, dot, told
from fairspace.leaderboard_space.boards.view import Column, part_of, total_of
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.state import Board, State
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.drawing.dots import DotLine, DotPlot, dot_plots
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import CLASSES, ORDER, Facts, Row, RowClass
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.show.figure import ends_from_ideal
from fairspace.submissions.show.table import Table

STEREOTYPED = "baseline: stereotyped"
BASELINES = ("baseline: random", STEREOTYPED)
"""Names of the bundled answerers between which scores are drawn: even and useless, and always the stereotype."""
KNOWN: Sequence[RowClass] = ("verified", "own", "printed")
"""Classes on the front page: what we or a paper ran; submitted rows stand on the boards and on a model's page."""
_UNSAFE = re.compile(r"[^\w.]+")
_CHARACTERS = 60


def slug_of(name: str) -> str:
    """A model's name in addresses: small letters, digits, dots and dashes; '' for a name without any."""
    return _UNSAFE.sub("-", plain(name).casefold()).strip("-.")[:_CHARACTERS].rstrip("-.")


@dataclass(frozen=True)
class BoardModel:
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
        run_rows = {name: [row for row in rows if row.row_class in KNOWN] for name, rows in self.rows.items()}
        return {name: rows for name, rows in run_rows.items() if rows}

    def shown(self, benchmark: str) -> Row | None:
        """The row for a matrix: the first with a score, else the first; None where the model was not run."""
        rows = self.known.get(benchmark, ())
        scored = (row for row in rows if total_of(VIEWS[benchmark], row).number(row) is not None)
        return next(scored, rows[0] if rows else None)


def find_model(state: State, slug: str) -> BoardModel | None:
    """The model of a slug, under the default standards; None if no row has its name."""
    rows = {name: by_slug for name in VIEWS if (by_slug := _by_slug(state, name).get(slug))}
    return _model(slug, rows) if rows else None


def known_models(state: State) -> list[BoardModel]:
    """The models that we or a paper ran: those with the best evidence and the most tests first, then by name."""
    boards = {name: _by_slug(state, name) for name in VIEWS}
    slugs = {slug for board in boards.values() for slug, rows in board.items() if rows[0].row_class in KNOWN}
    models = [_model(slug, {name: board[slug] for name, board in boards.items() if slug in board}) for slug in slugs]

    def place(model: BoardModel) -> tuple[int, int, str]:
        shown = [row for name in VIEWS if (row := model.shown(name))]
        return min(ORDER[row.row_class] for row in shown), -len(shown), model.slug

    return sorted(models, key=place)


def anchors_of(rows: Iterable[Row], row: Row) -> list[Row | None]:
    """Our own random and stereotyped answers, scored in the cohort and group of protocols of a row; None without."""
    ours = (each for each in rows if each.provenance == "baseline" and each.own)
    by_protocol = {(each.model, each.cohort, each.group): each for each in ours}
    return [by_protocol.get((name, row.cohort, row.group)) for name in BASELINES]


def anchor_numbers(rows: Iterable[Row], row: Row, column: Column) -> tuple[float | None, float | None]:
    """The scores of our random and our stereotyped answers by a row's protocol; None without."""
    even, worst = (None if anchor is None else column.number(anchor) for anchor in anchors_of(rows, row))
    return even, worst


def place_of(rows: Board, benchmark: str, standard: str, row: Row, column: Column) -> Callable[[float], float] | None:
    """Place of a score between our random (0) and our stereotyped answers (1), logarithmic as the benchmark's scores.

    None unless both are scored on a board's `rows` by the row's protocol, and the stereotyped ones are less even.
    """
    bench = find_benchmark(benchmark)
    ideal = bench.ideal(column.score, standard)
    even, worst = anchor_numbers(rows, row, column)
    if even is None or worst is None or (bench.scoring.logarithmic and min(even, worst) <= 0):
        return None
    least = min(even, worst)

    def away(number: float) -> float:
        if ideal is not None and ideal.number is not None:
            return abs(number - ideal.number)
        size = log(max(number, least)) if bench.scoring.logarithmic else number
        return -size if bench.higher_is_better else size

    first, last = away(even), away(worst)
    return None if last <= first else lambda number: min(max((away(number) - first) / (last - first), 0.0), 1.0)


def _model(slug: str, rows: Mapping[str, Sequence[Row]]) -> BoardModel:
    best = min((rows_of[0] for rows_of in rows.values()), key=_evidence)
    return BoardModel(slug, plain(best.model), rows)


def _evidence(row: Row) -> int:
    return ORDER[row.row_class]


def _by_slug(state: State, benchmark: str) -> Mapping[str, Sequence[Row]]:
    board = state.board(benchmark, find_benchmark(benchmark).default)

    def grouped() -> dict[str, list[Row]]:
        groups: dict[str, list[Row]] = {}
        for row in sorted((row for row in board if row.provenance != "baseline"), key=_evidence):
            if slug := slug_of(row.model):
                groups.setdefault(slug, []).append(row)
        return groups

    return board.get_or_make("models", grouped)


def _draw_scale(source: FigureInput) -> DrawnFigure:
    """The ranked score of each chosen row and its parts, a plot for each row: protocols have axes of their own."""
    bench, plots, cells = find_benchmark(source.benchmark), [], []
    board = source.state.board(source.benchmark, source.standard)
    for row in with_errors(source.chosen, source.standard):
        lines, part = [], part_of(VIEWS[source.benchmark], row)
        head = " · ".join(filter(None, (CLASSES[row.row_class].title, row.cohort, row.protocol)))
        for column in (part.total, *part.columns):
            mark = dot(source, row, column.of(row), column.digits, what=column.header, symbol="circle")
            place = place_of(board, source.benchmark, source.standard, row, column)
            if mark is None or place is None:
                continue
            at, ends = (
                place(mark.value),
                ends_from_ideal(place, bench.ideal(column.score, source.standard), mark.interval),
            )
            lines.append(DotLine(column.header, [replace(mark, value=at, interval=ends, bounds=None)]))
            cells.append([head, column.header, told(row, column.of(row), column.digits), number(at, 2)])
        plots += [DotPlot(lines, (0.0, 1.0), levels={0.0: "random", 1.0: "stereotype"}, heading=head)] if lines else []
    draw = partial(dot_plots, title=SCALE.title, plots=plots) if plots else None
    note = "" if plots else "No score lies between random and stereotyped answers of its protocol."
    return DrawnFigure(draw, Table(["Row", "Score", "Value", "Place"], cells), note)


SCALE = Figure(
    "scale",
    "Between random answers and the stereotype",
    "Dots are scores, lines 95 % intervals (printed ones have none), between our random answers (0: even, and useless) "
    "and those that always follow the stereotype (1), by the protocol of the row; without both nothing is drawn.",
    _draw_scale,
    ("models",),
    1,
)
"""Figure of a model's page: its scores of one benchmark on one scale."""
