"""The standards of all benchmarks, at `/standards`, and each one, at `/standard/<benchmark>/<name>`."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.figures.gallery import board_of
from fairspace.leaderboard_space.boards.standard_facts import (
    cohort,
    metrics,
    moves,
    neighbours,
    origin,
    parameters,
    references,
    title_of,
)
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

router = APIRouter(include_in_schema=False)
MOST = 200
"""Models whose change of rank is listed."""


@router.get("/standards")
def standards(request: Request) -> Response:
    """All standards, with their differences."""
    listed = []
    for view in VIEWS.values():
        about = find_benchmark(view.benchmark)
        those = [
            (standard, [p for p in parameters(standard, neighbours(view.benchmark, name)[0]) if p.before is not None])
            for name, standard in about.standards.items()
        ]
        listed.append((view, those))
    return page(request, "standards.html.jinja", max_age=300, found=listed)


@router.get("/standard/{benchmark}/{name}")
def standard(request: Request, benchmark: str, name: str) -> Response:
    """One standard: parameters, changes, and their effect on ranks."""
    state = space_of(request).state
    rows = board_of(state, benchmark, name)
    about = find_benchmark(benchmark)
    chosen = about.standards[name]
    before, first = neighbours(benchmark, name)
    moved = moves(rows, board_of(state, benchmark, first.name)) if first is not None else []
    return page(
        request,
        "standard.html.jinja",
        view=VIEWS[benchmark],
        about=about,
        standard=chosen,
        before=before,
        first=first,
        parameters=parameters(chosen, before),
        metrics=metrics(benchmark, chosen),
        cohort=cohort(benchmark, chosen),
        origin=origin(benchmark, chosen),
        references=references(benchmark),
        archetypes=about.about().archetypes,
        ranked=sum(row.rank is not None for row in rows),
        moves=moved[:MOST],
        left_out=len(moved) - len(moved[:MOST]),
        title_of=title_of,
    )
