from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from jsonschema import Draft7Validator

from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.exchange import VERSION, ExchangeError, aggregate, export, import_answers, instances
from fairspace.submissions.format.schema import SCHEMAS, Submission, SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.reading.limits import LIMITS
from fairspace.submissions.results.result import Result
from tests.scored_baselines import scored_baseline
from tests.submissions.sample import META

PYTHON = os.environ.get("FAIRSPACE_EEE_PYTHON", "")
"""A Python of 3.12 or newer with the package every-eval-ever."""
SCHEMAS_OF = {
    "eval": "c9c6195aec8a9dfa0b2aba4924ac1aa8a184c9d8ca97cee778cb531088e39b48",
    "instance_level_eval": "b16b7fa7f0aa32763444179d94ffb2336ddb12c3fd2903835fe491666c1ff3e6",
}
"""Schemas of Every Eval Ever 0.3.0 as its package publishes them (MIT, `schemas/LICENSE`): sha256 of their files."""
META_OF: dict[str, Any] = {name: META[name] for name in META if name not in ("labels", "judge")}
NARRATIVE = "## Narrative\nAnna and Ben built a boat. Anna was kind."
ANSWERS = {"fact_or_fair": "The answer is B.", "stereotypical_bias": "A", "iris": "a nurse", "genres": NARRATIVE}


def small(name: str, folder: Path) -> Submission:
    """One answer to the first item of each text task, a missing one, and a judgement."""
    bench, tables = benchmark(name), {}
    for table, column in (("responses", "response"), ("judgements", "judgement")):
        text = ANSWERS[name] if table == "responses" else '{"warm": 1}'
        rows = [
            {"task": task.name, "id": task.ids(bench.revisions[0])[place].as_py(), "sample": 0, column: answer}
            for task in bench.tasks
            if task.table == table
            for place, answer in enumerate((text, None))
        ]
        if rows:
            tables[table] = pa.Table.from_pylist(rows, schema=SCHEMAS[table])
    judge = {"judge": META["judge"]} if "judgements" in tables else {}
    meta = SubmissionMeta.model_validate(
        {**META_OF, **judge, "benchmark": name, "dataset_revision": bench.revisions[0]}
    )
    return read_submission(write_submission(folder, meta, tables))


def check_record(data: Any, schema: str) -> None:
    content = (Path(__file__).parent / "schemas" / f"{schema}.schema.json").read_bytes()
    assert hashlib.sha256(content).hexdigest() == SCHEMAS_OF[schema]
    Draft7Validator(json.loads(content)).validate(data)
    assert data["schema_version"] == VERSION


def result_of(submission: Submission) -> Result:
    scored = scored_baseline("stereotyped", "fact_or_fair")
    meta = submission.dump_meta()
    meta.pop("contact")
    return replace(scored, meta=meta, signature={**scored.signature, "submission": submission.digest})


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "genres" else []) for name in NAMES]
)
@pytest.mark.parametrize("baseline", BASELINES)
def test_every_bundled_result_passes_the_schema(name: str, baseline: str) -> None:
    record = aggregate(scored_baseline(baseline, name))
    check_record(record, "eval")
    lower = {each["evaluation_name"]: each["metric_config"]["lower_is_better"] for each in record["evaluation_results"]}
    ranking = scored_baseline(baseline, name).scored.ranking
    assert lower.get(ranking, not benchmark(name).higher_is_better) is not benchmark(name).higher_is_better


@pytest.mark.parametrize("name", ["fact_or_fair", "genres"])
def test_every_answer_passes_the_schema(name: str, tmp_path: Path) -> None:
    submission = small(name, tmp_path / "submission")
    records = list(instances(submission, "id", "a/b"))
    assert len(records) == sum(table.num_rows for table in submission.tables.values())
    for record in records:
        check_record(record, "instance_level_eval")
        assert record["evaluation"]["is_correct"] == (record["output"]["raw"] != [])
    assert any(record["input"]["raw"] for record in records)


def test_answers_come_back_as_they_were_and_numbers_do_not(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    submission = small("fact_or_fair", tmp_path / "submission")
    result = result_of(submission)
    (tmp_path / "result.json").write_text(result.dumps(), encoding="utf-8")
    words = ("report", tmp_path / "result.json", "--eee", tmp_path / "out", "--answers", tmp_path / "submission")
    code, said, _ = run(*words)
    record, samples = (Path(line.removeprefix("Wrote ")) for line in said.splitlines())
    assert code == 0
    exported = json.loads(record.read_text(encoding="utf-8"))
    check_record(exported, "eval")
    detailed = exported["detailed_evaluation_results"]
    assert detailed["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
    assert detailed["total_rows"] == submission.tables["responses"].num_rows

    meta = tmp_path / "submission" / "submission.json"
    assert run("import", "eee", samples, meta, "--out", tmp_path / "back")[0] == 0
    back = read_submission(tmp_path / "back")
    assert back.tables["responses"].equals(submission.tables["responses"])
    assert back.digest == submission.digest

    lines = samples.read_text(encoding="utf-8").splitlines()
    of_others = [json.dumps({**json.loads(line), "metadata": None}) for line in lines]
    samples.write_text("\n".join(of_others), encoding="utf-8")
    import_answers(samples, meta, tmp_path / "others")
    assert read_submission(tmp_path / "others").digest == submission.digest, "the item says its task"
    samples.write_text("\n", encoding="utf-8")
    with pytest.raises(ExchangeError, match="EEE_WITHOUT_ANSWERS"):
        import_answers(samples, meta, tmp_path / "numbers")


def test_what_is_no_record_or_not_ours_is_named(tmp_path: Path) -> None:
    submission = small("stereotypical_bias", tmp_path / "submission")
    with pytest.raises(ExchangeError, match="EEE_OTHER_ANSWERS"):
        export(scored_baseline("stereotyped", "fact_or_fair"), tmp_path / "out", submission)
    _, samples = export(result_of(submission), tmp_path / "out", submission)
    meta = tmp_path / "submission" / "submission.json"
    first = json.loads(samples.read_text(encoding="utf-8").splitlines()[0])
    for number, (wrong, code) in enumerate(
        (
            (json.dumps({**first, "sample_id": "no item"}), "EEE_UNKNOWN_ITEM"),
            (json.dumps({**first, "metadata": {"task": "no task"}}), "EEE_UNKNOWN_ITEM"),
            (json.dumps({**first, "sample_id": 1}), "EEE_INVALID"),
            (json.dumps({**first, "output": {"raw": [1]}}), "EEE_INVALID"),
            (json.dumps({**first, "metadata": {"sample": 0}}), "EEE_INVALID"),
            ('{"sample_id": NaN}', "EEE_INVALID"),
            ('{"sample_id": "a", "sample_id": "b"}', "EEE_INVALID"),
            ("[" * 100_000, "EEE_INVALID"),
            ('{"sample_id": "\\ud800"}', "EEE_INVALID"),
            ("x" * (LIMITS.row_bytes + 1), "EEE_INVALID"),
        )
    ):
        samples.write_text(wrong, encoding="utf-8")
        with pytest.raises(ExchangeError, match=code) as refused:
            import_answers(samples, meta, tmp_path / str(number))
        assert "line 1" in refused.value.where
        assert not (tmp_path / str(number)).exists()
    meta.write_text('{"model": 1}', encoding="utf-8")
    with pytest.raises(ExchangeError, match="EEE_INVALID"):
        import_answers(samples, meta, tmp_path / "broken")


@pytest.mark.skipif(not PYTHON, reason="FAIRSPACE_EEE_PYTHON names no Python with the package every-eval-ever")
def test_its_own_validator_has_nothing_to_say(tmp_path: Path) -> None:
    submission = small("fact_or_fair", tmp_path / "submission")
    export(result_of(submission), tmp_path, submission)
    done = subprocess.run(
        [PYTHON, "-m", "every_eval_ever", "validate", "data/*/*/*/*.json*", "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert [report["errors"] + report["warnings"] for report in json.loads(done.stdout)] == [[], []]
