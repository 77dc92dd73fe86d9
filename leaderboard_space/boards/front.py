"""Content of the front page: models over four tests, from even (0) to the worst (1), and the leaders of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf, log10

from fairspace.leaderboard_space.boards.figures import SIGNS, SYMBOLS, Drawing, Figure, Source, Table
from fairspace.leaderboard_space.boards.models import KNOWN, STEREOTYPED, Model, known_models, place_of
from fairspace.leaderboard_space.boards.table import numbers_of
from fairspace.leaderboard_space.boards.view import View, fair_of, part_of
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.boards.words import visibility
from fairspace.leaderboard_space.log_state import Entry, baseline_of
from fairspace.leaderboard_space.state import State
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.drawing.dots import Map, Point
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import BLUE
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import ThreeNumbers

MOST, FEWEST = 40, 5
"""Most models in the matrix, which keeps the page light; fewest points of the scatter."""
BASELINES = ("baseline: random", STEREOTYPED)
"""Bundled baselines whose scores are lines in the cells."""


@dataclass(frozen=True)
class Cell:
    """A row, and places of its fairness (None: no number, scale or another protocol), interval and baselines (`lines`).

    `facts`: its share of facts right as text, where the benchmark mixes it into the ranked score; else ''.
    """

    row: Row
    three: ThreeNumbers
    at: float | None = None
    ends: Sequence[float] = ()
    lines: Sequence[float | None] = (None, None)
    facts: str = ""


@dataclass(frozen=True)
class Test:
    """A column of protocols `group`: number of models, slug -> cell, leaders of so many ranked rows, and baselines.

    `worst` are answers that always follow the stereotype, if they are worse than every leader of their cohort; `even`
    are random ones, which are even and useless.
    """

    view: View
    group: str
    models: int
    cells: Mapping[str, Cell]
    leaders: Sequence[tuple[Cell, int]]
    worst: Sequence[Cell]
    even: Sequence[Cell]


@dataclass(frozen=True)
class Front:
    """The first `MOST` models, `count` of all and of those that we `ran`, the tests, and our last run if any."""

    models: Sequence[Model]
    count: int
    ran: int
    tests: Sequence[Test]
    last: Entry | None


def front(state: State) -> Front:
    """The front page under the default standards, kept until a board changes."""
    versions, name = tuple(map(state.version, VIEWS)), next(iter(VIEWS))
    return state.board(name, find_benchmark(name).default).get_or_make(("front", versions), lambda: _front(state))


def _front(state: State) -> Front:
    models = [(model, {name: row for name in VIEWS if (row := model.shown(name))}) for model in known_models(state)]
    models.sort(key=lambda each: all(_number(row, name) is None for name, row in each[1].items()))
    tests = [_test(state, name, {model.slug: rows[name] for model, rows in models if name in rows}) for name in VIEWS]
    logged = (e for e in state.entries() if (e.verified or e.own) and not e.withdrawn and not baseline_of(e.result))
    ran = sum(any(row.row_class in ("verified", "own") for row in rows.values()) for _, rows in models)
    last = max(logged, key=lambda entry: entry.time, default=None)
    return Front([model for model, _ in models[:MOST]], len(models), ran, tests, last)


def _number(row: Row, name: str) -> float | None:
    return fair_of(VIEWS[name], row).number(row)


def _test(state: State, name: str, rows: Mapping[str, Row]) -> Test:
    view, standard, up = VIEWS[name], find_benchmark(name).default, find_benchmark(name).higher_is_better
    scored = [row for row in state.board(name, standard) if _number(row, name) is not None]
    groups = Counter(row.group for row in rows.values() if _number(row, name) is not None)
    group = max(groups, key=lambda each: groups[each], default="")
    ours = [row for row in scored if row.provenance == "baseline" and row.own and row.model in BASELINES]
    bundled = {(row.model, row.cohort, row.group): row for row in ours}
    fit = (row for row in scored if row.row_class in KNOWN and (row.rank is not None or row.row_class == "printed"))

    def cell(row: Row) -> Cell:
        row = with_errors([row], standard)[0]
        column, mixed = fair_of(view, row), part_of(view, row).fair
        three = numbers_of(column, row)
        facts = f"{100 * share:.0f} %" if mixed and (share := mixed[1].number(row)) is not None else ""
        place = place_of(state, name, row, column) if row.group == group else None
        if three.value is None or place is None:
            return Cell(row, three, facts=facts)
        alike = (bundled.get((model, row.cohort, row.group)) for model in BASELINES)
        numbers = (None if other is None else _number(other, name) for other in alike)
        lines = tuple(None if number is None else place(number) for number in numbers)
        return Cell(row, three, place(three.value), sorted(map(place, three.interval or ())), lines, facts)

    def evenness(row: Row) -> float:  # in the worst case over what is missing, as ranks have it
        value = fair_of(view, row).of(row)
        end = value and (value.low if up else value.high)
        number = _number(row, name) if end is None else end
        return (number or 0.0) * (1 if up else -1)

    cells = {slug: cell(rows[slug]) for slug in list(rows)[:MOST]}
    ranked = [list(alike) for _, alike in groupby(fit, lambda row: row.ranked_with)]
    best = [(max(alike, key=evenness) if part_of(view, alike[0]).fair else alike[0], len(alike)) for alike in ranked]
    least = {row.cohort: min(evenness(other) for other, _ in best if other.cohort == row.cohort) for row, _ in best}
    worst = [row for row in ours if row.model == STEREOTYPED and evenness(row) < least.get(row.cohort, inf)]
    even, leaders = [row for row in ours if row.model != STEREOTYPED], [(cell(row), among) for row, among in best]
    return Test(view, group, len(rows), cells, leaders, [*map(cell, worst)], [*map(cell, even)])


def kind_of(model: Model) -> str:
    """The kind of a model by its tasks: text, image, or unified if it gives both; '' where no task has a value."""
    rows = [(name, row) for name, rows in model.rows.items() for row in rows if row.row_class in KNOWN]
    tables = {find_benchmark(name).task(task).table for name, row in rows for task in row.facts.tasks}
    kinds = {"image" if table == "annotations" else "text" for table in tables}
    return "unified" if len(kinds) > 1 else "".join(kinds)


def _draw(source: Source) -> Drawing:
    test = next(test for test in front(source.state).tests if test.view.benchmark == source.benchmark)
    sized = [(cell, cell.row.facts.parameters) for cell in test.cells.values() if cell.at is not None]
    cohorts = Counter(cell.row.cohort for cell, size in sized if size).most_common(1)
    points = []
    for cell, size in sized:
        if size and cell.row.cohort == cohorts[0][0]:
            name, ends = plain(cell.row.model), (cell.ends[0], cell.ends[1]) if cell.ends else None
            text = f"{name}, {size:g} billion parameters: {cell.three.cell_text}"
            look = source.href(cell.row), BLUE, SYMBOLS[visibility(cell.row)]
            points.append(Point(log10(size), cell.at or 0.0, name, text, *look, y_interval=ends))
    table = Table(["Model", "Size and score"], [[point.name, point.text] for point in points])
    if len(points) < FEWEST or source.standard != find_benchmark(source.benchmark).default:
        return Drawing(None, table, f"Fewer than {FEWEST} models of one kind have a known size under this standard.")
    span = min(point.x for point in points) - 0.1, max(point.x for point in points) + 0.1
    ticks = {log10(tick): f"{tick:g}" for ten in (0.01, 0.1, 1, 10, 100, 1000) for tick in (ten, 2 * ten, 5 * ten)}
    shown = Map(points, "billions of parameters", f"{test.view.title}: 0 even, 1 worst", span, (0, 1), x_ticks=ticks)
    note = f"The figure shows the {len(points)} models of this page whose size is known."
    return Drawing(lambda width: shown.draw(width, f"{test.view.title}, size and evenness"), table, note)


SIZE = Figure(
    "size",
    "Are larger models more even?",
    "Each point is a model: further to the right larger, on a logarithmic axis; further down nearer to even. Upright "
    f"bars are 95 % intervals; printed scores have none. {SIGNS} Only rows of one protocol and kind are drawn.",
    _draw,
    ("front",),
)
