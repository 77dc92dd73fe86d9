"""The comparison of up to four models of a board, at `/compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from fairspace.leaderboard_space.boards.comparison import facts, lines, making
from fairspace.leaderboard_space.boards.figures.gallery import MOST_CHOSEN, board_of, chosen_rows, split_models
from fairspace.leaderboard_space.boards.figures.profiles import profiles
from fairspace.leaderboard_space.boards.views import VIEWS, chosen_standard, chosen_view
from fairspace.leaderboard_space.pages.figures import GALLERY
from fairspace.leaderboard_space.pages.rendering import page
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.leaderboard_space.web.store_threads import with_store
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors

router = APIRouter(include_in_schema=False)
OFFERED = 12
"""Models that the search offers at a time."""


@router.get("/compare")
async def compare(
    request: Request,
    benchmark: str = "",
    standard: str = "",
    models: list[str] = Query([]),  # noqa: B008 how FastAPI reads a repeated parameter
    q: str = "",
) -> Response:
    """Models side by side, and a search for more."""
    return await with_store(_compare, request, benchmark, standard, models, q)


def _compare(request: Request, benchmark: str, standard: str, models: list[str], q: str) -> Response:
    state = space_of(request).state
    view = chosen_view(benchmark)
    standard = chosen_standard(view.benchmark, standard)
    entries = split_models(",".join(models))
    rows = board_of(state, view.benchmark, standard)
    chosen, missing = chosen_rows(rows, entries)
    if missing and state.snapshots.renew(view.benchmark):  # they may have come since the last snapshot
        rows = board_of(state, view.benchmark, standard)
        chosen, missing = chosen_rows(rows, entries)
    chosen_entries = [row.entry for row in chosen]

    def address(*others: str, benchmark: str = view.benchmark, standard: str = standard) -> str:
        return "/compare?" + urlencode(
            {"benchmark": benchmark, "standard": standard, "models": ",".join(others)}, safe=","
        )

    return page(
        request,
        "compare.html.jinja",
        view=view,
        views=VIEWS.values(),
        standard=standard,
        standards={name: address(*chosen_entries, standard=name) for name in find_benchmark(view.benchmark).standards},
        chosen=[(row, address(*(entry for entry in chosen_entries if entry != row.entry))) for row in chosen],
        missing=[(entry, _why(state, view.benchmark, entry)) for entry in missing],
        q=q,
        models=",".join(chosen_entries),
        most=MOST_CHOSEN,
        offered=[(row, address(*chosen_entries, row.entry)) for row in _offered(rows, chosen, q)]
        if len(chosen_entries) < MOST_CHOSEN
        else [],
        figures=GALLERY.place(state, view.benchmark, standard, "compare", chosen_entries) if chosen_entries else [],
        profiles=[(row, profiles(row, standard)) for row in chosen] if view.labels else [],
        lines=lines(view.benchmark, with_errors(_sure(state, chosen), standard), standard) if chosen else {},
        facts=facts(chosen),
        making=making(chosen),
    )


def _sure(state: State, rows: Sequence[Row]) -> list[Row]:
    """The rows with the uncertainty of their raw values, read from the result files."""
    placed = []
    for row in rows:
        full = state.full(row.entry) if row.result is not None else None
        full_values = {} if full is None else full.values
        values = {
            name: replace(value, uncertainty=full_values[name].uncertainty) if name in full_values else value
            for name, value in row.values.items()
        }
        placed.append(replace(row, values=values))
    return placed


def _why(state: State, benchmark: str, entry: str) -> str:
    """The reason why a board has no such entry, made plain."""
    logged = state.entry(entry)
    if logged is None:
        return "it is not a row of this board"
    if logged.withdrawn is not None:
        return f"withdrawn by a maintainer: {plain(logged.withdrawn.reason)}"
    return (
        f"a row of another board, {VIEWS[logged.benchmark].title}"
        if logged.benchmark != benchmark
        else "not on this board"
    )


def _offered(rows: Sequence[Row], chosen: Sequence[Row], q: str) -> list[Row]:
    """Rows whose model or organisation holds every word of a search, those of a chosen cohort first; without, all."""
    words = plain(q)[:200].casefold().split()
    kinds, entries = {row.ranked_with for row in chosen}, {row.entry for row in chosen}
    alike: list[Row] = []
    others: list[Row] = []
    for row in rows:
        text = f"{plain(row.model)} {plain(row.organisation)} {row.entry}".casefold()
        if row.entry not in entries and all(word in text for word in words):
            (alike if row.ranked_with in kinds else others).append(row)
            if len(alike) == OFFERED:
                break
    return [*alike, *others][:OFFERED]
