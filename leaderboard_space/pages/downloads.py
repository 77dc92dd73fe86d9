"""The rows of a board's table as CSV, by rank; the API has them as JSON.

Numbers are unrounded, in the unit of the scorer (shares from 0 to 1). All text has gone through `plain`, and text that
a spreadsheet could take for a formula gets an apostrophe first; the file is UTF-8 with a byte order mark.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.table import board_table, check_models
from fairspace.leaderboard_space.boards.views import BoardQuery, draft_of
from fairspace.leaderboard_space.boards.words import exact, visitor_fields
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.errors import harmless, plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import state_of
from fairspace.submissions.values import Value
from fairspace.submissions.version import VERSION

ABOUT = (
    *("rank", "entry", "model", "organisation", "submitter", "owner", "attempt", "row_class", "figures", "cohort"),
    *("protocol", "group", "ranked", "tier", "rank_best", "rank_worst", "unranked", "remarks", "parameters"),
    *("architecture", "licence", "open_weights", "tasks", "by", "since", "source"),
)
"""Columns of every row. Rows are ranked within their `row_class`; `ranked` is the number that ranks go by,
`parameters` are billions; possible ranks go from `rank_best` to `rank_worst`."""
VALUE = ("", ":state", ":low", ":high", ":coverage", ":error", ":interval_low", ":interval_high", ":debiased")
"""Suffixes of a score's columns. States are value, undefined, not run, and incomplete: a value from some samples."""
PACKED = 4
"""Compression level, up to 9."""
router = APIRouter(include_in_schema=False)


def as_csv(rows: Sequence[Row], state: State) -> bytes:
    """The rows, with their errors, as CSV; lists are joined by "; "."""
    labels = dict.fromkeys(f"label:{name}" for row in rows for name in row.labels)
    chances = dict.fromkeys(f"chance:{name}" for row in rows for name in row.chances)
    scores = dict.fromkeys(f"{name}{end}" for row in rows for name in row.scores for end in VALUE)
    names = [*ABOUT, *labels, *chances, *scores]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        record: dict[str, Any] = visitor_fields(row, ABOUT, state.entry(row.entry))
        record |= {f"label:{name}": plain(label) for name, label in row.labels.items()}
        record |= {f"chance:{name}": chance for name, chance in row.chances.items()}
        for name, scored in row.scores.items():
            record.update(zip([f"{name}{end}" for end in VALUE], _cells_of(exact(scored)), strict=True))
        cells = map(record.get, names)
        writer.writerow([cell if cell is None or type(cell) is float else _cell(cell) for cell in cells])
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def _cells_of(value: Value) -> tuple[Any, ...]:
    share, sure = value.coverage, value.uncertainty
    state = state_of(value).replace("_", " ")
    errors = (None,) * 4 if sure is None else (sure.error, sure.low, sure.high, sure.debiased)
    return value.value, state, value.low, value.high, share, *errors


def _cell(value: Any) -> str | int | float | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return harmless("; ".join(value))
    return harmless(value) if isinstance(value, str) else value


@router.get("/download/{benchmark}/{standard}.csv")
def download(request: Request, benchmark: str, standard: str) -> Response:
    """All rows of a table, or the named ones. SpaceError BAD_PARAMETER."""
    state = space_of(request).state
    version = state.version(benchmark)
    query = BoardQuery.read(request.query_params, benchmark, standard)
    check_models(state, query)
    name, table = board_table(state, query)
    made_of = f"{VERSION}\0{version}\0{query}"
    tag = f'"{hashlib.sha256(made_of.encode()).hexdigest()[:24]}"'
    draft = "-draft" if draft_of(query.benchmark, query.standard) else ""
    file = f"fairspace-{query.benchmark}-{query.standard}{draft}-{name}.csv"
    headers = {
        "Content-Disposition": f'attachment; filename="{file}"',
        "Cache-Control": "public, max-age=60",
        "ETag": tag,
    }
    content = as_csv(with_errors(table.select(query), query.standard), state)
    if "gzip" in request.headers.get("accept-encoding", ""):  # here, where nobody else waits
        content, headers = gzip.compress(content, PACKED, mtime=0), {**headers, "Content-Encoding": "gzip"}
    return Response(content, headers={**headers, "Vary": "Accept-Encoding"}, media_type="text/csv; charset=utf-8")
