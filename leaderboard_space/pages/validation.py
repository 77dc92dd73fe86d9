"""Validation at `/validation`: how far the values of each benchmark can be relied on, over the rows of its board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.board_cache import BoardCache
from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.metrics.iris_score.standards import IrisStandard
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.results.row import Row
from fairspace.submissions.standards.validation import LEAST, Correlation, Stability, Validation, validations
from fairspace.submissions.validity.board_report import BoardReport, board_report, by_reason
from fairspace.submissions.validity.decision import GOOD
from fairspace.submissions.validity.rank_correlation import FEWEST

router = APIRouter(include_in_schema=False)
STEPS = (0.3, 0.5, 0.7)
"""From these sizes on, a correlation is drawn one step darker; the last is what is usually called high."""
_VALIDATIONS: BoardCache[list[Validation]] = BoardCache(4)
_REPORTS: BoardCache[BoardReport] = BoardCache(8)


@dataclass(frozen=True)
class Cell:
    """The correlation of two sectors: its number, and a step of its size with its sign; None where it is undefined."""

    r: float | None
    p: float | None
    step: int = 0


@router.get("/validation")
def validation(request: Request) -> Response:
    """What `fairspace standard validate --benchmark` prints, over the board's rows; of IRIS also its paper's checks."""
    state = space_of(request).state
    query = BoardQuery.read(request.query_params)
    bench, chosen = benchmark(query.benchmark), benchmark(query.benchmark).standards[query.standard]
    key = (query.benchmark, query.standard)

    def rows() -> tuple[Row, ...]:
        return state.board(*key)

    def report(mine: Sequence[Row]) -> BoardReport:
        others = {name: state.board(name) for name in NAMES if name != query.benchmark}
        return board_report(query.benchmark, {**others, query.benchmark: mine})

    results: list[Validation] = []
    if isinstance(chosen, IrisStandard):
        results = _VALIDATIONS.get_or_make((*key, "validation"), rows, lambda mine: validations(mine, chosen))
    versions = tuple(state.version(name) for name in NAMES)  # other boards change without this one
    return page(
        request,
        "validation.html.jinja",
        cohorts=[
            (validation, matrix(validation.correlations), moved(validation.leave_one_out), moved(validation.reweighted))
            for validation in results
        ],
        report=_REPORTS.get_or_make((*key, *versions), rows, report),
        by_reason=by_reason,
        few=FEWEST,
        good=GOOD,
        least=LEAST,
        title=bench.title,
        views=list(VIEWS.values()),
        benchmark=query.benchmark,
        standard=query.standard,
        standards=list(bench.standards),
    )


def matrix(correlations: Sequence[Correlation]) -> dict[tuple[str, str], Cell]:
    """Both halves of the correlations, by pair of sectors."""
    cells = {}
    for correlation in correlations:
        step = 0 if correlation.r is None else sum(abs(correlation.r) >= size for size in STEPS)
        cells[correlation.first, correlation.second] = cells[correlation.second, correlation.first] = Cell(
            correlation.r, correlation.p, step
        )
    return cells


@dataclass(frozen=True)
class Moved:
    """Changes of one kind: those that move a rank, the number that move none, and those that cannot be computed.

    Args:
        moving: the largest move first.
        still: how many leave every rank where it is.
        unknown: those whose values are not there.
        least: smallest correlation of all; None if there is none.
        printed_still: how many of `still` the paper prints, with 1 too.
    """

    moving: tuple[Stability, ...]
    still: int
    unknown: tuple[Stability, ...]
    least: float | None
    printed_still: int


def moved(stabilities: Sequence[Stability]) -> Moved:
    """The changes of one kind, sorted."""
    defined = [stability for stability in stabilities if stability.rho is not None]
    still = [stability for stability in defined if stability.rho is not None and stability.rho > 1 - 1e-9]
    moving = sorted(
        (stability for stability in defined if stability not in still), key=lambda stability: stability.rho or 0.0
    )
    return Moved(
        tuple(moving),
        len(still),
        tuple(stability for stability in stabilities if stability.rho is None),
        min((stability.rho for stability in defined if stability.rho is not None), default=None),
        sum(stability.printed == 1.0 for stability in still),
    )
