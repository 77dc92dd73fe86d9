"""Models over all boards: the rows of one name, and their places on one scale from even (0) to the worst (1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fairspace.leaderboard_space.boards.view import total_of
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.state import Board, State
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.report.figure import from_ideal
from fairspace.submissions.results.row import ORDER, Facts, Row, RowClass

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

    def shown(self, benchmark: str) -> Row | None:
        """The row for a matrix: the first with a score, else the first; None where the model was not run."""
        rows = [row for row in self.rows.get(benchmark, ()) if row.row_class in KNOWN]
        scored = (row for row in rows if total_of(VIEWS[benchmark], row).number(row) is not None)
        return next(scored, rows[0] if rows else None)


def find_model(state: State, slug: str) -> Model | None:
    """The model of a slug, under the default standards; None if no row has its name."""
    rows = {name: found for name in VIEWS if (found := _by_slug(state, name).get(slug))}
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


def place_of(state: State, benchmark: str, row: Row) -> Callable[[float], float] | None:
    """Distance of a row's ranked score from its ideal, in [0, 1] of the worst that it can be; None without a scale.

    Where a score has no limit, 1 is the fully stereotyped baseline of the row's cohort and protocol, once it is scored.
    """
    bench, column = find_benchmark(benchmark), total_of(VIEWS[benchmark], row)
    standard = bench.default
    place = from_ideal(bench, standard, column.score, row.labels)
    if place is not None:
        return place
    ideal = bench.ideal(column.score, standard)
    alike = (other for other in state.board(benchmark, standard) if other.ranked_with[1:] == row.ranked_with[1:])
    stereotyped = (other for other in alike if other.model == STEREOTYPED)
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
