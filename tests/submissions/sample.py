"""A small benchmark with all three tables, and a good submission to it."""

import json
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from fairspace.submissions.benchmarks.benchmark import Benchmark, Scored, Scoring
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED, Adjustment
from fairspace.submissions.benchmarks.task import Task
from fairspace.submissions.format.schema import SCHEMAS, Submission, SubmissionMeta
from fairspace.submissions.values import Value, Values

META: dict[str, Any] = {
    "format": 1,
    "benchmark": "genres",
    "dataset_revision": "v1",
    "model": "Test 1B",
    "revision": "2026-01-01",
    "organisation": "Somebody",
    "licence": "Apache-2.0",
    "contact": "somebody@example.org",
    "generation": {"temperature": 0.7, "seed": 1},
    "labels": {"name": "labeller", "version": "1"},
    "judge": {"name": "judge", "version": "2", "settings": {"temperature": 0}},
}


def _ids(task: str, count: int) -> pa.Array:
    return pa.array([f"{task}/{number:03}" for number in reversed(range(count))])


def _measure(submission: Submission) -> dict[str, Value]:
    return {}


def _score(values: Values, standard: object, adjustment: Adjustment = AS_RELEASED) -> Scored:
    return Scored({}, "none", None)


BENCH = Benchmark(
    name="genres",
    revisions=("v1", "upstream"),
    tasks=(
        Task("story", "responses", 2, lambda revision: _ids("story", 40), named_in=("upstream",)),
        Task("quiz", "responses", 1, lambda revision: _ids("quiz", 10)),
        Task("image", "annotations", 3, lambda revision: _ids("image", 10)),
        Task("profile", "judgements", 1, lambda revision: _ids("profile", 10)),
    ),
    measure=_measure,
    standards={},
    scoring=Scoring(),
    score=_score,
    higher_is_better=True,
    baseline=lambda name, seed, revision: {},
)


def response_rows() -> list[dict[str, Any]]:
    return [
        {"task": "story", "id": f"story/{i:03}", "sample": s, "response": None if i == 7 else f"Story {i}, «{s}»"}
        for i in range(40)
        for s in range(2)
    ]


def annotation_rows() -> list[dict[str, Any]]:
    """30 images, one with two faces, one with none."""
    blank = {"gender": None, "age": None, "skin_tone": None, "race": None, "image_quality": 0.25}
    rows = [
        {"task": "image", "id": f"image/{i:03}", "sample": s, "face": 0, "status": "ok"} | blank | {"gender": "female"}
        for i in range(10)
        for s in range(3)
    ]
    rows[3] |= {"status": "no_face", "gender": None}
    return [*rows, rows[4] | {"face": 1, "gender": "male", "image_quality": None}]


def judgement_rows() -> list[dict[str, Any]]:
    return [
        {"task": "profile", "id": f"profile/{i:03}", "sample": 0, "judgement": json.dumps({"warm": i})}
        for i in range(10)
    ]


def tables() -> dict[str, pa.Table]:
    rows = {"responses": response_rows(), "annotations": annotation_rows(), "judgements": judgement_rows()}
    return {name: pa.Table.from_pylist(content, schema=SCHEMAS[name]) for name, content in rows.items()}


def meta(**changes: Any) -> SubmissionMeta:
    return SubmissionMeta.model_validate(META | changes)


def meta_bytes(**changes: Any) -> bytes:
    """`submission.json` with changes; None removes a field."""
    return json.dumps({k: v for k, v in (META | changes).items() if v is not None}).encode()


def jsonl(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def write_folder(path: Path, files: Mapping[str, bytes]) -> Path:
    path.mkdir(parents=True)
    for name, data in files.items():
        (path / name).write_bytes(data)
    return path


def write_zip(path: Path, members: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    """A zip with these members, in this order, repeats included."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name, data in members:
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            if not isinstance(name, zipfile.ZipInfo):
                info.external_attr = 0o100644 << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return path
