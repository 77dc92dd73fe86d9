"""Read answers from instance records and write them as a submission; numbers of others are never taken over.

An answer names its task, sample and table in `metadata`, as our own export does. Where a record of other software does
not, its `sample_id` says the item, and the item the task; its samples are counted in the order of the lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.exchange.errors import ExchangeError
from fairspace.submissions.exchange.every_eval_ever.aggregate import ARGUMENTS
from fairspace.submissions.exchange.every_eval_ever.schema import VERSION, check_record
from fairspace.submissions.format.collector import RefusedError
from fairspace.submissions.format.schema import SCHEMAS, SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.reading.strict_json import check_values, decode, parse

COLUMNS = {"responses": "response", "judgements": "judgement"}
"""Table -> its column of answers."""
_SAMPLE = re.compile(r"[0-9]{1,6}")
_MEND = "name an aggregate record and keep its file of samples beside it"


def import_eee(file: Path, out: Path, *, named: Mapping[str, str]) -> Path:
    """Write the answers behind an aggregate record as a submission, and return its path.

    Args:
        file: the aggregate record; `<name>_samples.jsonl` lies beside it.
        out: a new folder or zip.
        named: fields of `submission.json` that the user states; they come before what the record says.

    Errors: ExchangeError EEE_INVALID, EEE_WITHOUT_ANSWERS, EEE_UNKNOWN_ITEM; UsageError if a field of
    `submission.json` is not known, or if there is something at `out`.
    """
    record = _parsed(file.read_bytes(), str(file))
    check_record(record, "aggregate", str(file))
    samples = file.with_name(f"{file.stem}_samples.jsonl")
    if not samples.is_file():
        expected = f"{samples.name} beside it, with the raw answers"
        raise ExchangeError("EEE_WITHOUT_ANSWERS", str(file), "numbers alone", expected, _MEND)
    meta = _meta(record, named, str(file))
    return write_submission(out, meta, _tables(samples, meta))


def _parsed(data: bytes, where: str) -> Any:
    """JSON of one record. ExchangeError EEE_INVALID."""
    try:
        parsed = parse(decode(data), LIMITS.depth)
        check_values(parsed)
    except RefusedError as error:
        raise ExchangeError("EEE_INVALID", where, str(error), f"a record of version {VERSION}", _MEND) from error
    return parsed


def _meta(record: Mapping[str, Any], named: Mapping[str, str], where: str) -> SubmissionMeta:
    """`submission.json`: what the user states, else what our export kept, else what the record says of the model."""
    details = record["eval_library"].get("additional_details", {})
    kept = _parsed(details["submission_json"].encode(), where) if "submission_json" in details else {}
    if not isinstance(kept, dict):
        raise ExchangeError("EEE_INVALID", f"{where}, submission_json", "no object", "what our export writes", _MEND)
    model = record["model_info"]
    arguments: Mapping[str, Any] = {}
    for evaluation in record["evaluation_results"][:1]:
        arguments = evaluation.get("generation_config", {}).get("generation_args", {})
    said = {
        "format": 1,
        "benchmark": details.get("benchmark", ""),
        "dataset_revision": details.get("dataset_revision", ""),
        "model": model["name"],
        "revision": model["additional_details"].get("revision", "not stated"),
        "organisation": model.get("developer", "not stated"),
        "licence": model["additional_details"].get("licence", "not stated"),
        "contact": "not stated",
        "generation": {name: arguments[name] for name in ARGUMENTS if arguments.get(name) is not None},
    }
    fields = {**said, **kept, **named}
    if fields["benchmark"] not in NAMES:
        raise UsageError(f"{where} names no benchmark of ours; name it with --benchmark: {', '.join(NAMES)}.")
    fields["dataset_revision"] = benchmark(fields["benchmark"]).revision(fields["dataset_revision"])
    try:
        return SubmissionMeta.model_validate(fields)
    except ValidationError as error:
        fault = error.errors()[0]
        place, mend = f"{where}, {'.'.join(map(str, fault['loc']))}", "state the field by its option, such as --model"
        raise ExchangeError("EEE_INVALID", place, fault["msg"], "what submission.json has", mend) from error


def _tables(samples: Path, meta: SubmissionMeta) -> dict[str, pa.Table]:
    """The answers by table. ExchangeError EEE_INVALID, EEE_UNKNOWN_ITEM."""
    bench = benchmark(meta.benchmark)
    answered = [task for task in bench.tasks if task.table in COLUMNS]
    tasks = {task.name: set(task.ids(meta.dataset_revision).to_pylist()) for task in answered}
    counted: Counter[tuple[str, str, str]] = Counter()
    rows: dict[str, list[dict[str, Any]]] = {}
    for where, record in _records(samples):
        about, item = record.get("metadata") or {}, record["sample_id"]
        task = about.get("task") or next((name for name, ids in tasks.items() if item in ids), "")
        if item not in tasks.get(task, ()):
            expected = f"an item of {meta.benchmark}, dataset revision {meta.dataset_revision}"
            mend = "name the revision with --dataset-revision; `fairspace items` writes the items"
            raise ExchangeError("EEE_UNKNOWN_ITEM", where, f"item {item!r} of task {task!r}", expected, mend)
        table, judge = bench.task(task).table, about.get("judge")
        answers = (record.get("output") or {}).get("raw") or [None]
        for answer in answers:
            number = counted[task, item, judge or ""]
            counted[task, item, judge or ""] += 1
            sample = int(about["sample"]) if _SAMPLE.fullmatch(about.get("sample", "")) else number
            row = {"task": task, "id": item, "sample": sample, COLUMNS[table]: answer}
            optional = {name: about[name] for name in ("names", "judge") if name in about}
            rows.setdefault(table, []).append(row | optional)
    if not rows:
        raise ExchangeError("EEE_WITHOUT_ANSWERS", str(samples), "no line", "a line for each answer", _MEND)
    return {table: pa.Table.from_pylist(part, schema=SCHEMAS[table]) for table, part in rows.items()}


def _records(samples: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line with its place. ExchangeError EEE_INVALID."""
    with samples.open("rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(LIMITS.row_bytes + 1), b""), 1):
            where = f"{samples}, line {number}"
            if len(line) > LIMITS.row_bytes or number > LIMITS.lines:
                what, expected = "too long", f"at most {LIMITS.lines:,} lines of {LIMITS.row_bytes:,} bytes"
                raise ExchangeError("EEE_INVALID", where, what, expected, _MEND)
            if line.strip():
                record = _parsed(line, where)
                check_record(record, "instance", where)
                yield where, record
