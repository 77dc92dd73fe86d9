"""Input of `fairspace.score` as a checked submission: a frame, a dataset, rows, a file or a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.submission import check_submission, check_table
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.format.collector import Collector, show
from fairspace.submissions.format.faults import SubmissionError
from fairspace.submissions.format.schema import SCHEMAS, Submission, SubmissionMeta
from fairspace.submissions.progress import reported
from fairspace.submissions.reading.canonical import digest
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.reading.tables import Rows

NOT_STATED = "not stated"
Columns = Mapping[str, Sequence[Any]]
_LIKELY = ("answer", "answers", "output", "completion", "prediction", "generation", "text")
"""Other common names of a response column."""
_CONTENT = {"judgements": "judgement", "annotations": "status", "responses": "response"}
"""Table -> the column that identifies it, the most specific first."""
_FIRST = {"sample": 0, "face": 0}
"""Defaults of left-out columns."""
_FILES = (".jsonl", ".parquet", ".csv")


def submission_of(
    answers: Any, benchmark: str, *, revision: str = "", model: str = "", judge: str = "", labels: str = ""
) -> Submission:
    """The answers as a checked submission; arguments and errors are those of `fairspace.score`."""
    if isinstance(answers, Submission):
        return answers
    if isinstance(answers, str | Path):
        path = Path(answers).expanduser()
        if path.suffix not in _FILES or path.is_dir():
            return _read(path, benchmark)
        answers, place = _file(path), path.name
    else:
        place = "answers"
    if not benchmark:
        raise UsageError('Name the benchmark of these answers, such as fs.score(answers, benchmark="genres").')
    bench = find_benchmark(benchmark)
    revision = bench.revision(revision)
    faults = Collector(LIMITS.faults)
    rows, parts = {}, _tables(answers)
    for name, part in parts.items():
        file = place if len(parts) == 1 else f"{place}[{name!r}]"
        rows[name] = _typed(name, _with_keys(name, columns_of(part, file), bench, revision), file, faults)
    _raise(faults)
    tools = {"judgements": ("judge", judge), "annotations": ("labels", labels)}
    meta = _meta(bench, revision, model, dict(named for table, named in tools.items() if table in rows))
    tables = {name: check_table(name, read, meta, bench, LIMITS, faults) for name, read in rows.items()}
    tables = {name: table for name, table in tables.items() if table.num_rows}
    if not tables and not faults.all():
        faults.add("EMPTY_SUBMISSION", place, "no row", expected="rows of at least one task")
    _raise(faults)
    return Submission(meta, tables, digest(meta, tables))


def _raise(faults: Collector) -> None:
    if faults.all():
        raise SubmissionError(list(faults.all()))


def _read(path: Path, benchmark: str) -> Submission:
    with reported(f"Checking {path.name}") as progress:
        report = check_submission(path, allow_images=True, progress=progress)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    if benchmark not in ("", report.submission.meta.benchmark):
        raise UsageError(f"{path} is a submission to {report.submission.meta.benchmark}, not to {benchmark}.")
    return report.submission


def _file(path: Path) -> Any:
    try:
        if path.suffix == ".jsonl":
            with path.open(encoding="utf-8") as lines:
                return [json.loads(line) for line in lines if line.strip()]
        import pandas as pd

        if path.suffix == ".csv":
            return pd.read_csv(path, dtype=str, keep_default_na=False, na_values={"response": [""]})
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _tables(answers: Any) -> dict[str, Any]:
    """Table of the format -> its rows; a single table is recognised by its columns."""
    if isinstance(answers, Mapping) and answers and set(answers) <= set(SCHEMAS):
        return dict(answers)
    columns = columns_of(answers, "answers")
    for table, column in _CONTENT.items():
        if column in columns:
            return {table: columns}
    likely = next((repr(column) for column in columns if column in _LIKELY), "")
    hint = f" (did you mean {likely}? Rename it)" if likely else did_you_mean("response", columns)
    raise UsageError(f"The answers have no column 'response'{hint}. Columns: {', '.join(map(str, columns)) or 'none'}.")


def columns_of(part: Any, place: str) -> Columns:
    """Column -> values of a data frame, dataset, Arrow table, mapping of columns, or list of mappings."""
    if hasattr(part, "iloc"):  # a data frame of pandas
        return {name: part[name].astype(object).where(part[name].notna(), None).tolist() for name in part.columns}
    if isinstance(part, Mapping):
        return part
    if hasattr(part, "with_format"):  # a Dataset
        part = part.with_format("arrow")[:]
    if hasattr(part, "__arrow_c_stream__"):  # Arrow, polars and others
        table = pa.table(part)
        return {name: table[name].to_pylist() for name in table.column_names}
    if isinstance(part, Iterable) and not isinstance(part, str | bytes):
        rows = list(part)
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise UsageError(f"Row {number} of {place} is {show(row)}. Expected: a dict with id and response.")
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}
    expected = "a data frame, a Dataset, a list of dicts, a file, a folder, or what fs.run returned"
    raise UsageError(f"The answers are {type(part).__name__}. Expected: {expected}.")


def _with_keys(name: str, columns: Columns, bench: Benchmark, revision: str) -> Columns:
    if "id" not in columns:
        raise UsageError(f"The answers have no column 'id'{did_you_mean('id', columns)}; `fs.items` gives the ids.")
    rows = len(columns["id"])
    if uneven := [column for column, values in columns.items() if len(values) != rows]:
        raise UsageError(f"The column {uneven[0]!r} has {len(columns[uneven[0]])} values, and 'id' has {rows}.")
    further: dict[str, Sequence[Any]] = {
        key: [first] * rows for key, first in _FIRST.items() if key in SCHEMAS[name].names and key not in columns
    }
    if "task" not in columns:
        further["task"] = _tasks(name, columns["id"], bench, revision)
    return {**columns, **further}


def _tasks(name: str, ids: Sequence[Any], bench: Benchmark, revision: str) -> list[str]:
    of = [task for task in bench.tasks if task.table == ("annotations" if name == "human_labels" else name)]
    if not of:
        raise UsageError(f"{bench.name} has no table {name}.")
    texts = pa.array([text if isinstance(text, str) else None for text in ids], pa.string())
    tasks = np.full(len(ids), of[0].name, dtype=object)  # where no task has the id, the check says so
    taken = np.zeros(len(ids), bool)
    for task in of:
        mine = np.asarray(pc.is_in(texts, value_set=task.ids(revision), skip_nulls=True))
        if (mine & taken).any():
            both = f"{tasks[int(np.flatnonzero(mine & taken)[0])]} and {task.name}"
            raise UsageError(f"Add a column 'task': {both} have the same ids.")
        tasks[mine], taken = task.name, taken | mine
    return [str(task) for task in tasks]


def _typed(name: str, columns: Columns, place: str, faults: Collector) -> Rows:
    """The columns with the types of the table's schema; faults are noted by row (from 0) or line (from 1)."""
    schema, rows = SCHEMAS[name], len(columns["id"])
    unit, first = ("line", 1) if place.endswith(".jsonl") else ("row", 0)
    arrays = []
    for field in schema:
        values = columns.get(field.name, [None] * rows)
        convert, expected = _KINDS[str(field.type)]
        converted, wrong = _converted(values, convert)
        for code, here in (("WRONG_TYPE", wrong), ("NULL_VALUE", _nulls(converted, wrong, field.nullable))):
            if here:
                what = f"{field.name} {show(values[here[0]])}"
                about = {
                    "expected": expected,
                    "place": f"{unit} {here[0] + first}",
                    "kind": field.name,
                    "count": len(here),
                }
                faults.add(code, place, what, **about)
        empty = "" if field.type == pa.string() else 0
        arrays.append(pa.array([empty if v is None and not field.nullable else v for v in converted], field.type))
    return Rows(pa.table(arrays, schema=schema), np.arange(first, rows + first, dtype=np.int64), (place,))


def _converted(values: Sequence[Any], convert: Callable[[Any], Any]) -> tuple[list[Any], list[int]]:
    """The converted values (None if missing), and the rows of values that do not fit."""
    converted, wrong = [], []
    for row, value in enumerate(values):
        try:
            converted.append(None if value is None or value != value else convert(value))
        except (TypeError, ValueError, OverflowError):
            converted.append(None)
            wrong.append(row)
    return converted, wrong


def _nulls(converted: Sequence[Any], wrong: Sequence[int], nullable: bool) -> list[int]:
    known = set(wrong)
    return [] if nullable else [row for row, value in enumerate(converted) if value is None and row not in known]


def _text(value: Any) -> str:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise TypeError
    return value.replace("\0", "").encode("utf-8", "replace").decode()


def _integer(value: Any) -> int:
    number = int(value)
    if isinstance(value, bool) or number != float(value) or not -(2**31) <= number < 2**31:
        raise ValueError
    return number


_KINDS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "string": (_text, "a text, or None"),
    "int32": (_integer, "a whole number"),
    "double": (float, "a number, or None"),
}


def _meta(bench: Benchmark, revision: str, model: str, tools: Mapping[str, str]) -> SubmissionMeta:
    about: dict[str, Any] = dict.fromkeys(("revision", "organisation", "licence", "contact"), NOT_STATED)
    about |= {role: {"name": name or NOT_STATED, "version": NOT_STATED} for role, name in tools.items()}
    about |= {"format": 1, "benchmark": bench.name, "dataset_revision": revision, "generation": {}}
    try:
        return SubmissionMeta.model_validate({**about, "model": model or NOT_STATED})
    except ValidationError as error:
        (first, *_) = error.errors()
        field, what = ".".join(map(str, first["loc"])), show(first["input"])
        raise UsageError(f"{field} is {what}. Expected: one line of 1 to 200 printable characters.") from error
