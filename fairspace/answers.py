"""Input of `fairspace.score` as a checked submission: a frame, a dataset, rows, a file or a folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from fairspace.submissions.benchmarks.benchmark import Benchmark
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.submission import CheckReport, check_submission, check_table, report_on
from fairspace.submissions.errors import UsageError, address, did_you_mean
from fairspace.submissions.format.faults import Collector, SubmissionError, show
from fairspace.submissions.format.schema import SCHEMAS, Submission, SubmissionMeta
from fairspace.submissions.progress import reported
from fairspace.submissions.reading.containers import LIMITS
from fairspace.submissions.reading.front import (
    SUFFIXES,
    Columns,
    Part,
    cast,
    is_table,
    listed,
    parts_of,
    suffix_of,
    typed,
)
from fairspace.submissions.reading.tables import FILE_BITS, Rows

NOT_STATED = "not stated"
_LIKELY = ("answer", "answers", "output", "completion", "prediction", "generation", "text")
"""Other common names of a response column."""
_CONTENT = {"responses": "response", "judgements": "judgement", "annotations": "status"}
"""Table -> the column that identifies it; of several the first whose items are the benchmark's."""
_FIRST = {"sample": 0, "face": 0}
"""Defaults of left-out columns."""


def submission_of(answers: Any, benchmark: str = "", **about: str) -> Submission:
    """The answers as a checked submission; arguments and errors are those of `fairspace.score`."""
    if isinstance(answers, Submission):
        return answers
    report = check_answers(answers, benchmark, **about)
    if report.submission is None:
        raise SubmissionError(list(report.faults))
    if benchmark not in ("", report.submission.meta.benchmark):
        raise UsageError(f"{answers} is a submission to {report.submission.meta.benchmark}, not to {benchmark}.")
    for note in report.passed_over:
        sys.stderr.write(f"Note: {note}\n")
    return report.submission


def check_answers(
    answers: Any,
    benchmark: str = "",
    *,
    revision: str = "",
    model: str = "",
    judge: str = "",
    labels: str = "",
    split: str = "",
) -> CheckReport:
    """The check of answers, or of a submission's folder or zip. UsageError, as `fairspace.score`."""
    place = "answers"
    if isinstance(answers, str | Path):
        if named := address(answers):
            raise UsageError(f"{named} is an address. Expected: a file or folder; download it and name that.")
        answers = Path(answers).expanduser()
        if not is_table(answers):
            with reported(f"Checking {answers.name}") as progress:
                return check_submission(answers, allow_images=True, progress=progress)
        place = answers.name
        if not (answers.is_dir() or suffix_of(place)):
            kinds = f"a folder, a .zip, or a table ({', '.join(SUFFIXES)}, each also as .gz)"
            raise UsageError(f"{place} is no file of answers. Expected: {kinds}.")
    if not benchmark:
        raise UsageError('Name the benchmark of these answers: fs.score(answers, "genres"), or --benchmark genres.')
    bench, named = find_benchmark(benchmark), revision
    revision = bench.revision(revision)
    faults = Collector(LIMITS.faults)
    try:
        tables = _tables(answers, place, split, bench, revision, faults)
    except SubmissionError as error:
        return CheckReport(None, tuple(error.faults))
    rows = {name: _joined([typed(name, part, faults) for part in parts]) for name, parts in tables.items()}
    if faults.all():
        return CheckReport(None, faults.all())
    if not named and (core := _core_of(rows, bench, revision)):
        mend = f"Name what was answered: revision={core!r} (--dataset-revision {core})"
        raise UsageError(f"These are the ids of {core}, a part of {revision}. {mend}, or {revision} for the whole.")
    tools = {"judgements": ("judge", judge), "annotations": ("labels", labels)}
    meta = _meta(bench, revision, model, dict(named for table, named in tools.items() if table in rows))
    checked = {name: check_table(name, read, meta, bench, LIMITS, faults) for name, read in rows.items()}
    checked = {name: table for name, table in checked.items() if table.num_rows}
    if not checked and not faults.all():
        faults.add("EMPTY_SUBMISSION", place, "no row", expected="rows of at least one task")
    return report_on(meta, bench, checked, faults)


def _tables(
    answers: Any, place: str, split: str, bench: Benchmark, revision: str, faults: Collector
) -> dict[str, list[Part]]:
    """Table of the format -> its parts, with all columns of its key; a single table is recognised by its columns."""
    if isinstance(answers, Mapping) and answers and set(answers) <= set(SCHEMAS):
        places = {name: place if len(answers) == 1 else f"{place}[{name!r}]" for name in answers}
        tables = {name: parts_of(part, places[name], split) for name, part in answers.items()}
    else:
        parts = parts_of(answers, place, split)
        table, others = _recognised(parts[0].columns, bench, revision)
        if others:
            faults.passed_over.append(f"column {', '.join(others)}: these rows are read as {table}")
        tables = {table: parts}
    return {
        name: [part._replace(columns=_with_keys(name, part.columns, bench, revision)) for part in parts]
        for name, parts in tables.items()
    }


def _core_of(rows: Mapping[str, Rows], bench: Benchmark, revision: str) -> str:
    """The core of a revision whose ids are exactly those of the answers, which are not all of it; '' for none."""
    ids: dict[str, set[str]] = {}
    for each in rows.values():
        for task, item in zip(each.table["task"].to_pylist(), each.table["id"].to_pylist(), strict=True):
            ids.setdefault(task, set()).add(item)
    tasks = [task for task in bench.tasks if task.name in ids]
    whole = all(len(task.ids(revision)) == len(ids[task.name]) for task in tasks)
    cores = [other for other in bench.revisions if other.startswith(f"{revision}-core") and not whole]
    exact = (core for core in cores if all({*task.ids(core).to_pylist()} == ids[task.name] for task in tasks))
    return next(exact, "")


def _joined(files: list[Rows]) -> Rows:
    places = [rows.places + (number << FILE_BITS) for number, rows in enumerate(files)]
    names = tuple(rows.files[0] for rows in files)
    return Rows(pa.concat_tables([rows.table for rows in files]), np.concatenate(places), names)


def _recognised(columns: Columns, bench: Benchmark, revision: str) -> tuple[str, list[str]]:
    """The table that these columns are, and columns of other tables."""
    likely = [table for table, column in _CONTENT.items() if column in columns]
    if likely:
        fitting = likely[1:] and [table for table in likely if _fits(table, columns, bench, revision)]
        table = (fitting or likely)[0]
        return table, [_CONTENT[other] for other in likely if other != table]
    near = next((repr(column) for column in columns if column in _LIKELY), "")
    hint = f" (did you mean {near}? Rename it)" if near else did_you_mean("response", columns)
    raise UsageError(f"The answers have no column 'response'{hint}. Columns: {', '.join(map(str, columns)) or 'none'}.")


def _fits(table: str, columns: Columns, bench: Benchmark, revision: str) -> bool:
    tasks = [task for task in bench.tasks if task.table == table]
    if "task" in columns:
        return bool({task.name for task in tasks} & {*map(str, listed(columns["task"]))})
    ids = _texts(columns.get("id", []))
    return any(pc.any(pc.is_in(ids, value_set=task.ids(revision))).as_py() for task in tasks)


def _with_keys(name: str, columns: Columns, bench: Benchmark, revision: str) -> Columns:
    if "id" not in columns:
        raise UsageError(f"The answers have no column 'id'{did_you_mean('id', columns)}; `fs.items` gives the ids.")
    rows = len(columns["id"])
    if uneven := [column for column, values in columns.items() if len(values) != rows]:
        raise UsageError(f"The column {uneven[0]!r} has {len(columns[uneven[0]])} values, and 'id' has {rows}.")
    further: dict[str, Any] = {
        key: [first] * rows for key, first in _FIRST.items() if key in SCHEMAS[name].names and key not in columns
    }
    if "task" not in columns:
        further["task"] = _tasks(name, columns["id"], bench, revision)
    return {**columns, **further}


def _tasks(name: str, ids: Any, bench: Benchmark, revision: str) -> Any:
    of = [task for task in bench.tasks if task.table == ("annotations" if name == "human_labels" else name)]
    if not of:
        raise UsageError(f"{bench.name} has no table {name}.")
    texts = _texts(ids)
    tasks = np.full(len(ids), of[0].name, dtype=object)  # where no task has the id, the check says so
    taken = np.zeros(len(ids), bool)
    for task in of:
        mine = np.asarray(pc.is_in(texts, value_set=task.ids(revision), skip_nulls=True))
        if (mine & taken).any():
            both = f"{tasks[int(np.flatnonzero(mine & taken)[0])]} and {task.name}"
            raise UsageError(f"Add a column 'task': {both} have the same ids.")
        tasks[mine], taken = task.name, taken | mine
    return tasks


def _texts(ids: Any) -> Any:
    texts = cast(ids, pa.string())
    return pa.array([each if isinstance(each, str) else None for each in listed(ids)]) if texts is None else texts


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
