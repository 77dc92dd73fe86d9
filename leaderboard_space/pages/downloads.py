"""The rows of a board's table as CSV, Parquet and JSON, by rank.

Numbers are unrounded, in the unit of the scorer (shares from 0 to 1). All text has gone through `plain`. In CSV, text
that a spreadsheet could take for a formula gets an apostrophe first; the file is UTF-8 with a byte order mark.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.table import board_table, check_models
from fairspace.leaderboard_space.boards.views import BoardQuery, check_choice, draft_of
from fairspace.leaderboard_space.boards.words import exact, visitor_fields
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.errors import harmless, plain
from fairspace.submissions.results.board import ROW_FIELDS
from fairspace.submissions.results.row import Row, RowClass
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import state_of
from fairspace.submissions.values import Value
from fairspace.submissions.version import VERSION

PERCEIVED = (
    "Gender, age, skin tone and race are perceived presentation, measured with error; they say nothing about a person."
)
STATES = ("value", "undefined", "not run", "incomplete")
"""Values of `<score>:state`; `incomplete` is a value from a part of the samples."""
ABOUT = (
    *("rank", "entry", "model", "organisation", "submitter", "owner", "attempt", "row_class", "figures", "cohort"),
    *("protocol", "group", "ranked", "tier", "rank_best", "rank_worst", "unranked", "remarks", "parameters"),
    *("architecture", "licence", "open_weights", "tasks", "by", "since", "source"),
)
"""Columns of every row. Rows are ranked within their `row_class`; `ranked` is the number that ranks go by,
`parameters` are billions; possible ranks go from `rank_best` to `rank_worst`."""
_TEXT, _NUMBER = pa.string(), pa.float64()
_TYPES: Mapping[Any, pa.DataType] = {
    str: _TEXT,
    RowClass: _TEXT,
    list[str]: pa.list_(_TEXT),
    float | None: _NUMBER,
    int: pa.int32(),
    int | None: pa.int32(),
    bool | None: pa.bool_(),
}
VALUE: dict[str, pa.DataType] = {
    "": _NUMBER,
    ":state": _TEXT,
    ":low": _NUMBER,
    ":high": _NUMBER,
    ":coverage": _NUMBER,
    ":error": _NUMBER,
    ":interval_low": _NUMBER,
    ":interval_high": _NUMBER,
    ":debiased": _NUMBER,
}
"""Suffix of a column's name -> type, for every score."""
_NOTHING: Mapping[str, str] = {}


def as_csv(rows: Sequence[Row], state: State, about: Mapping[str, str] = _NOTHING) -> bytes:
    """The rows, with their errors, as CSV; lists are joined by "; "."""
    text, names = io.StringIO(), list(_schema(rows))
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(names)
    for record in _records(rows, state):
        cells = map(record.get, names)
        writer.writerow([cell if cell is None or type(cell) is float else _cell(cell) for cell in cells])
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def as_parquet(rows: Sequence[Row], state: State, about: Mapping[str, str]) -> bytes:
    """The rows as Parquet, described by the file's metadata."""
    schema = pa.schema(list(_schema(rows).items()), metadata={**about, "perceived": PERCEIVED})
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(_records(rows, state)), schema), sink)
    return sink.getvalue()


def as_json(rows: Sequence[Row], state: State, about: Mapping[str, str]) -> bytes:
    """The rows as one JSON object; a score also has the reason of its state."""
    records = []
    for row in rows:
        scores = {
            name: {
                k: plain(v) if isinstance(v, str) else v for k, v in exact(value).to_json().items() if k != "evidence"
            }
            for name, value in row.scores.items()
        }
        labels = {name: plain(label) for name, label in row.labels.items()}
        about_row = visitor_fields(row, ABOUT, state.entry(row.entry))
        records.append(orjson.dumps({**about_row, "labels": labels, "chances": dict(row.chances), "scores": scores}))
    head = orjson.dumps({**about, "perceived": PERCEIVED, "rows": []}).removesuffix(b"]}")
    return b"%b%b]}\n" % (head, b",".join(records))  # the objects of thousands of rows would take ten times the room


def _schema(rows: Sequence[Row]) -> dict[str, pa.DataType]:
    scores = dict.fromkeys(name for row in rows for name in row.scores)
    labels = dict.fromkeys(name for row in rows for name in row.labels)
    values = {f"{name}{end}": kind for name in scores for end, kind in VALUE.items()}
    chances = dict.fromkeys(name for row in rows for name in row.chances)
    outcomes = {f"label:{name}": _TEXT for name in labels} | {f"chance:{name}": _NUMBER for name in chances}
    fields = {name: _TYPES[ROW_FIELDS[name].type] if name in ROW_FIELDS else _TEXT for name in ABOUT}
    return {**fields, **outcomes, **values}


def _records(rows: Sequence[Row], state: State) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield visitor_fields(row, ABOUT, state.entry(row.entry)) | _scores(row)


def _scores(row: Row) -> dict[str, Any]:
    record: dict[str, Any] = {f"label:{name}": plain(label) for name, label in row.labels.items()}
    record.update((f"chance:{name}", chance) for name, chance in row.chances.items())
    for name, scored in row.scores.items():
        record.update(zip([f"{name}{end}" for end in VALUE], _cells_of(exact(scored)), strict=True))
    return record


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


router = APIRouter(include_in_schema=False)
Export = Callable[[Sequence[Row], State, Mapping[str, str]], bytes]
FORMATS: dict[str, tuple[str, Export]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "parquet": ("application/vnd.apache.parquet", as_parquet),
    "json": ("application/json", as_json),
}
"""Suffix of the address -> media type and writer."""
PACKED = 4
"""Compression level of text, up to 9; JSON of 5 000 rows is 28 MB."""


@router.get("/download/{benchmark}/{standard}.{suffix}")
def download(request: Request, benchmark: str, standard: str, suffix: str) -> Response:
    """All rows of a table, or the named ones. SpaceError BAD_PARAMETER."""
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
