"""Content of the front page: for each test the most even models between our random and stereotyped answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf

from fairspace.leaderboard_space.boards.models import BASELINES, KNOWN, STEREOTYPED, BoardModel, known_models, place_of
from fairspace.leaderboard_space.boards.table import numbers_of
from fairspace.leaderboard_space.boards.view import View, fair_of, part_of
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.logged import LoggedRow, baseline_of
from fairspace.leaderboard_space.state import State
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.shipped import shipped_results
from fairspace.submissions.results.three_numbers import ThreeNumbers
from fairspace.submissions.show.figure import ends_from_ideal

LISTED, NAMED, COMPARABLE = 5, 200, 10
"""Most even models of a test; names that the search offers; models with two tests from which on a table has all."""


@dataclass(frozen=True)
class FrontCell:
    """A row, its fairness, places of that and its interval between our anchors, and its facts right as text, or ''."""

    row: Row
    three: ThreeNumbers
    at: float | None = None
    ends: Sequence[float] = ()
    facts: str = ""


@dataclass(frozen=True)
class Test:
    """A test, number of models, and those of the cohort and protocols of most models, best first.

    `cells` are the first `LISTED` of `among` such models and the last one; `leaders` the best of each kind, of so many.
    `worst` are answers that always follow the stereotype, if they are worse than every leader of their cohort; `even`
    are random ones, which are even and useless.
    """

    view: View
    models: int
    cohort: str
    group: str
    cells: Sequence[FrontCell]
    among: int
    leaders: Sequence[tuple[FrontCell, int]]
    worst: Sequence[FrontCell]
    even: Sequence[FrontCell]


@dataclass(frozen=True)
class Front:
    """The first `NAMED` models, `count` of all and of those that we `ran`, tests, our last run and its day if known.

    `grid`: models with two tests or more, and a cell for each test or None; empty below `COMPARABLE` of them.
    """

    models: Sequence[BoardModel]
    count: int
    ran: Sequence[BoardModel]
    tests: Sequence[Test]
    last: LoggedRow | None
    day: str
    grid: Sequence[tuple[BoardModel, Sequence[FrontCell | None]]]


def front(state: State) -> Front:
    """The front page under the default standards, kept until a board changes."""
    boards = [state.board(name, find_benchmark(name).default) for name in VIEWS]
    versions = tuple(board.version for board in boards)  # of what is shown, not of the log
    return boards[0].get_or_make(("front", versions), lambda: _front(state))


def _front(state: State) -> Front:
    models = [(model, {name: row for name in VIEWS if (row := model.shown(name))}) for model in known_models(state)]
    tests = [_test(state, name, sum(name in rows for _, rows in models)) for name in VIEWS]
    logged = (e for e in state.entries() if (e.verified or e.own) and not e.withdrawn and not baseline_of(e.result))
    ran = [m for m, rows in models if any(row.row_class in ("verified", "own") for row in rows.values())]
    last = max(logged, key=lambda entry: entry.time, default=None)
    shipped = {result.signature.get("submission") for result in shipped_results()}
    day = last.time[:10] if last and last.result.signature.get("submission") not in shipped else ""
    return Front([model for model, _ in models[:NAMED]], len(models), ran, tests, last, day, _grid(state, models))


def _grid(
    state: State, models: Sequence[tuple[BoardModel, Mapping[str, Row]]]
) -> list[tuple[BoardModel, list[FrontCell | None]]]:
    scored = [(m, {n: row for n, row in rows.items() if _number(row, n) is not None}) for m, rows in models]
    several = [(model, rows) for model, rows in scored if len(rows) > 1]
    grid = [(model, [_cell(state, n, rows[n]) if n in rows else None for n in VIEWS]) for model, rows in several]
    return grid if len(grid) >= COMPARABLE else []


def _number(row: Row, name: str) -> float | None:
    return fair_of(VIEWS[name], row).number(row)


def _cell(state: State, name: str, row: Row) -> FrontCell:
    standard, column, mixed = find_benchmark(name).default, fair_of(VIEWS[name], row), part_of(VIEWS[name], row).fair
    row = with_errors([row], standard)[0]
    three, share = numbers_of(column, row), mixed and mixed[1].number(row)
    facts = "" if share is None else f"{100 * share:.0f} %"
    place = place_of(state.board(name, standard), name, standard, row, column)
    if three.value is None or place is None:
        return FrontCell(row, three, facts=facts)
    ends = ends_from_ideal(place, find_benchmark(name).ideal(column.score, standard), three.interval)
    return FrontCell(row, three, place(three.value), ends or (), facts)


def _test(state: State, name: str, models: int) -> Test:
    view, standard, up = VIEWS[name], find_benchmark(name).default, find_benchmark(name).higher_is_better
    scored = [row for row in state.board(name, standard) if _number(row, name) is not None]
    ours = [row for row in scored if row.provenance == "baseline" and row.own and row.model in BASELINES]
    fit = [row for row in scored if row.row_class in KNOWN and (row.rank is not None or row.row_class == "printed")]

    def evenness(row: Row) -> float:  # in the worst case over what is missing, as ranks have it
        value = fair_of(view, row).of(row)
        end = value and (value.low if up else value.high)
        number = _number(row, name) if end is None else end
        return (number or 0.0) * (1 if up else -1)

    kinds = Counter((row.cohort, row.group) for row in fit)
    main = cohort, group = max(kinds, key=lambda kind: kinds[kind], default=("", ""))
    alike = sorted((row for row in fit if (row.cohort, row.group) == main), key=evenness, reverse=True)
    ranked = (list(rows) for _, rows in groupby(fit, lambda row: row.ranked_with))
    best = sorted(((max(rows, key=evenness), len(rows)) for rows in ranked), key=lambda b: b[0].ranked_with[1:] != main)
    least = {row.cohort: min(evenness(other) for other, _ in best if other.cohort == row.cohort) for row, _ in best}
    worst = [row for row in ours if row.model == STEREOTYPED and evenness(row) < least.get(row.cohort, inf)]
    shown = [*alike[:LISTED], *alike[LISTED:][-1:]], worst, [row for row in ours if row.model != STEREOTYPED]
    cells, bad, even = ([_cell(state, name, row) for row in rows] for rows in shown)
    leaders = [(_cell(state, name, row), among) for row, among in best]
    return Test(view, models, cohort, group, cells, len(alike), leaders, bad, even)
