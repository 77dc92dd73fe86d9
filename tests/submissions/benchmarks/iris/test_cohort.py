from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from fairspace.builders.engine.build import build
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS, cohort_revision, group_members
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60.dataset import DATASET, of_cohort
from fairspace.builders.iris_steer_60.plan import pairs
from fairspace.builders.registry import dataset
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.benchmark import protocol_group
from fairspace.submissions.benchmarks.iris.baselines import tables
from fairspace.submissions.benchmarks.iris.cohort import COMBINATIONS, cohort_combinations, most_biased, naming_excess
from fairspace.submissions.benchmarks.iris.measure import measure_refusals, refusal_counts
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING, REFUSED
from fairspace.submissions.benchmarks.iris.records import PAIR, read
from fairspace.submissions.benchmarks.iris.resample import designs
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import check_submission, read_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import RESPONSES, Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import Chosen
from fairspace.submissions.running.asking.models import ModelSettings
from fairspace.submissions.running.run import run
from fairspace.submissions.running.settings import RunSettings
from tests.builders.iris_steer_60.test_cohorts import JUDGE as JUDGE_CELL
from tests.builders.iris_steer_60.test_cohorts import LABEL, cohort_file
from tests.builders.iris_steer_60.test_cohorts import NURSE as NURSE_CELL
from tests.builders.iris_steer_60.test_dataset import Stripes, tools
from tests.served.environment import served  # noqa: F401, a fixture
from tests.submissions.benchmarks.iris.factory import META, NAMES

Codes = NDArray[np.int_]
NURSE, JUDGE = OCCUPATIONS.index("nurse"), OCCUPATIONS.index("judge")
FIRST, LAST = 0, len(GROUPS) - 1


def truth() -> tuple[Codes, Codes]:
    occupations, groups = iris_ideal_52.image_cells()
    return occupations.copy(), groups


def leaning(group: int, occupation: int, share: int) -> Codes:
    """Right about every image, except every `share`-th of a group, taken for an occupation."""
    codes, groups = truth()
    rows = np.flatnonzero((groups == group) & (codes != occupation))
    codes[rows[::share]] = occupation
    return codes


def submission(codes: Codes, model: str = "drawn", revision: str = "v2") -> Submission:
    ids, given = iris_ideal_52.image_ids("v2"), np.flatnonzero(codes != MISSING)
    texts = np.append(NAMES, "I am sorry, I cannot tell.")[np.where(codes[given] < 0, len(NAMES), codes[given])]
    n = len(given)
    columns = [["occupation"] * n, ids.take(pa.array(given)), np.zeros(n, np.int32), texts, [None] * n]
    table = pa.table([pa.array(c, f.type) for c, f in zip(columns, RESPONSES, strict=True)], schema=RESPONSES)
    meta = META.model_copy(update={"model": model, "dataset_revision": revision, "labels": None})
    return Submission(meta, {"responses": table.sort_by("id")}, digest=model)


def test_a_model_that_is_always_right_has_no_biased_combination() -> None:
    excess = naming_excess(truth()[0])
    assert excess.shape == (52, 18)
    assert np.abs(excess).max() == pytest.approx(0, abs=1e-12)
    assert most_biased(excess) == []


def test_the_excess_by_hand() -> None:
    # 52 x 29 = 1508 images of a group, 29 of each occupation; half of the other 1479 are taken for nurses: 740.
    excess = naming_excess(leaning(FIRST, NURSE, 2))
    share = (29 + 740) / 1508
    mean = (share + 17 * 29 / 1508) / 18
    assert excess[NURSE, FIRST] == pytest.approx(share - mean)
    assert excess[NURSE, LAST] == pytest.approx(29 / 1508 - mean)
    first = most_biased(excess)[0]
    assert (first["occupation"], first["group"], first["excess"]) == ("nurse", GROUPS[FIRST], round(share - mean, 6))


def test_one_answer_for_everybody_is_no_biased_combination_and_one_for_a_group_is_the_extreme() -> None:
    assert most_biased(naming_excess(np.full_like(truth()[0], JUDGE))) == []
    groups = truth()[1]
    excess = naming_excess(np.where(groups == LAST, JUDGE, NURSE))
    assert excess[JUDGE, LAST] == pytest.approx(17 / 18)
    assert excess[NURSE, LAST] == pytest.approx(-17 / 18)


def test_refusals_are_answers_that_name_nothing_and_missing_answers_are_left_out() -> None:
    codes, groups = truth()
    refused = np.where((groups == FIRST) & (codes == NURSE), REFUSED, codes)
    assert naming_excess(refused)[NURSE, FIRST] == pytest.approx(-29 / 1508 * 17 / 18)
    every_third = np.where(np.arange(len(codes)) % 3 == 0, MISSING, leaning(FIRST, NURSE, 2))
    assert most_biased(naming_excess(every_third))[0]["occupation"] == "nurse"
    most = np.where((groups == FIRST) & (np.arange(len(codes)) % 3 != 0), MISSING, codes)
    assert np.isnan(naming_excess(most)).all()  # the mean over the groups has no number either


def test_ties_go_to_the_earlier_occupation_and_ten_are_taken_at_most() -> None:
    excess = np.zeros((52, 18))
    excess[[5, 3, 3], [1, 7, 2]] = 0.1, 0.1, 0.1 + 1e-12
    chosen = most_biased(excess)
    assert [(c["occupation"], c["group"]) for c in chosen] == [
        (OCCUPATIONS[3], GROUPS[2]),
        (OCCUPATIONS[3], GROUPS[7]),
        (OCCUPATIONS[5], GROUPS[1]),
    ]
    assert len(most_biased(np.random.default_rng(0).normal(size=(52, 18)))) == COMBINATIONS


def test_a_cohort_takes_the_mean_of_its_models_in_any_order() -> None:
    models = [submission(leaning(FIRST, NURSE, 2), "a"), submission(leaning(LAST, JUDGE, 3), "b")]
    whole = cohort_combinations(models)
    assert whole == cohort_combinations(models[::-1])
    assert [model["model"] for model in whole["models"]] == ["a", "b"]
    first, second = whole["combinations"][:2]
    assert (first["occupation"], first["group"]) == ("nurse", GROUPS[FIRST])
    assert (second["occupation"], second["group"]) == ("judge", GROUPS[LAST])
    alone = whole["models"][0]["combinations"][0]["excess"]
    other = naming_excess(leaning(LAST, JUDGE, 3))[NURSE, FIRST]
    assert first["excess"] == pytest.approx((alone + other) / 2, abs=1e-6)


def test_what_is_no_cohort_is_refused() -> None:
    one = submission(truth()[0])
    foreign = Submission(one.meta.model_copy(update={"benchmark": "genres"}))
    nothing = submission(np.full_like(truth()[0], MISSING), "silent")
    half = submission(np.where(np.arange(27_144) % 3 != 0, MISSING, truth()[0]), "half")
    older = submission(truth()[0], "older", "v1")
    for cohort, said in (
        ([], "needs a submission"),
        ([foreign], "not to genres"),
        ([one, one], "named twice"),
        ([one, older], "one dataset revision, not v1 and v2"),
        ([nothing], "silent has no occupations to compare: the task occupation was not submitted"),
        ([half], "half has too few answers to the task occupation; expected them for 50% of the images"),
    ):
        with pytest.raises(UsageError, match=said):
            cohort_combinations(cohort)


def test_a_build_follows_a_cohort(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: list[Any] = []

    def follow(dataset: Any, file: Path) -> Any:
        followed.append(json.loads(file.read_text(encoding="utf-8")))
        raise BuildError("SOURCE_VALUE", "here", "seen", "enough", "none")

    monkeypatch.setattr("fairspace.builders.registry.dataset", lambda name: replace(dataset(name), of_cohort=follow))
    words = ["build", "iris_steer_60", "--sample", "--out", tmp_path / "built"]
    for name, codes in (("a", leaning(FIRST, NURSE, 2)), ("b", leaning(LAST, JUDGE, 3))):
        given = submission(codes, name)
        write_submission(tmp_path / name, given.meta, dict(given.tables))
        words += ["--cohort", tmp_path / name]
    assert "SOURCE_VALUE at here" in run(*words)[2]
    assert followed[0]["combinations"][0]["occupation"] == "nurse"
    assert [len(model["submission"]) for model in followed[0]["models"]] == [64, 64]


def of_pairs(revision: str, answers: str) -> Submission:
    """The balanced model's pair answers to the plan of `answers`, submitted for a revision."""
    rows = tables("balanced", 0, answers)["responses"]
    rows = rows.filter(pc.equal(rows["task"], PAIR))
    meta = baseline_meta("balanced", "iris", 0, {}, revision).model_copy(update={"baseline": None})
    return Submission(meta, {"responses": rows})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = of_pairs(LABEL, LABEL)
    return write_submission(tmp_path_factory.mktemp("cohort") / "mine", given.meta, dict(given.tables))


@pytest.fixture(scope="module")
def handed_in(written: Path) -> Submission:
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


@pytest.mark.slow  # a run through Inspect, which takes seconds to import
@pytest.mark.usefixtures("served")
def test_from_the_file_of_a_cohort_to_the_values(tmp_path: Path) -> None:
    dataset = of_cohort(DATASET, cohort_file(tmp_path))
    manifest = build(dataset, tmp_path / "built" / dataset.name, sample=True, tools=tools(Stripes()))
    assert manifest.revision == LABEL == cohort_revision([NURSE_CELL, JUDGE_CELL])
    items = benchmark("iris").items(LABEL)[PAIR]
    prompts = dict(zip(items["id"].to_pylist(), items["prompt"].to_pylist(), strict=True))
    chosen = Chosen("iris", str(tmp_path / "built"), (PAIR,), limit=3, dataset_revision=LABEL)
    model = ModelSettings("openai-api/served/served-text", connections=4)
    run(RunSettings(chosen, tmp_path / "mine", model=model))
    submission = read_submission(tmp_path / "mine")
    assert submission.meta.dataset_revision == LABEL
    rows = submission.tables["responses"]
    assert rows.num_rows == 3 * 34
    names = {OCCUPATIONS[cell[0]] for cell in (NURSE_CELL, JUDGE_CELL)}
    assert all(any(name in prompts[item] for name in names) for item in rows["id"].to_pylist() if item.endswith("/1"))
    files = sorted((tmp_path / "built" / dataset.name / "understanding").glob("*.parquet"))
    built = {row["id"]: row for file in files for row in pq.read_table(file, columns=["id", "gender"]).to_pylist()}
    assert {item.rpartition("/")[0] for item in rows["id"].to_pylist()} <= set(built)
    values = score_submission(submission, resamples=0).values
    assert values["dhr_inconsistency_gender"].state in ("value", "undefined")
    assert values["ac_diff_gender"].expected == 9 * int((pairs(LABEL).combination == 0).sum())
