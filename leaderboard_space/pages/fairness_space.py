"""IRIS' fairness space, at `/fairness-space`: in three dimensions, as maps, as a heat map, and by profile."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from fairspace.leaderboard_space.boards.figures.figures import Source, value_of
from fairspace.leaderboard_space.boards.figures.gallery import board_of, chosen_rows, split_models
from fairspace.leaderboard_space.boards.figures.profiles import Profile, by_archetype, letters
from fairspace.leaderboard_space.boards.iris import caution
from fairspace.leaderboard_space.boards.iris_space import SECTORS, tau
from fairspace.leaderboard_space.boards.telling import is_computed
from fairspace.leaderboard_space.boards.views import chosen_standard
from fairspace.leaderboard_space.pages.figures import GALLERY
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.metrics.iris_score.standards import ARCHETYPES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import lacking, near_threshold, why_no_interval

router = APIRouter(include_in_schema=False)
SHOWN = 60
"""Rows of the heat map, and models named under a profile."""
STEPS = (20.0, 40.0, 60.0, 80.0, 100.0)
"""Where a cell of the heat map gets the next colour."""


@dataclass(frozen=True)
class Heat:
    """A cell of the heat map.

    Args:
        text: the score, or its state in words.
        step: which colour, from 0; None without a number.
        bounds: from lowest to highest, '' where they are one.
        reached: whether the score that counts is at the threshold or above.
        unranked: why the scores of its task make no profile, '' where they do; such a cell has no colour.
        computed: what is remarked of a printed row's number that is none that is printed.
    """

    text: str
    step: int | None = None
    bounds: str = ""
    reached: bool = False
    unranked: str = ""
    computed: str = ""


def heat(row: Row, score: str, level: float) -> Heat:
    """The cell of one sector of one model."""
    value = value_of(row, score)
    published = row.provenance == "published"
    if value is None or value.value is None:
        return Heat(lacking(value, published))
    low, high = number(value.low, 1), number(value.high, 1)
    bounds = "" if value.low is None or low == high else f"{low} to {high}"
    counts = value.value if value.low is None else value.low
    task = [name for name in SECTORS if name.endswith(score.split("_")[1])]
    why = "; ".join(reason for reason in row.unranked if reason.split(":")[0] in task)
    step = None if why else sum(value.value >= step for step in STEPS)
    computed = why_no_interval(value, published) if is_computed(value, published) else ""
    text = number(value.value, 1) + near_threshold(value, level)
    return Heat(text, step, bounds, counts >= level and not why, why, computed)


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
    level = tau(standard)
    some, left_out = Source(state, "iris", standard, rows, chosen).some(
        SHOWN, "numbers", lambda row: bool(_numbers(row))
    )
    *maps, solid = GALLERY.place(state, "iris", standard, "space", entries)

    def address(standard: str) -> str:
        return "/fairness-space?" + urlencode(
            {"standard": standard} | ({"models": ",".join(entries)} if entries else {}), safe=","
        )

    return page(
        request,
        "fairness_space.html.jinja",
        standard=standard,
        standards={name: address(name) for name in find_benchmark("iris").standards},
        tau=level,
        solid=solid,
        maps=maps,
        chosen=chosen,
        missing=missing,
        choices=some,
        sectors=SECTORS,
        cells=[(row, [heat(row, score, level) for score in SECTORS]) for row in some],
        left_out=left_out,
        steps=STEPS,
        profiles=[
            (Profile("", code), those[:SHOWN], len(those)) for code, those in by_archetype(rows, standard).items()
        ],
        names=ARCHETYPES,
        letters=letters(standard),
        caution=caution(standard),
    )


def _numbers(row: Row) -> list[str]:
    """The sectors for which a row has numbers."""
    return [score for score in SECTORS if (value := value_of(row, score)) is not None and value.value is not None]
