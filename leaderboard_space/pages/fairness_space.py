"""IRIS' fairness space, at `/fairness-space`: as maps and by profile."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from fairspace.leaderboard_space.boards.figures.figures import Source
from fairspace.leaderboard_space.boards.figures.gallery import board_of, chosen_rows, split_models
from fairspace.leaderboard_space.boards.figures.profiles import Profile, by_archetype, letters
from fairspace.leaderboard_space.boards.iris import caution
from fairspace.leaderboard_space.boards.iris_space import space_rows, tau
from fairspace.leaderboard_space.boards.views import chosen_standard
from fairspace.leaderboard_space.pages.figures import GALLERY
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.metrics.iris_score.standards import ARCHETYPES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark

router = APIRouter(include_in_schema=False)
SHOWN = 60
"""Models named under a profile."""


@router.get("/fairness-space")
def fairness_space(
    request: Request,
    standard: str = "",
    models: list[str] = Query([]),  # noqa: B008 how FastAPI reads a repeated parameter
) -> Response:
    """The space of one standard, with up to four models named in it."""
    state = space_of(request).state
    standard = chosen_standard("iris", standard)
    rows = board_of(state, "iris", standard)
    chosen, missing = chosen_rows(rows, split_models(",".join(models)))
    entries = [row.entry for row in chosen]
    choices, _ = space_rows(Source(state, "iris", standard, rows, chosen))
    maps = GALLERY.place(state, "iris", standard, "space", entries)

    def address(standard: str) -> str:
        return "/fairness-space?" + urlencode(
            {"standard": standard} | ({"models": ",".join(entries)} if entries else {}), safe=","
        )

    return page(
        request,
        "fairness_space.html.jinja",
        standard=standard,
        standards={name: address(name) for name in find_benchmark("iris").standards},
        tau=tau(standard),
        maps=maps,
        chosen=chosen,
        missing=missing,
        choices=choices,
        profiles=[
            (Profile("", code), those[:SHOWN], len(those)) for code, those in by_archetype(rows, standard).items()
        ],
        names=ARCHETYPES,
        letters=letters(standard),
        caution=caution(standard),
    )
