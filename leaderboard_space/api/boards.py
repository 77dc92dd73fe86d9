"""The boards over plain HTTP, under `/api/v1`: JSON that follows from an address and the boards alone."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Request, Response
from fastapi import Path as InPath

from fairspace.leaderboard_space.api import data
from fairspace.leaderboard_space.boards.views import chosen_standard, chosen_view, page_number
from fairspace.leaderboard_space.web.identity import space_of, with_store

router = APIRouter(prefix="/api/v1")
Name = Annotated[str, InPath(description="name of a board, such as `iris`", max_length=40)]
EntryName = Annotated[str, InPath(description="entry of a row, as on the board", max_length=40)]


def _answer(content: Any) -> Response:
    return Response(content if isinstance(content, str) else orjson.dumps(content), media_type="application/json")


@router.get("/boards")
def boards(request: Request) -> Response:
    """Every board with its standards and number of rows."""
    return _answer(data.boards(space_of(request)))


@router.get("/boards/{benchmark}/under/{standard}/page/{page}", include_in_schema=False)
@router.get("/boards/{benchmark}/under/{standard}", include_in_schema=False)
@router.get("/boards/{benchmark}/page/{page}", include_in_schema=False)
@router.get("/boards/{benchmark}")
def board(request: Request, benchmark: Name, standard: str = "", page: str = "1") -> Response:
    """The rows of a board by rank, 100 at a time; `/under/STANDARD` and `/page/NUMBER` may follow, or parameters."""
    name = chosen_view(benchmark).benchmark
    return _answer(data.board(space_of(request), name, chosen_standard(name, standard), page_number(page)))


@router.get("/boards/{benchmark}/rows/{entry}")
@router.get("/boards/{benchmark}/rows/{entry}/under/{standard}", include_in_schema=False)
def row(request: Request, benchmark: Name, entry: EntryName, standard: str = "") -> Response:
    """One row with all its raw values, under a standard."""
    name = chosen_view(benchmark).benchmark
    return _answer(data.full_row(space_of(request), name, entry, chosen_standard(name, standard)))


@router.get("/boards/{benchmark}/rows/{entry}/result")
async def result(request: Request, benchmark: Name, entry: EntryName) -> Response:
    """The result behind a row with all evidence, as `fairspace score --out` writes it."""
    return _answer(await with_store(data.result, space_of(request), chosen_view(benchmark).benchmark, entry))


@router.get("/standards")
def standards(request: Request) -> Response:
    """All standards with their settings."""
    return _answer(data.standards())
