"""Figures as SVG images, as wide as a page wants them."""

from __future__ import annotations

import hashlib

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from fairspace.leaderboard_space.boards.figures.gallery import Gallery, split_models
from fairspace.leaderboard_space.boards.figures.plots import note
from fairspace.leaderboard_space.boards.figures.tiers import TIERS
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.web.identity import site_of, space_of

router = APIRouter(include_in_schema=False)
GALLERY = Gallery(
    {(view.benchmark, figure.name): figure for view in VIEWS.values() for figure in (TIERS, *view.figures)}
)
"""The figures of all benchmarks; `GALLERY.place(state, benchmark, standard, "board")` gives those of a page."""
FORMER = {
    ("fact_or_fair", "radar"): "scores",
    ("genres", "radar"): "deviations",
    ("iris", "radar"): "sectors",
    ("iris", "space"): "map-ifs-rfs",
    ("stereotypical_bias", "radar"): "scores",
}
"""Benchmark and name of a figure that is no longer drawn -> the one that shows its numbers."""
WIDTH = 760
"""Pixels, where a page asks for no other width."""


@router.get("/figures/{benchmark}/{standard}/{name}.svg")
def figure(
    request: Request,
    benchmark: str,
    standard: str,
    name: str,
    models: str = "",
    table: str = "",
    width: int = Query(WIDTH, ge=320, le=1200),
    download: bool = False,
) -> Response:
    """A figure of the named models, or of a board; as a file its links have this site's address."""
    state = space_of(request).state
    if other := FORMER.get((benchmark, name)):
        return RedirectResponse(f"/figures/{benchmark}/{standard}/{other}.svg?{request.url.query}", 308)
    drawing = GALLERY.drawing(state, benchmark, standard, name, split_models(models), table)
    wide = width // 40 * 40
    image = note(drawing.note, wide) if drawing.draw is None else drawing.draw(wide)
    content = image.document(site_of(request) if download else "").encode()
    tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
    headers = {"Cache-Control": "public, max-age=60", "ETag": tag, "X-Content-Type-Options": "nosniff"}
    headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'"
    if download:
        headers["Content-Disposition"] = f'attachment; filename="{benchmark}-{standard}-{name}.svg"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type="image/svg+xml")
