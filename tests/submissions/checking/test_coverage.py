import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.checking.submission import TaskCoverage, coverage, coverage_notes
from fairspace.submissions.format.schema import SCHEMAS, Submission, SubmissionMeta
from fairspace.submissions.format.writing import write_submission
from tests.submissions import sample
from tests.submissions.conftest import Run


def submission(name: str) -> Submission:
    bench = benchmark(name)
    meta = SubmissionMeta.model_validate(sample.META | {"benchmark": name, "dataset_revision": bench.revisions[0]})
    tables = bench.baseline("balanced", 0, bench.revisions[0])
    return Submission(meta, {table: _whole(table, rows) for table, rows in tables.items()})


def _whole(table: str, rows: pa.Table) -> pa.Table:
    columns = [rows[f.name] if f.name in rows.column_names else pa.nulls(len(rows), f.type) for f in SCHEMAS[table]]
    return pa.table(columns, names=SCHEMAS[table].names)


def some(whole: Submission, task: str, keep: int) -> Submission:
    rows = whole.tables["responses"]
    kept = pa.concat_tables([rows.filter(pc.not_equal(rows["task"], task)), whole.rows("responses", task)[:keep]])
    return Submission(whole.meta, {**whole.tables, "responses": kept})


@pytest.mark.parametrize("name", NAMES)
def test_a_ranked_score_rests_on_every_task_of_its_benchmark(name: str) -> None:
    bench = benchmark(name)
    covered = coverage(submission(name), bench)
    assert [task.task for task in covered] == [task.name for task in bench.tasks if not task.optional]
    unranked = {"fact_or_fair": ["t2i_subjective"]}.get(name, [])  # image models are ranked by the paper's prompts
    assert [task.task for task in covered if not task.scores] == unranked
    assert all(len(task.scores) <= 1 for task in covered)
    run = [task for task in covered if task.handed_in]
    assert run
    assert {task.enough_for for task in run} == {"its values, a rank"}
    assert {(task.handed_in, task.share) for task in run} == {(task.expected, "100.0 %") for task in run}
    assert list(coverage_notes(covered, bench)) == []


@pytest.mark.parametrize(
    ("keep", "enough", "noted"),
    [
        (158, "worst-case limits, no rank", True),
        (159, "worst-case limits, a rank", False),  # 0.8 of 198 is 158.4
        (0, "nothing: not run", True),
    ],
)
def test_the_samples_that_a_rank_needs_are_counted(keep: int, enough: str, noted: bool) -> None:
    bench = benchmark("fact_or_fair")
    covered = coverage(some(submission("fact_or_fair"), "llm_objective", keep), bench)
    objective = covered[0]
    assert (objective.handed_in, objective.expected, objective.needed, objective.enough_for) == (keep, 198, 159, enough)
    notes = list(coverage_notes(covered, bench))
    assert [f"at least {159 - keep} more of llm_objective" in note for note in notes] == [True] * noted


def test_an_answer_is_handed_in_whatever_it_says_and_null_is_none() -> None:
    bench = benchmark("fact_or_fair")
    whole = submission("fact_or_fair")
    rows = whole.tables["responses"]
    objective = pc.equal(rows["task"], "llm_objective")
    for answer, share in (("I cannot answer that.", 198), ("", 198), (None, 0)):
        answers = pc.if_else(objective, pa.scalar(answer, pa.string()), rows["response"])
        table = rows.set_column(rows.column_names.index("response"), rows.schema.field("response"), answers)
        assert coverage(Submission(whole.meta, {"responses": table}), bench)[0].handed_in == share


def test_a_share_is_whole_only_if_nothing_is_missing() -> None:
    assert TaskCoverage("t", 99_999, 100_000, 80_000, ()).share == "99.9 %"


def test_check_prints_the_samples_of_every_task(run: Run, tmp_path: Path) -> None:
    whole = some(submission("fact_or_fair"), "llm_objective", 100)
    path = write_submission(tmp_path / "s", whole.meta, whole.tables)
    out = run.fine("check", path)
    assert "llm_objective 100 198 50.5 % 159 worst-case limits, no rank" in " ".join(out.split())
    assert "too few samples for a rank by average_llm" in out
    report = json.loads(run.fine("check", path, "--json"))
    assert report["tasks"]["llm_objective"]["handed_in"] == 100
    assert report["tasks"]["t2i_objective"]["enough_for"] == "nothing: not run"
