"""Is IRIS itself to be trusted, at `/validation`: over the paper's models, and over the ranked ones scored here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.by_board import ByBoard
from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.row import Row
from fairspace.submissions.standards.validation import LEAST, Correlation, Stability, Validation, validations

router = APIRouter(include_in_schema=False)
STEPS = (0.3, 0.5, 0.7)
"""From these sizes on, a correlation is drawn one step darker; the last is what is usually called high."""
_FOUND: ByBoard[list[Validation]] = ByBoard(4)


@dataclass(frozen=True)
class Cell:
    """The correlation of two sectors: its number, and a step of its size with its sign; None where it is undefined."""

    r: float | None
    p: float | None
    step: int = 0


@router.get("/validation")
def validation(request: Request) -> Response:
    """What `fairspace standard validate` prints, over the board's rows."""
    state = space_of(request).state
    query = BoardQuery.read(request.query_params, benchmark="iris")
    chosen = benchmark("iris").standards[query.standard]

    def made(rows: Sequence[Row]) -> list[Validation]:
        return validations(rows, chosen)

    found = _FOUND.of(("iris", query.standard, "validation"), lambda: state.board("iris", query.standard), made)
    return page(
        request,
        "validation.html.jinja",
        found=[(one, matrix(one.correlations), moved(one.leave_one_out), moved(one.reweighted)) for one in found],
        least=LEAST,
        standard=query.standard,
        standards=list(benchmark("iris").standards),
    )


def matrix(found: Sequence[Correlation]) -> dict[tuple[str, str], Cell]:
    """Both halves of the correlations, by pair of sectors."""
    cells = {}
    for one in found:
        step = 0 if one.r is None else sum(abs(one.r) >= size for size in STEPS)
        cells[one.first, one.second] = cells[one.second, one.first] = Cell(one.r, one.p, step)
    return cells


@dataclass(frozen=True)
class Moved:
    """Changes of one kind: those that move a rank, how many move none, and those that cannot be made.

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


def moved(found: Sequence[Stability]) -> Moved:
    """The changes of one kind, sorted."""
    known = [one for one in found if one.rho is not None]
    still = [one for one in known if one.rho is not None and one.rho > 1 - 1e-9]
    moving = sorted((one for one in known if one not in still), key=lambda one: one.rho or 0.0)
    return Moved(
        tuple(moving),
        len(still),
        tuple(one for one in found if one.rho is None),
        min((one.rho for one in known if one.rho is not None), default=None),
        sum(one.printed == 1.0 for one in still),
    )
