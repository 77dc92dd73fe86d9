"""Pages of text: the errata, what a rank means, how to submit, and what this is about."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.documents import document
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import site_of, space_of
from fairspace.submissions.answers.misreading import measured_errors
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.reading.limits import Limits
from fairspace.submissions.results.row import CLASSES

router = APIRouter(include_in_schema=False)
ROBOTS = """User-agent: *
Disallow: /submission/
Disallow: /download/
Disallow: /figures/
Disallow: /gradio_api/
Disallow: /api/v1/submissions
"""


@router.get("/errata")
def errata(request: Request) -> Response:
    """Errata of published tables, with anchors such as `#e-iris-02`."""
    return page(request, "document.html.jinja", max_age=300, document=document("cards/errata.md"))


@router.get("/trust")
def trust(request: Request) -> Response:
    """What a rank means, what verified means, and what cannot be excluded."""
    return page(request, "document.html.jinja", max_age=300, document=document("leaderboard_space/TRUST.md"))


@router.get("/how-to-submit")
def how_to_submit(request: Request) -> Response:
    """The steps with their commands, limits and quotas, visibility, ethics, and the format in full."""
    return page(
        request,
        "how_to_submit.html.jinja",
        max_age=300,
        settings=space_of(request).settings,
        limits=Limits(),
        views=VIEWS.values(),
        tasks={name: find_benchmark(name).task_names() for name in VIEWS},
        address=site_of(request),
        format=document("submissions/FORMAT.md", "format-"),
        running=document("submissions/RUNNING.md", "running-"),
    )


@router.get("/robots.txt")
def robots() -> Response:
    """Addresses that crawlers should not read."""
    return Response(ROBOTS, headers={"Cache-Control": "public, max-age=86400"}, media_type="text/plain")


@router.get("/about")
def about(request: Request) -> Response:
    """About the boards: terms, and what scores do not show."""
    readers = measured_errors().values()
    return page(request, "about.html.jinja", max_age=300, views=VIEWS.values(), classes=CLASSES, readers=readers)
