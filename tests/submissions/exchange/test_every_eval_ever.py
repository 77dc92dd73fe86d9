"""Results and answers as Every Eval Ever has them: they pass its schemas, and answers come back as they were."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from fairspace.submissions.benchmarks.baselines import NAMES as BASELINES
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.exchange.errors import ExchangeError
from fairspace.submissions.exchange.every_eval_ever.aggregate import aggregate
from fairspace.submissions.exchange.every_eval_ever.export import export
from fairspace.submissions.exchange.every_eval_ever.importing import import_eee
from fairspace.submissions.exchange.every_eval_ever.instances import instances
from fairspace.submissions.exchange.every_eval_ever.schema import check_record
from fairspace.submissions.format.schema import SCHEMAS, Submission, SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.result import Result
from tests.scored_baselines import scored_baseline
from tests.submissions.sample import META

PYTHON = os.environ.get("FAIRSPACE_EEE_PYTHON", "")
"""A Python of 3.12 or newer with the package every-eval-ever."""
META_OF: dict[str, Any] = {name: META[name] for name in META if name not in ("labels", "judge")}
NARRATIVE = "## Narrative\nAnna and Ben built a boat. Anna was kind."
ANSWERS = {"fact_or_fair": "The answer is B.", "stereotypical_bias": "A", "iris": "a nurse", "genres": NARRATIVE}


def small(name: str, folder: Path) -> Submission:
    """One answer to the first item of each task that is answered with text, a lacking one, and a judgement."""
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


def result_of(submission: Submission) -> Result:
    """A result that says it was scored from a submission."""
    scored = scored_baseline("stereotyped", "fact_or_fair")
    meta = submission.dump_meta()
    meta.pop("contact")
    return replace(scored, meta=meta, signature={**scored.signature, "submission": submission.digest})


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "genres" else []) for name in NAMES]
)
@pytest.mark.parametrize("baseline", BASELINES)
def test_every_bundled_result_passes_the_schema(name: str, baseline: str) -> None:
    record = aggregate(scored_baseline(baseline, name), "other", 0)
    check_record(record, "aggregate", name)
    assert record["source_metadata"]["additional_details"] == {"fairspace_class": "baseline"}
    lower = {each["evaluation_name"]: each["metric_config"]["lower_is_better"] for each in record["evaluation_results"]}
    ranking = scored_baseline(baseline, name).scored.ranking
    assert lower.get(ranking, not benchmark(name).higher_is_better) is not benchmark(name).higher_is_better


@pytest.mark.parametrize("name", ["fact_or_fair", "genres"])
def test_every_answer_passes_the_schema_with_how_it_was_read(name: str, tmp_path: Path) -> None:
    submission = small(name, tmp_path / "submission")
    records = list(instances(submission, "id", "a/b"))
    assert len(records) == sum(table.num_rows for table in submission.tables.values())
    for record in records:
        check_record(record, "instance", record["sample_id"])
        given = record["output"]["raw"] != []
        assert (record["error"] is None) == given
        assert all(part["extraction_method"].startswith("fairspace: ") for part in record["answer_attribution"])
    assert any(record["answer_attribution"] for record in records)


def test_answers_come_back_as_they_were_and_numbers_do_not(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    submission = small("fact_or_fair", tmp_path / "submission")
    result = result_of(submission)
    (tmp_path / "result.json").write_text(result.dumps(), encoding="utf-8")
    words = ("export", tmp_path / "result.json", "--eee", tmp_path / "out", "--answers", tmp_path / "submission")
    code, said, _ = run(*words, "--evaluator", "first_party")
    record, samples = (Path(line.removeprefix("Wrote ")) for line in said.splitlines())
    assert code == 0
    assert json.loads(record.read_text(encoding="utf-8"))["source_metadata"]["evaluator_relationship"] == "first_party"

    assert run("import", "eee", record, "--out", tmp_path / "back", "--contact", META["contact"])[0] == 0
    back = read_submission(tmp_path / "back")
    assert back.tables["responses"].equals(submission.tables["responses"])
    assert back.digest == submission.digest

    lines = samples.read_text(encoding="utf-8").splitlines()
    of_others = [json.dumps({**json.loads(line), "metadata": None}) for line in lines]
    samples.write_text("\n".join(of_others), encoding="utf-8")
    read = read_submission(import_eee(record, tmp_path / "others", named={"contact": META["contact"]}))
    assert read.digest == submission.digest, "the item says its task"
    samples.unlink()
    with pytest.raises(ExchangeError, match="EEE_WITHOUT_ANSWERS"):
        import_eee(record, tmp_path / "numbers", named={})


def test_what_breaks_the_schema_or_is_not_ours_is_named(tmp_path: Path) -> None:
    submission = small("stereotypical_bias", tmp_path / "submission")
    result = replace(result_of(submission), meta=result_of(submission).meta)
    with pytest.raises(ExchangeError, match="EEE_OTHER_ANSWERS"):
        export(scored_baseline("stereotyped", "fact_or_fair"), tmp_path / "out", answers=submission, retrieved=0)
    record, samples = export(result, tmp_path / "out", answers=submission, retrieved=0)
    first = json.loads(samples.read_text(encoding="utf-8").splitlines()[0])
    for wrong, code in (
        ({**first, "sample_id": "no item"}, "EEE_UNKNOWN_ITEM"),
        ({**first, "evaluation": {"score": "high"}}, "EEE_INVALID"),
    ):
        samples.write_text(json.dumps(wrong), encoding="utf-8")
        with pytest.raises(ExchangeError, match=code) as refused:
            import_eee(record, tmp_path / code, named={})
        assert "line 1" in refused.value.where
    record.write_text('{"schema_version": NaN}', encoding="utf-8")
    with pytest.raises(ExchangeError, match="EEE_INVALID"):
        import_eee(record, tmp_path / "broken", named={})


@pytest.mark.skipif(not PYTHON, reason="FAIRSPACE_EEE_PYTHON names no Python with the package every-eval-ever")
def test_its_own_validator_has_nothing_to_say(tmp_path: Path) -> None:
    submission = small("fact_or_fair", tmp_path / "submission")
    export(result_of(submission), tmp_path, answers=submission, retrieved=0)
    done = subprocess.run(
        [PYTHON, "-m", "every_eval_ever", "validate", "data/*/*/*/*.json*", "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert [report["errors"] + report["warnings"] for report in json.loads(done.stdout)] == [[], []]
