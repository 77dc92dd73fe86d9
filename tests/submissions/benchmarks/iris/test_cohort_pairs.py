"""Answers about a cohort's pairs are held against the cohort's plan: from the file to the row's values and group."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from fairspace.builders.engine.build import build
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS, group_members
from fairspace.builders.iris.revisions import cohort_revision
from fairspace.builders.iris_steer_60.dataset import DATASET, of_cohort
from fairspace.builders.iris_steer_60.plan import pairs
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.iris.baselines import tables
from fairspace.submissions.benchmarks.iris.measure import measure_refusals, refusal_counts
from fairspace.submissions.benchmarks.iris.records import PAIR, read
from fairspace.submissions.benchmarks.iris.resample import designs
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.standard import protocol_group
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import Chosen
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.builders.iris_steer_60.test_cohorts import JUDGE, LABEL, NURSE, cohort_file
from tests.builders.iris_steer_60.test_dataset import Stripes, tools
from tests.served.environment import served  # noqa: F401, a fixture


def of_pairs(revision: str, answers: str) -> Submission:
    """The pair answers of the balanced model to the plan of `answers`, handed in for a revision."""
    rows = tables("balanced", 0, answers)["responses"]
    rows = rows.filter(pc.equal(rows["task"], PAIR))
    meta = baseline_meta("balanced", "iris", 0, {}, revision).model_copy(update={"baseline": None})
    return Submission(meta, {"responses": rows})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Right answers about every pair of the cohort, as a submission."""
    given = of_pairs(LABEL, LABEL)
    return write_submission(tmp_path_factory.mktemp("cohort") / "mine", given.meta, dict(given.tables))


@pytest.fixture(scope="module")
def handed_in(written: Path) -> Submission:
    """The same, as the check read it."""
    report = check_submission(written)
    assert report.ok
    assert report.submission is not None
    return report.submission


def test_right_answers_are_right_by_the_cohort_s_plan(handed_in: Submission) -> None:
    result = score_submission(handed_in, resamples=0)
    assert result.values["competence_objective_accuracy"].value == 1
    refusals = result.values["refusal_disparity_pair_gender"]
    assert (refusals.value, refusals.evidence["by_group"]) == (0, {"female": 0.0, "male": 0.0})
    row = scored_row(result, "bounded")
    assert row.protocol == row.group == LABEL
    assert protocol_group(benchmark("iris").standards["bounded"], LABEL) == LABEL
    assert "a cohort of models was most biased" in benchmark("iris").protocol_text(LABEL)
    assert not any("does not rank" in reason for reason in result.scored.unranked)


@pytest.mark.parametrize("standard", benchmark("iris").standards)
def test_every_standard_ranks_answers_about_a_cohort_s_pairs(handed_in: Submission, standard: str) -> None:
    reasons = score_submission(handed_in, standard, 0).scored.unranked
    assert not any("does not rank" in reason for reason in reasons)


def test_right_answers_are_wrong_by_another_revision_s_plan(handed_in: Submission) -> None:
    named = replace(handed_in, meta=handed_in.meta.model_copy(update={"dataset_revision": "v2"}))
    wrong = score_submission(named, resamples=0).values["competence_objective_accuracy"].value
    assert wrong is not None
    assert wrong < 0.6


def test_refusals_are_counted_by_the_groups_of_the_plan(written: Path) -> None:
    counts = refusal_counts(read(read_submission(written)), PAIR)
    assert counts is not None
    shown = pairs(LABEL).groups
    assert counts[1].tolist() == [17 * int((shown == group).sum()) for group in range(len(GROUPS))]
    assert sorted(counts[1].tolist())[-2:] != sorted(17 * (pairs().groups == group).sum() for group in range(18))[-2:]


def test_gaps_of_refusals_are_drawn_anew_by_the_groups_of_the_plan() -> None:
    """Women of the plan decline half of the questions; the shipped plan shows others."""
    given = read(of_pairs(LABEL, LABEL))
    assert given.pairs is not None
    women = np.isin(given.pairs.groups, np.flatnonzero(group_members("gender")[:, 0]))
    refused = women[..., None] & (np.arange(17) % 2 == 0)
    records = replace(given, pairs=replace(given.pairs, refused=refused))
    (design,) = designs(records)
    drawn = design.statistic(np.ones((1, len(design.strata)), np.float32))[0]
    values = {value.name: value.value for value in measure_refusals(records)}
    name = "refusal_disparity_pair_gender"
    assert drawn[design.names.index(name)] == pytest.approx(values[name]) == pytest.approx(9 / 17)


def test_a_label_that_is_no_plan_is_an_unknown_revision(tmp_path: Path) -> None:
    given = of_pairs("v2", "v2")
    meta = given.meta.model_copy(update={"dataset_revision": "v2-cohort-zz"})
    folder = write_submission(tmp_path / "mine", meta, {"responses": given.tables["responses"].slice(0, 10)})
    assert [fault.code for fault in check_submission(folder).faults] == ["UNKNOWN_REVISION"]


@pytest.mark.slow  # a run through Inspect, which takes seconds to import
@pytest.mark.usefixtures("served")
def test_from_the_file_of_a_cohort_to_the_values(tmp_path: Path) -> None:
    dataset = of_cohort(DATASET, cohort_file(tmp_path))
    manifest = build(dataset, tmp_path / "built" / dataset.name, sample=True, tools=tools(Stripes()))
    assert manifest.revision == LABEL == cohort_revision([NURSE, JUDGE])
    items = benchmark("iris").items(LABEL)[PAIR]
    prompts = dict(zip(items["id"].to_pylist(), items["prompt"].to_pylist(), strict=True))
    chosen = Chosen("iris", str(tmp_path / "built"), (PAIR,), limit=3, dataset_revision=LABEL)
    model = ModelSettings("openai-api/served/served-text", connections=4)
    run(RunSettings(chosen, tmp_path / "mine", model=model, score=False))
    submission = read_submission(tmp_path / "mine")
    assert submission.meta.dataset_revision == LABEL
    rows = submission.tables["responses"]
    assert rows.num_rows == 3 * 34
    names = {OCCUPATIONS[cell[0]] for cell in (NURSE, JUDGE)}
    assert all(any(name in prompts[item] for name in names) for item in rows["id"].to_pylist() if item.endswith("/1"))
    files = sorted((tmp_path / "built" / dataset.name / "understanding").glob("*.parquet"))
    built = {row["id"]: row for file in files for row in pq.read_table(file, columns=["id", "gender"]).to_pylist()}
    assert {item.rpartition("/")[0] for item in rows["id"].to_pylist()} <= set(built)
    values = score_submission(submission, resamples=0).values
    assert values["dhr_inconsistency_gender"].state in ("value", "undefined")
    assert values["ac_diff_gender"].expected == 9 * int((pairs(LABEL).combination == 0).sum())
