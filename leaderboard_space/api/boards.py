"""The boards over plain HTTP, under `/api/v1`: JSON that follows from an address and the boards alone."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Request, Response
from fastapi import Path as InPath

from fairspace.leaderboard_space.boards.table import slug
from fairspace.leaderboard_space.boards.views import VIEWS, chosen_standard, chosen_view, draft_of, page_number
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.maintaining import shown_evidence
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.board import row_json, values_json
from fairspace.submissions.results.row import Row, marks_of
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.standards import document

router = APIRouter(prefix="/api/v1")
Name = Annotated[str, InPath(description="name of a board, such as `iris`", max_length=40)]
EntryName = Annotated[str, InPath(description="entry of a row, as on the board", max_length=40)]
PAGE = 100
"""Rows of a page."""


def _answer(content: Any) -> Response:
    return Response(content if isinstance(content, str) else orjson.dumps(content), media_type="application/json")


@router.get("/boards")
def boards(request: Request) -> Response:
    """Every board with its standards and number of rows."""
    state = space_of(request).state
    return _answer(
        [
            {
                "benchmark": name,
                "title": about.title,
                "standards": list(about.standards),
                "default": about.default,
                "drafts": [standard for standard in about.standards if draft_of(name, standard)],
                "higher_is_better": about.higher_is_better,
                "rows": len(state.board(name)),
                "address": f"/board/{name}",
            }
            for name, about in ((name, find_benchmark(name)) for name in NAMES)
        ]
    )


@router.get("/boards/{benchmark}/under/{standard}/page/{page}", include_in_schema=False)
@router.get("/boards/{benchmark}/under/{standard}", include_in_schema=False)
@router.get("/boards/{benchmark}/page/{page}", include_in_schema=False)
@router.get("/boards/{benchmark}")
def board(request: Request, benchmark: Name, standard: str = "", page: str = "1") -> Response:
    """The rows of a board by rank, 100 at a time; `/under/STANDARD` and `/page/NUMBER` may follow, or parameters."""
    name = chosen_view(benchmark).benchmark
    return _answer(board_page(space_of(request), name, chosen_standard(name, standard), page_number(page)))


def board_page(space: Space, name: str, standard: str, page: int) -> dict[str, Any]:
    """A page of rows in the board's order. SpaceError UNKNOWN_PAGE for one beyond the last."""
    rows = space.state.board(name, standard)
    pages = max(1, -(-len(rows) // PAGE))
    if page > pages:
        raise SpaceError("UNKNOWN_PAGE", "page", str(page), f"one of {pages}", "start at page 1")
    return {
        **_about(name, standard),
        "tables": [slug(part) for part in VIEWS[name].slices],
        "total": len(rows),
        "page": page,
        "pages": pages,
        "rows": [_packed(space, row, name, standard) for row in rows[PAGE * (page - 1) : PAGE * page]],
    }


def _about(name: str, standard: str) -> dict[str, Any]:
    return {"benchmark": name, "standard": standard, "draft": draft_of(name, standard)}


def _packed(space: Space, row: Row, name: str, standard: str) -> orjson.Fragment:
    """A row as JSON, made again only once it has changed."""

    def make() -> bytes:
        return orjson.dumps(_row(with_errors([row], standard)[0], name, standard))

    return orjson.Fragment(space.state.piece(("api", name, standard, row.entry), marks_of(row), make))


def _row(row: Row, name: str, standard: str) -> dict[str, Any]:
    suffix = "" if standard == find_benchmark(name).default else f"/under/{standard}"
    return {**row_json(row), "address": f"/model/{name}/{row.entry}{suffix}"}


@router.get("/boards/{benchmark}/rows/{entry}")
@router.get("/boards/{benchmark}/rows/{entry}/under/{standard}", include_in_schema=False)
def row(request: Request, benchmark: Name, entry: EntryName, standard: str = "") -> Response:
    """One row with all its raw values, under a standard."""
    name, state = chosen_view(benchmark).benchmark, space_of(request).state
    standard = chosen_standard(name, standard)
    [row] = with_errors([state.find_row(name, standard, entry)], standard)
    signature = dict(row.result.signature) if row.result is not None else {}
    logged, verified = state.entry(entry), None
    if logged is not None and (mark := logged.verified) is not None:
        evidence = shown_evidence(mark.evidence)
        verified = {"time": mark.time, "reason": mark.reason, "signed": mark.is_signed, "evidence": evidence}
    more = {"values": values_json(row.values), "signature": signature, "verified": verified}
    return _answer(_row(row, name, standard) | _about(name, standard) | more)


@router.get("/boards/{benchmark}/rows/{entry}/result")
def result(request: Request, benchmark: Name, entry: EntryName) -> Response:
    """The result behind a row with all evidence, as `fairspace score --out` writes it."""
    name, state = chosen_view(benchmark).benchmark, space_of(request).state
    row = state.find_row(name, find_benchmark(name).default, entry)
    full = state.full(entry) if row.result is not None else None
    if full is None:
        what = "a published row, which has printed figures only"
        raise SpaceError("UNKNOWN_ENTRY", f"{name}/{entry}", what, "a row that was scored here", "see its source")
    return _answer(full.dumps())


@router.get("/standards")
def standards(request: Request) -> Response:
    """All standards with their settings."""
    return _answer(
        [
            {
                "benchmark": name,
                "name": standard,
                "draft": about.draft,
                "minimum_coverage": about.minimum_coverage,
                "settings": document(name, about),
            }
            for name in NAMES
            for standard, about in find_benchmark(name).standards.items()
        ]
    )
