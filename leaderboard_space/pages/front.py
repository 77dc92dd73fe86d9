"""The front page, at `/`: models over four tests."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.findings import findings
from fairspace.leaderboard_space.boards.front import front
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.figures import place_figures
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.pages.texts import document
from fairspace.leaderboard_space.web.identity import site_of, space_of
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import CLASSES

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request) -> Response:
    """The front page."""
    state = space_of(request).state
    scatters = [each for name in VIEWS for each in place_figures(state, name, find_benchmark(name).default, "front")]
    return page(
        request,
        "front.html.jinja",
        front=front(state),
        findings=findings(state),
        scatter=max(scatters, key=lambda placed: len(placed.drawing.table.rows), default=None),
        classes=CLASSES,
        errata=document("cards/errata.md").html.count("<h3"),
        address=site_of(request),
    )
