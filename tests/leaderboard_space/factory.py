"""Small stores with real results of trivial models, and submissions to upload."""

import json
import tempfile
import zipfile
import zlib
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Literal

from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import add_result, result_draft
from fairspace.leaderboard_space.logged import board_values, unpacked
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import score_submission

HOSTILE = "=cmd() <script>alert(1)</script> [x](https://evil.example) **b** <img src=https://evil.example/a.png>"
Answers = Literal["random", "constant", "stereotyped", "balanced", "refusing"]


@lru_cache
def result(benchmark: str, answers: Answers, model: str | None = None) -> Result:
    """A trivial model's result: a baseline's, or a named model's without a digest of its answers."""
    tables = import_module(f"fairspace.submissions.benchmarks.{benchmark}.baselines").tables(answers, 0)
    meta = baseline_meta(answers, benchmark, 0, tables)
    if model is not None:
        meta = meta.model_copy(update={"baseline": None, "model": model, "organisation": model})
    with tempfile.TemporaryDirectory() as folder:
        scored = score_submission(read_submission(write_submission(Path(folder) / "submission", meta, tables)))
    return scored if model is None else unidentified(scored)


def unidentified(found: Result) -> Result:
    kept = {name: text for name, text in found.signature.items() if name != "answers"}
    return replace(found, signature=kept)


def store(root: Path) -> LocalStorage:
    made = LocalStorage(root)
    for benchmark in ("fact_or_fair", "stereotypical_bias", "iris"):
        add_result(made, result(benchmark, "constant"))
        add_result(made, result(benchmark, "stereotyped", HOSTILE))
    return made


def earlier_draft(scored: Result) -> tuple[Draft, dict[str, bytes]]:
    """The event of a result as earlier versions wrote it: with every value and the draws."""
    draft, files = result_draft(scored, own=True)
    parts = json.loads(zlib.decompress(unpacked(draft.body)))
    values = {name: value.to_json() for name, value in board_values(scored).items()}
    about = draft.body["result"] | {"values": json.dumps(values)}
    about |= {} if scored.draws is None else {"draws": scored.draws.to_json()}
    body = {name: part for name, part in draft.body.items() if name not in ("packed", "tasks")}
    body |= {"result": about, "errors": parts["errors"], "scored": parts["scored"]}
    return replace(draft, body=body), files


def good_zip(path: Path, model: str) -> Path:
    tables = import_module("fairspace.submissions.benchmarks.fact_or_fair.baselines").tables("stereotyped", 1)
    meta = baseline_meta("stereotyped", "fact_or_fair", 1, tables)
    meta = meta.model_copy(update={"baseline": None, "model": model, "organisation": "A lab"})
    return write_submission(path, meta, tables)


def bad_zip(path: Path) -> tuple[Path, set[str]]:
    tables = import_module("fairspace.submissions.benchmarks.fact_or_fair.baselines").tables("stereotyped", 1)
    meta = baseline_meta("stereotyped", "fact_or_fair", 1, tables).model_dump(exclude_none=True)
    item = tables["responses"]["id"][0].as_py()
    rows = [
        {"task": "llm_objective", "id": item, "sample": 0, "response": "women"},
        {"task": "llm_objective", "id": item, "sample": 0, "response": "men"},
        {"task": "llm_objective", "id": "llm_objective/<b>nothing</b>", "sample": 0, "response": "men"},
        {"task": "no_such_task", "id": item, "sample": 0, "response": "men"},
    ]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("submission.json", json.dumps({**meta, "licence": 7}))
        archive.writestr("responses.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return path, {fault.code for fault in check_submission(path, allow_baseline=False).faults}


def renamed(found: Result, model: str) -> Result:
    return replace(found, meta={**found.meta, "model": model})
