"""Figures as JSON for plotly.js, and plotly.js itself, as the installed plotly package brings it."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from pathlib import Path

import plotly
from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.figures.gallery import Gallery, split_models
from fairspace.leaderboard_space.boards.figures.tiers import TIERS
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT
from fairspace.leaderboard_space.web.identity import space_of

router = APIRouter(include_in_schema=False)
GALLERY = Gallery(
    {(view.benchmark, figure.name): figure for view in VIEWS.values() for figure in (TIERS, *view.figures)}
)
"""The figures of all benchmarks; `GALLERY.place(state, benchmark, standard, "board")` gives those of a page."""
PLOTLY = f"/site/plotly/{plotly.__version__}.js"
FOR_EVER = "public, max-age=31536000, immutable"
ENVIRONMENT.globals["plotly_address"] = PLOTLY


@router.get("/figures/{benchmark}/{standard}/{name}.json")
def figure(request: Request, benchmark: str, standard: str, name: str, models: str = "") -> Response:
    """A figure of the named models, or of the board."""
    drawing = GALLERY.drawing(space_of(request).state, benchmark, standard, name, split_models(models))
    tag = f'"{hashlib.sha256(drawing.json).hexdigest()[:24]}"'
    headers = {"Cache-Control": "public, max-age=60", "ETag": tag, "X-Content-Type-Options": "nosniff"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(drawing.json, headers=headers, media_type="application/json")


@router.get(PLOTLY)
def plotly_script(request: Request) -> Response:
    """plotly.js, packed once."""
    headers = {"Cache-Control": FOR_EVER, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
    content = _packed()
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        content = gzip.decompress(content)
    return Response(content, headers=headers, media_type="text/javascript")


@router.get("/site/plotly/{version}.js")
def other_version(version: str) -> Response:
    """Refuse another version of plotly.js than the installed one."""
    problem = f"plotly {version}"
    raise SpaceError("UNKNOWN_PAGE", "plotly.js", repr(problem[:60]), PLOTLY, "reload the page")


@cache
def _packed() -> bytes:
    script = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    return gzip.compress(script.read_bytes(), 6, mtime=0)
