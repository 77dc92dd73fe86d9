"""A row for other sites: a badge (SVG), and a small page that any site may frame."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.tables.columns import numbers_of
from fairspace.leaderboard_space.boards.telling import behind, is_computed, provenance_of
from fairspace.leaderboard_space.boards.text import shortened
from fairspace.leaderboard_space.boards.view import View, total_of
from fairspace.leaderboard_space.boards.views import draft_of, named_standard
from fairspace.leaderboard_space.pages.model import find_row, view_and_standard
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT, page
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.board import logged_row
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_classes import CLASSES
from fairspace.submissions.results.row_errors import with_errors

router = APIRouter(include_in_schema=False)
SECONDS = 300
"""For which a badge may be kept without asking again."""
SIGN = 6.6
"""Pixels of a sign of 11 pixels' height, on average; the text is stretched to it."""
COLOURS = {"ranked": "#17456f", "unranked": "#565d66", "withdrawn": "#8f2318"}
"""White text on each of them, and on `LEFT`, has a contrast of 6 or more."""
LEFT = "#2f353c"


@dataclass(frozen=True)
class Shown:
    """Content of a badge or an embedded row.

    Args:
        row: whose.
        kind: a key of `COLOURS`.
        verdict: rank and score, or that there is none.
        reason: why there is no rank.
        among: how many rows of its class and cohort have a rank, and the class.
    """

    row: Row
    kind: str
    verdict: str
    reason: str = ""
    among: str = ""


@router.get("/badge/{benchmark}/{entry}.svg")
def badge(request: Request, benchmark: str, entry: str, standard: str = "") -> Response:
    """A badge. SpaceError UNKNOWN_ENTRY."""
    view, standard = view_and_standard(benchmark, standard)
    shown = _shown(space_of(request).state, view, standard, entry)
    left = f"{view.title} {standard}{' draft' if draft_of(benchmark, standard) else ''}"
    model = shortened(plain(shown.row.model), 60)
    whose = shortened(plain(shown.row.copy_of or shown.row.claim), 40) if shown.kind == "unranked" else ""
    right = " · ".join(filter(None, (shown.verdict, whose)))
    text = ENVIRONMENT.get_template("badge.svg.jinja").render(
        left=left,
        right=right,
        title=f"{model} on fairspace, {view.title}, standard {named_standard(benchmark, standard)}: {right}",
        left_width=round(SIGN * len(left)),
        right_width=round(SIGN * len(right)),
        left_colour=LEFT,
        right_colour=COLOURS[shown.kind],
    )
    tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:24]}"'
    headers = {
        "Cache-Control": f"public, max-age={SECONDS}",
        "ETag": tag,
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(text, headers=headers, media_type="image/svg+xml")


@router.get("/embed/{benchmark}/{entry}")
def embed(request: Request, benchmark: str, entry: str, standard: str = "") -> Response:
    """A row as a page of its own. SpaceError UNKNOWN_ENTRY."""
    view, standard = view_and_standard(benchmark, standard)
    shown = _shown(space_of(request).state, view, standard, entry)
    [row] = with_errors([shown.row], standard) if shown.kind != "withdrawn" else [shown.row]
    total = total_of(view, row)
    return page(
        request,
        "embed.html.jinja",
        ancestors="*",
        view=view,
        standard=standard,
        shown=shown,
        row=row,
        total=total,
        three=numbers_of(total, row, ranked=True),
        higher=find_benchmark(benchmark).higher_is_better,
        provenance=provenance_of(row),
        means=behind(row, [total.of(row)]),
    )


def _shown(state: State, view: View, standard: str, entry: str) -> Shown:
    logged = state.entry(entry)
    if logged is not None and logged.withdrawn and logged.benchmark == view.benchmark:
        return Shown(logged_row(logged.result, standard), "withdrawn", "withdrawn", logged.withdrawn.reason)
    row = find_row(state, view.benchmark, standard, entry)
    total = total_of(view, row)
    if row.provenance == "baseline":
        return Shown(row, "unranked", f"baseline · {total.text(row)}", "a baseline has no rank")
    if row.rank is None or row.ranked is None:
        return Shown(row, "unranked", "unranked", "; ".join(row.unranked))
    cohort = f" among {row.cohort}" if row.cohort else ""
    among = sum(
        other.rank is not None and other.ranked_with == row.ranked_with
        for other in state.board(view.benchmark, standard)
    )
    here = " computed here" if is_computed(total.of(row), row.provenance == "published") else ""
    score = total.show(row.ranked) + here
    of = f"{among} {CLASSES[row.row_class].among}"
    return Shown(row, "ranked", f"rank {row.rank} of {of}{cohort} · {score}", among=of)
