"""The rows of a board as CSV, Parquet and JSON: the same rows, in the same order, with states, bounds and errors.

Numbers stand in the unit in which they are scored (shares from 0 to 1), unrounded. All text has gone through `plain`.
In CSV, a text cell that a spreadsheet could take for a formula gets an apostrophe before its first sign; numbers stay
numbers, and the file is UTF-8 with a byte order mark, by which spreadsheets know it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from fairspace.leaderboard_space.boards.tables.exact import exact
from fairspace.leaderboard_space.boards.tables.fields import visitor_fields
from fairspace.leaderboard_space.state import State
from fairspace.submissions.errors import plain
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_fields import ROW_FIELDS

PERCEIVED = (
    "Gender, age, skin tone and race are perceived presentation, measured with error; they say nothing about a person."
)
STATES = ("value", "undefined", "not run", "incomplete")
"""What `<score>:state` holds; `incomplete` is a value from a part of the samples."""
ABOUT = (
    *("rank", "entry", "model", "organisation", "figures", "cohort", "protocol", "group", "ranked"),
    *("tier", "rank_best", "rank_worst"),
    *("unranked", "remarks", "parameters", "architecture", "licence", "open_weights", "tasks", "by", "since", "source"),
)
"""Columns of what every row has: `ranked` is the number that ranks go by, `parameters` are billions; a row could have
any rank from `rank_best` to `rank_worst`."""
_TEXT, _NUMBER = pa.string(), pa.float64()
_TYPES: Mapping[Any, pa.DataType] = {
    str: _TEXT,
    list[str]: pa.list_(_TEXT),
    float | None: _NUMBER,
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
"""End of a column's name -> type, of what every score has."""
ADJUSTED = "adjusted"
"""Column that says how a reader adjusted the standard; files of the released standard have none."""
_NOTHING: Mapping[str, str] = {}
_FORMULA = re.compile(r"(^|[;,])(\s*)([=+\-@\uff1d\uff0b\uff0d\uff20])")


def as_csv(rows: Sequence[Row], state: State, about: Mapping[str, str] = _NOTHING) -> bytes:
    """The rows as CSV; lists are joined with '; '. Adjusted scores say so in a column `adjusted`."""
    names = list(_schema(rows, about))
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    writer.writerow(names)
    for record in _records(rows, state, about):
        values = map(record.get, names)
        writer.writerow([value if value is None or type(value) is float else _cell(value) for value in values])
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def as_parquet(rows: Sequence[Row], state: State, about: Mapping[str, str]) -> bytes:
    """The rows as Parquet, with what they are in the file's metadata."""
    schema = pa.schema(list(_schema(rows, about).items()), metadata={**about, "perceived": PERCEIVED})
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(_records(rows, state, about), schema), sink)
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
        records.append({**about_row, "labels": labels, "chances": dict(row.chances), "scores": scores})
    return orjson.dumps({**about, "perceived": PERCEIVED, "rows": records}, option=orjson.OPT_APPEND_NEWLINE)


@lru_cache(4096)
def harmless(text: str) -> str:
    """Text that is no formula to a spreadsheet: an apostrophe before a sign at its start or after a separator."""
    return _FORMULA.sub(r"\1\2'\3", text)


def _schema(rows: Sequence[Row], about: Mapping[str, str]) -> dict[str, pa.DataType]:
    scores = dict.fromkeys(name for row in rows for name in row.scores)
    labels = dict.fromkeys(name for row in rows for name in row.labels)
    values = {f"{name}{end}": kind for name in scores for end, kind in VALUE.items()}
    marked = {ADJUSTED: _TEXT} if ADJUSTED in about else {}
    chances = dict.fromkeys(name for row in rows for name in row.chances)
    outcomes = {f"label:{name}": _TEXT for name in labels} | {f"chance:{name}": _NUMBER for name in chances}
    fields = {name: _TYPES[ROW_FIELDS[name].type] if name in ROW_FIELDS else _TEXT for name in ABOUT}
    return {**fields, **marked, **outcomes, **values}


def _records(rows: Sequence[Row], state: State, about: Mapping[str, str]) -> list[dict[str, Any]]:
    records = []
    for row in rows:
        record = visitor_fields(row, ABOUT, state.entry(row.entry))
        if ADJUSTED in about:
            record[ADJUSTED] = about[ADJUSTED]
        record.update((f"label:{name}", plain(label)) for name, label in row.labels.items())
        record.update((f"chance:{name}", chance) for name, chance in row.chances.items())
        for name, scored in row.scores.items():
            value = exact(scored)
            incomplete = value.state == "value" and value.coverage is not None and value.coverage < 1
            record[name] = value.value
            record[f"{name}:state"] = "incomplete" if incomplete else value.state.replace("_", " ")
            record[f"{name}:low"], record[f"{name}:high"] = value.low, value.high
            record[f"{name}:coverage"] = value.coverage
            sure = value.uncertainty
            if sure is not None:
                record[f"{name}:error"], record[f"{name}:debiased"] = sure.error, sure.debiased
                record[f"{name}:interval_low"], record[f"{name}:interval_high"] = sure.low, sure.high
        records.append(record)
    return records


def _cell(value: Any) -> str | int | float | None:
    """A cell of CSV: a number as it is, text made harmless, nothing where there is nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return harmless("; ".join(value))
    return harmless(value) if isinstance(value, str) else value
