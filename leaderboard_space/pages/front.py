"""The front page, at `/`: models over all tests."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.findings import findings
from fairspace.leaderboard_space.boards.front import front
from fairspace.leaderboard_space.boards.models import slug_of
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.pages.texts import document
from fairspace.leaderboard_space.web.identity import site_of, space_of
from fairspace.submissions.results.row import CLASSES

router = APIRouter(include_in_schema=False)


@router.get("/")
def home(request: Request) -> Response:
    """The front page."""
    state, errata = space_of(request).state, document("cards/errata.md")
    parts = errata.html.split("<h2")[1:]
    return page(
        request,
        "front.html.jinja",
        front=front(state),
        findings=findings(state),
        slug_of=slug_of,
        classes=CLASSES,
        errata={title: part.count("<h3") for title, part in zip(errata.headings.values(), parts, strict=True)},
        address=site_of(request),
    )
