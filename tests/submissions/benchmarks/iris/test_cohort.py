from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import GROUPS, OCCUPATIONS, group_members
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.builders.iris_steer_60.understanding import prompt_types
from fairspace.builders.registry import dataset
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.benchmark import protocol_group
from fairspace.submissions.benchmarks.iris.baselines import tables
from fairspace.submissions.benchmarks.iris.cohort import COMBINATIONS, cohort_combinations, most_biased, naming_excess
from fairspace.submissions.benchmarks.iris.parse.rows import MISSING, REFUSED
from fairspace.submissions.benchmarks.iris.quantities import measure
from fairspace.submissions.benchmarks.iris.records import PAIR, read
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.format.writing import write_submission
from fairspace.submissions.results.board import scored_row
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import ChosenPart
from tests.builders.iris_steer_60.test_cohorts import LABEL
from tests.submissions.benchmarks.iris.factory import NAMES
from tests.submissions.benchmarks.rows import meta, responses, there

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
    table = responses("occupation", ids.take(pa.array(given)), texts)
    return Submission(meta("iris", revision, model=model), {"responses": table.sort_by("id")}, digest=model)


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
    assert most_biased(excess)[0] == (NURSE, FIRST)


def test_refusals_are_answers_that_name_nothing_and_missing_answers_are_left_out() -> None:
    codes, groups = truth()
    refused = np.where((groups == FIRST) & (codes == NURSE), REFUSED, codes)
    assert naming_excess(refused)[NURSE, FIRST] == pytest.approx(-29 / 1508 * 17 / 18)
    every_third = np.where(np.arange(len(codes)) % 3 == 0, MISSING, leaning(FIRST, NURSE, 2))
    assert most_biased(naming_excess(every_third))[0][0] == NURSE
    most = np.where((groups == FIRST) & (np.arange(len(codes)) % 3 != 0), MISSING, codes)
    assert np.isnan(naming_excess(most)).all()  # the mean over the groups has no number either


def test_ties_go_to_the_earlier_occupation_and_ten_are_taken_at_most() -> None:
    excess = np.zeros((52, 18))
    excess[[5, 3, 3], [1, 7, 2]] = 0.1, 0.1, 0.1 + 1e-12
    assert most_biased(excess) == [(3, 2), (3, 7), (5, 1)]
    assert len(most_biased(np.random.default_rng(0).normal(size=(52, 18)))) == COMBINATIONS


def test_a_cohort_takes_the_mean_of_its_models_in_any_order() -> None:
    models = [submission(leaning(FIRST, NURSE, 2), "a"), submission(leaning(LAST, JUDGE, 3), "b")]
    whole = cohort_combinations(models)
    assert whole == cohort_combinations(models[::-1])
    assert whole[:2] == [(NURSE, FIRST), (JUDGE, LAST)]


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

    def follow(dataset: Any, combinations: Any) -> Any:
        followed.append(combinations)
        raise BuildError("SOURCE_VALUE", "here", "seen", "enough", "none")

    monkeypatch.setattr("fairspace.builders.registry.dataset", lambda name: replace(dataset(name), of_cohort=follow))
    words = ["build", "iris_steer_60", "--sample", "--out", tmp_path / "built"]
    for name, codes in (("a", leaning(FIRST, NURSE, 2)), ("b", leaning(LAST, JUDGE, 3))):
        given = submission(codes, name)
        write_submission(tmp_path / name, given.meta, dict(given.tables))
        words += ["--cohort", tmp_path / name]
    assert "SOURCE_VALUE at here" in run(*words)[2]
    assert followed[0][0] == (NURSE, FIRST)


def of_pairs(revision: str, answers: str) -> Submission:
    """The balanced model's pair answers to the plan of `answers`, submitted for a revision."""
    rows = tables("balanced", 0, answers)["responses"]
    rows = rows.filter(pc.equal(rows["task"], PAIR))
    about = baseline_meta("balanced", "iris", 0, {}, revision).model_copy(update={"baseline": None})
    return Submission(about, {"responses": rows})


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Submission:
    given = of_pairs(LABEL, LABEL)
    report = check_submission(write_submission(tmp_path_factory.mktemp("cohort") / "mine", given.meta, given.tables))
    assert report.ok
    return there(report.submission)


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


def test_right_answers_are_wrong_by_another_revision_s_plan(handed_in: Submission) -> None:
    named = replace(handed_in, meta=handed_in.meta.model_copy(update={"dataset_revision": "v2"}))
    assert (score_submission(named, resamples=0).values["competence_objective_accuracy"].value or 1) < 0.6


def test_gaps_of_refusals_are_drawn_anew_by_the_groups_of_the_plan() -> None:
    given = read(of_pairs(LABEL, LABEL))
    pairs = there(given.pairs)
    women = np.isin(pairs.groups, np.flatnonzero(group_members("gender")[:, 0]))
    refused = women[..., None] & (np.arange(17) % 2 == 0)
    records = replace(given, pairs=replace(pairs, refused=refused))
    assert measure(records)["refusal_disparity_pair_gender"].value == pytest.approx(9 / 17)


def test_a_run_asks_the_pairs_that_its_data_have(tmp_path: Path) -> None:
    """A cohort's build is asked by default; a named revision, a core and other datasets are not replaced."""
    (tmp_path / "iris_steer_60").mkdir()
    for text, expected in (
        (f'{{"revision": "{LABEL}"}}', LABEL),
        ('{"revision": "v2"}', "v2"),
        ("[", "v2"),
        ("[]", "v2"),
    ):
        (tmp_path / "iris_steer_60" / "manifest.json").write_text(text, encoding="utf-8")
        assert ChosenPart("iris", str(tmp_path)).revision == expected
        assert ChosenPart("iris", str(tmp_path), dataset_revision="v2-core").revision == "v2-core"
        assert ChosenPart("genres", str(tmp_path)).revision == benchmark("genres").revisions[0]


def test_drawn_pairs_say_how_many_have_no_stereotypical_image() -> None:
    bench = benchmark("iris")
    assert bench.words.stimuli_of("paper") == bench.words.stimuli_of(LABEL) == ""
    for revision, numbers in (("v2", range(6000)), ("v2-core", range(140))):
        without = [prompt_types(number, revision)[0] is None for number in numbers]
        share = f"{100 * sum(without) / len(without):.1f}"
        assert (
            bench.words.stimuli_of(f"{revision}, labels by ares")
            == f"drawn pairs, {share} % without a stereotypical image"
        )
    for number in (0, 1, 5999):
        assert set(prompt_types(number, LABEL)) == {"stereotypical", "counter-stereotypical"}
