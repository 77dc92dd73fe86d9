"""The rows of a board's table as CSV, by rank; the API has them as JSON.

Numbers are unrounded, in the unit of the scorer (shares from 0 to 1). All text has gone through `plain`, and text that
a spreadsheet could take for a formula gets an apostrophe first; the file is UTF-8 with a byte order mark.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from fairspace.leaderboard_space.boards.table import board_table
from fairspace.leaderboard_space.boards.views import chosen_standard, chosen_view
from fairspace.leaderboard_space.boards.words import EVIDENCE, provenance_of
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.submissions.errors import plain
from fairspace.submissions.results.board import about_row, exact, facts_json
from fairspace.submissions.results.row import Row, marks_of
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.three_numbers import state_of
from fairspace.submissions.show.table import csv_line
from fairspace.submissions.values import Value

ABOUT = (
    *("rank", "entry", "model", "organisation", "submitter", "owner", "attempt", "row_class", "figures", "cohort"),
    *("protocol", "group", "ranked", "tier", "rank_best", "rank_worst", "unranked", "remarks", "parameters"),
    *("architecture", "licence", "open_weights", "tasks", "by", "since", "source"),
)
"""Columns of every row. Rows are ranked within their `row_class`; `ranked` is the number that ranks go by,
`parameters` are billions; possible ranks go from `rank_best` to `rank_worst`."""
VALUE = ("", ":state", ":low", ":high", ":coverage", ":error", ":interval_low", ":interval_high", ":debiased")
"""Suffixes of a score's columns. States are value, undefined, not run, and incomplete: a value from some samples."""
router = APIRouter(include_in_schema=False)


def as_csv(rows: Sequence[Row], benchmark: str, standard: str, state: State) -> bytes:
    """The rows, with their errors, as CSV; lists are joined by "; "."""
    labels = dict.fromkeys(f"label:{name}" for row in rows for name in row.labels)
    chances = dict.fromkeys(f"chance:{name}" for row in rows for name in _chances(row, standard))
    scores = dict.fromkeys(f"{name}{end}" for row in rows for name in row.scores for end in VALUE)
    names = (*ABOUT, *labels, *chances, *scores)

    def line(row: Row) -> str:
        key, marks = ("csv", benchmark, standard, row.entry), (marks_of(row), names)
        return state.piece(key, marks, lambda: _line(row, standard, state, names))

    return ("\ufeff" + csv_line(names, "\r\n") + "".join(map(line, rows))).encode()


def _chances(row: Row, standard: str) -> Iterable[str]:
    errors = None if row.result is None else row.result.derived.get("errors")
    return with_errors([row], standard)[0].chances if errors is None else errors.chances


def _line(row: Row, standard: str, state: State, names: Sequence[str]) -> str:
    [row] = with_errors([row], standard)
    entry, record = state.entry(row.entry), about_row(row)
    record |= {**facts_json(row.facts), "figures": EVIDENCE[provenance_of(row)]}
    record["rank_best"], record["rank_worst"] = row.rank_range or (None, None)
    if entry is not None:
        record |= {"by": plain(entry.organisation or entry.user), "since": entry.time}
    record |= {f"label:{name}": plain(label) for name, label in row.labels.items()}
    record |= {f"chance:{name}": chance for name, chance in row.chances.items()}
    for name, scored in row.scores.items():
        record.update(zip([f"{name}{end}" for end in VALUE], _cells_of(exact(scored)), strict=True))
    return csv_line(map(record.get, names), "\r\n")


def _cells_of(value: Value) -> tuple[Any, ...]:
    share, sure = value.coverage, value.uncertainty
    state = state_of(value).replace("_", " ")
    errors = (None,) * 4 if sure is None else (sure.error, sure.low, sure.high, sure.debiased)
    return value.value, state, value.low, value.high, share, *errors


@router.get("/download/{benchmark}/{standard}.csv")
@router.get("/download/{benchmark}/{standard}/{table}.csv")
def download(request: Request, benchmark: str, standard: str, table: str = "") -> Response:
    """All rows of a table. SpaceError BAD_PARAMETER."""
    state, name = space_of(request).state, chosen_view(benchmark).benchmark
    standard = chosen_standard(name, standard)
    _, rows = board_table(state, name, standard, table)
    return Response(as_csv(rows.rows, name, standard, state), media_type="text/csv; charset=utf-8")


@router.get("/model/{benchmark}/{entry}/scores.csv")
@router.get("/model/{benchmark}/{entry}/under/{standard}/scores.csv")
def row_as_csv(request: Request, benchmark: str, entry: str, standard: str = "") -> Response:
    """The row alone, with the columns that it has. SpaceError BAD_PARAMETER, UNKNOWN_ENTRY."""
    state, name = space_of(request).state, chosen_view(benchmark).benchmark
    standard = chosen_standard(name, standard)
    rows = [state.find_row(name, standard, entry)]
    return Response(as_csv(rows, name, standard, state), media_type="text/csv; charset=utf-8")
