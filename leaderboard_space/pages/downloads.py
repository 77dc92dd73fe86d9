"""The rows of a board as a file, with the same filters and order as its page."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping, Sequence

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.boards.tables.export import as_csv, as_json, as_parquet
from fairspace.leaderboard_space.boards.tables.table import board_table, check_models
from fairspace.leaderboard_space.boards.views import check_choice, draft_of
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.version import VERSION

router = APIRouter(include_in_schema=False)
Export = Callable[[Sequence[Row], State, Mapping[str, str]], bytes]
FORMATS: dict[str, tuple[str, Export]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "parquet": ("application/vnd.apache.parquet", as_parquet),
    "json": ("application/json", as_json),
}
"""End of the address -> media type and what writes it."""
PACKED = 4
"""How hard text is packed, of 9; JSON of 5 000 rows is 28 MB."""


@router.get("/download/{benchmark}/{standard}.{suffix}")
def download(request: Request, benchmark: str, standard: str, suffix: str) -> Response:
    """All rows that match the parameters of a board's page. SpaceError BAD_PARAMETER."""
    media_type, export = FORMATS[check_choice("the end of the address", suffix, FORMATS)]
    state = space_of(request).state
    version = state.version(benchmark)
    query = BoardQuery.read(request.query_params, benchmark, standard)
    check_models(state, query)
    name, table = board_table(state, query)
    draft = draft_of(query.benchmark, query.standard)
    about = {"benchmark": query.benchmark, "standard": query.standard, "draft": draft, "table": name}
    made_of = f"{VERSION}\0{version}\0{suffix}\0{query}"
    tag = f'"{hashlib.sha256(made_of.encode()).hexdigest()[:24]}"'
    file = f"fairspace-{query.benchmark}-{query.standard}{'-draft' if draft else ''}-{name}.{suffix}"
    headers = {
        "Content-Disposition": f'attachment; filename="{file}"',
        "Cache-Control": "public, max-age=60",
        "ETag": tag,
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    content = export(with_errors(table.select(query), query.standard), state, about)
    if suffix != "parquet" and "gzip" in request.headers.get("accept-encoding", ""):  # here, where nobody else waits
        content, headers = gzip.compress(content, PACKED, mtime=0), {**headers, "Content-Encoding": "gzip"}
    return Response(content, headers={**headers, "Vary": "Accept-Encoding"}, media_type=media_type)
