"""Results and answers in the format of Every Eval Ever."""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from fairspace.builders.errors import CodedError
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.format.collector import RefusedError
from fairspace.submissions.format.schema import SCHEMAS, Submission, SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.reading.tables import check_values, decode, parse
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import find_standard
from fairspace.submissions.uncertainty.uncertainty import LEVEL
from fairspace.submissions.values import Value

# Every Eval Ever 0.3 (arXiv:2606.14516): fairness is a property of many answers, so `score` and `is_correct` of an
# answer say whether there is one. An import takes raw answers alone, no numbers.

VERSION = "0.3.0"
COLUMNS = {"responses": "response", "judgements": "judgement"}
"""Tables with answers -> the column of the answer. Annotations of images have no place in the format."""
Model = TypeVar("Model", bound=BaseModel)
CODES = {
    "EEE_INVALID": "a line is no instance record of Every Eval Ever, or `submission.json` does not fit",
    "EEE_OTHER_ANSWERS": "the answers are not those that the result was scored from",
    "EEE_WITHOUT_ANSWERS": "a file has no answers; numbers alone rank nobody here",
    "EEE_UNKNOWN_ITEM": "an answer is to an item that the benchmark does not have",
}

_MEND = "mend the file, or have it exported again"


class ExchangeError(CodedError):
    """A fault of a result or of answers in the format Every Eval Ever."""

    codes = CODES


def export(result: Result, folder: Path, answers: Submission | None = None) -> list[Path]:
    """Write `data/fairspace/<developer>/<model>/<uuid>.json`, with answers `<uuid>_samples.jsonl`; return the files.

    ExchangeError EEE_OTHER_ANSWERS if the result was not scored from `answers`.
    """
    if answers is not None and answers.digest != result.signature.get("submission"):
        expected, mend = "the submission that the result was scored from", "name that one, or score this one again"
        raise ExchangeError("EEE_OTHER_ANSWERS", "--answers", "another submission", expected, mend)
    record = aggregate(result)
    name = uuid.UUID(bytes=hashlib.sha256(f"{entry(result)}\0{result.standard}".encode()).digest()[:16], version=4)
    place = Path("data", "fairspace", *record["model_info"]["id"].split("/"), f"{name}.json")
    files = [folder / place]
    files[0].parent.mkdir(parents=True, exist_ok=True)
    if answers is not None:
        digest, count = hashlib.sha256(), 0
        files.append(files[0].with_name(f"{name}_samples.jsonl"))
        with files[1].open("wb") as stream:
            for line in instances(answers, record["evaluation_id"], record["model_info"]["id"]):
                content = f"{json.dumps(line, ensure_ascii=False, allow_nan=False)}\n".encode()
                digest.update(content)
                stream.write(content)
                count += 1
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": place.with_name(files[1].name).as_posix(),
            "hash_algorithm": "sha256",
            "checksum": digest.hexdigest(),
            "total_rows": count,
            "additional_details": {"evaluation": "whether there is an answer"},
        }
    files[0].write_text(json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return files


def aggregate(result: Result) -> dict[str, Any]:
    """A result's record: model, software, every score and raw value; those without a number with their reasons."""
    bench, meta, now = benchmark(result.benchmark), result.meta, int(time.time())
    name, developer = str(meta["model"]), str(meta["organisation"])
    parts = name.split("/") if name.count("/") == 1 else (developer, name)
    model = "/".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part)[:100].strip("-.") or "unnamed" for part in parts)
    scores, limits = result.scored.scores, bench.table_of(result.scored, find_standard(bench, result.standard)).limits
    every = {**scores, **result.values, **scores}
    source = {"dataset_name": result.benchmark, "source_type": "other"}
    results = []
    for value in (value for value in every.values() if value.value is not None):
        ideal = bench.ideal(value.name, result.standard)
        lower = value.name in scores and not bench.higher_is_better if ideal is None else ideal.worse != "below"
        metric: dict[str, Any] = {"metric_name": value.name, "lower_is_better": lower}
        if value.name in limits:
            low, high = (f"{n}inity".title() if abs(n) == float("inf") else n for n in limits[value.name])
            metric |= {"score_type": "continuous", "min_score": low, "max_score": high}
        named = {"evaluation_name": value.name, "source_data": source, "metric_config": metric}
        results.append({**named, "score_details": _score(value)})
    lacking = {value.name: f"{value.state}: {value.reason}" for value in every.values() if value.value is None}
    details = {key: text for key, text in result.signature.items() if key not in ("fairspace", "sketch")}
    is_open = {None: "unknown", True: "open_weights", False: "closed_weights"}[meta.get("open_weights")]
    weights = {"deployment_type": "unknown", "model_availability": is_open}
    version = result.signature.get("fairspace", "unknown")
    details |= {
        "benchmark": result.benchmark,
        "ranked_by": result.scored.ranking,
        "unranked": json.dumps(list(result.scored.unranked), ensure_ascii=False),
        "labels": json.dumps(dict(result.scored.labels), ensure_ascii=False),
        "without_a_number": json.dumps(lacking, ensure_ascii=False),
        "submission_json": json.dumps(dict(meta), ensure_ascii=False),
    }
    return {
        "schema_version": VERSION,
        "evaluation_id": f"{result.benchmark}/{model}/{now}",
        "retrieved_timestamp": str(now),
        "source_metadata": {
            "source_name": f"fairspace, {bench.title}",
            "source_type": "evaluation_run",
            "source_organization_name": developer,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "fairspace", "version": version, "additional_details": details},
        "model_info": {"name": name, "id": model, "developer": developer, "additional_details": weights},
        "evaluation_results": results,
    }


def _score(value: Value) -> dict[str, Any]:
    """The number with its standard error; its bounds over missing samples, coverage and debiased value as details."""
    about = value.uncertainty
    bounds = {"worst_case_low": value.low, "worst_case_high": value.high, "coverage": value.coverage}
    if about is not None:
        bounds |= {"debiased": about.debiased, "fair_model": about.fair, "fair_model_95": about.fair_high}
    details = {name: repr(float(number)) for name, number in bounds.items() if number is not None}
    details |= {"expected": str(value.expected), "valid": str(value.valid)}
    if about is None:
        return {"score": value.value, "details": details}
    interval = {"lower": about.low, "upper": about.high, "confidence_level": LEVEL, "method": about.method}
    uncertainty = {
        "standard_error": {"value": about.error, "method": "bootstrap"},
        "confidence_interval": interval,
        "num_samples": value.valid,
        "num_bootstrap_samples": about.resamples,
    }
    return {"score": value.value, "details": details, "uncertainty": uncertainty}


def instances(submission: Submission, evaluation_id: str, model: str) -> Iterator[dict[str, Any]]:
    """A record for each response and judgement of a checked submission."""
    bench = benchmark(submission.meta.benchmark)
    items = bench.items(submission.meta.dataset_revision)
    for task in (task for task in bench.tasks if task.table in COLUMNS):
        asked, text = items.get(task.name), "prompt"
        asked, text = (submission.rows("responses", task.judges), "response") if task.judges else (asked, text)
        inputs = {} if asked is None else dict(zip(asked["id"].to_pylist(), asked[text].to_pylist(), strict=True))
        for row in submission.rows(task.table, task.name).to_pylist():
            answer, about = row[COLUMNS[task.table]], {"task": task.name, "sample": str(row["sample"])}
            yield {
                "schema_version": VERSION,
                "evaluation_id": evaluation_id,
                "model_id": model,
                "evaluation_name": task.name,
                "sample_id": row["id"],
                "interaction_type": "single_turn",
                "input": {"raw": inputs.get(row["id"]) or "", "reference": []},
                "output": {"raw": [] if answer is None else [answer]},
                "answer_attribution": [],
                "evaluation": {"score": float(answer is not None), "is_correct": answer is not None},
                "metadata": about | {name: row[name] for name in ("names", "judge") if row.get(name) is not None},
            }


class _Line(BaseModel):
    model_config = ConfigDict(strict=True)
    sample_id: str
    output: dict[str, list[str] | None] | None = None
    metadata: dict[str, str] | None = None


def import_answers(samples: Path, meta: Path, out: Path) -> None:
    """Write the answers of instance records, one a line, as a submission; `meta` is its `submission.json`.

    Our export's `metadata` name task and sample; else the item gives the task, and samples are counted line by line.
    UsageError if there is something at `out` already.
    """
    about = _read(SubmissionMeta, meta.read_bytes(), str(meta))
    bench = benchmark(about.benchmark)
    tasks = {t.name: set(t.ids(about.dataset_revision).to_pylist()) for t in bench.tasks if t.table in COLUMNS}
    counted: Counter[tuple[str, str, str]] = Counter()
    tables: dict[str, list[dict[str, Any]]] = {}
    for where, line in _lines(samples):
        named, item = line.metadata or {}, line.sample_id
        task = named.get("task") or next((name for name, ids in tasks.items() if item in ids), "")
        if item not in tasks.get(task, ()):
            expected = f"an item of {about.benchmark}, dataset revision {about.dataset_revision}"
            mend = f"name another revision in {meta}; `fairspace items` writes the items"
            raise ExchangeError("EEE_UNKNOWN_ITEM", where, f"item {item!r} of task {task!r}", expected, mend)
        optional = {name: named[name] for name in ("names", "judge") if name in named}
        key, sample, table = (task, item, optional.get("judge", "")), named.get("sample", ""), bench.task(task).table
        answers: Sequence[str | None] = (line.output or {}).get("raw") or [None]
        for answer in answers:
            number = int(sample) if re.fullmatch("[0-9]{1,6}", sample) else counted[key]
            counted[key] += 1
            row = {"task": task, "id": item, "sample": number, COLUMNS[table]: answer}
            tables.setdefault(table, []).append(row | optional)
    if not tables:
        raise ExchangeError("EEE_WITHOUT_ANSWERS", str(samples), "no line", "a line for each answer", _MEND)
    write_submission(out, about, {name: pa.Table.from_pylist(part, SCHEMAS[name]) for name, part in tables.items()})


def _lines(samples: Path) -> Iterator[tuple[str, _Line]]:
    """Each line with its place. ExchangeError EEE_INVALID."""
    with samples.open("rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(LIMITS.row_bytes + 1), b""), 1):
            where = f"{samples}, line {number}"
            if len(line) > LIMITS.row_bytes or number > LIMITS.lines:
                expected = f"at most {LIMITS.lines:,} lines of {LIMITS.row_bytes:,} bytes"
                raise ExchangeError("EEE_INVALID", where, "too long", expected, _MEND)
            if line.strip():
                yield where, _read(_Line, line, where)


def _read(kind: type[Model], data: bytes, where: str) -> Model:
    """Strict JSON as a model. ExchangeError EEE_INVALID."""
    try:
        parsed = parse(decode(data), LIMITS.depth)
        check_values(parsed)
        return kind.model_validate(parsed)
    except RefusedError as error:
        place, what = where, str(error)
    except ValidationError as error:
        fault = error.errors()[0]
        place, what = f"{where}, {'.'.join(map(str, fault['loc']))}", fault["msg"]
    raise ExchangeError("EEE_INVALID", place, what, "what the format has there", _MEND)
