"""The studies of the four benchmarks, and the command over a submission."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.genres import plan as genres_plan
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.submissions.benchmarks.fact_or_fair.records.records import Records as FactRecords
from fairspace.submissions.benchmarks.fact_or_fair.records.records import every_query
from fairspace.submissions.benchmarks.fact_or_fair.validity import studies as fact_or_fair
from fairspace.submissions.benchmarks.genres.records import Features
from fairspace.submissions.benchmarks.genres.records import Records as GenresRecords
from fairspace.submissions.benchmarks.genres.records.stories import Stories
from fairspace.submissions.benchmarks.genres.validity import studies as genres
from fairspace.submissions.benchmarks.iris.records import Records as IrisRecords
from fairspace.submissions.benchmarks.iris.validity import studies as iris
from fairspace.submissions.benchmarks.stereotypical_bias.records import CELLS, Answers, questions
from fairspace.submissions.benchmarks.stereotypical_bias.records import Records as StereotypeRecords
from fairspace.submissions.benchmarks.stereotypical_bias.validity import studies as stereotypical_bias
from fairspace.submissions.validity.agreement import agreements
from fairspace.submissions.validity.components import components
from fairspace.submissions.validity.decision import decision
from fairspace.submissions.validity.study import Study

Run = Callable[..., tuple[int, str, str]]


def shares(study: Study) -> dict[str, float]:
    return {part.effect: part.share for part in components(study).parts}


def test_occupations_that_differ_are_what_images_of_iris_vary_by() -> None:
    rng = np.random.default_rng(0)
    gender = rng.random(8320) < np.repeat(rng.choice([0.1, 0.9], 52), 160)
    labels = np.stack([gender, rng.integers(0, 3, 8320), rng.integers(0, 3, 8320)], axis=1).astype(np.int64)
    by_name = {study.name: study for study in iris(IrisRecords({}, neutral=labels))}
    assert list(by_name) == [f"generation_neutral, {attribute}" for attribute in ("gender", "age", "skin_tone")]
    # shares of .1 and .9: variance .16 between and .09 within
    assert shares(by_name["generation_neutral, gender"])["occupation"] == pytest.approx(0.64, abs=0.04)
    assert shares(by_name["generation_neutral, age"])["occupation"] < 0.01


def test_a_model_that_takes_the_left_face_varies_by_side() -> None:
    cell = next(cell for cell in CELLS if cell.name == "gender_occupation")
    asked = questions(cell, "v1")
    left = Answers(asked, asked.options[:, 0], np.zeros(len(asked.rows), np.int64), np.zeros(len(asked.rows), np.int64))
    records = StereotypeRecords({**dict.fromkeys(cell.name for cell in CELLS), cell.name: left})
    (study,) = stereotypical_bias(records)
    assert shares(study)["side"] == pytest.approx(1)
    favours = np.where(asked.instance % 2, 1, 0)
    records = StereotypeRecords(
        {**records.cells, cell.name: Answers(asked, favours, favours, np.zeros(len(favours), np.int64))}
    )
    assert shares(stereotypical_bias(records)[0])["occupation"] == pytest.approx(1)


def test_orders_of_objective_queries_are_a_factor_of_fact_or_fair() -> None:
    item = np.arange(198)
    by_order = item % 3  # the group that is named follows the order, so that all is order
    nobody = every_query(plan.draws("v2-core")).where(np.zeros(len(plan.draws("v2-core").cell), bool))
    found = fact_or_fair(FactRecords({}, nobody, {}, None, revision="v2", named=(item, by_order)))
    assert [study.name for study in found] == ["llm_objective, gender", "llm_objective, race"]
    assert shares(found[1])["within"] > 0.9
    assert [factor.kind for factor in found[1].factors] == ["prompt", "prompt", "order"]


def test_contexts_and_topics_are_factors_of_the_subjective_queries() -> None:
    everything = every_query(plan.draws("v2-core"))
    answers = everything.where(np.ones(len(everything.row), bool))
    female = (answers.plan.gender == 0).argmax(axis=1).astype(np.int8)
    male = (answers.plan.gender == 1).argmax(axis=1).astype(np.int8)
    option = np.where(answers.plan.cell[:, 0] % 2, female, male)  # a woman or a man, by the statistic
    chosen = type(answers)(answers.plan, answers.row, option, answers.refused, ran=True)
    by_name = {study.name: study for study in fact_or_fair(FactRecords({}, chosen, {}, None, revision="v2-core"))}
    found = shares(by_name["llm_subjective, gender"])
    assert found["topic"] > 0.5
    assert found["context"] < 0.01
    assert found["scenario"] < 0.01


def test_elements_and_the_order_of_names_are_factors_of_genres() -> None:
    ids = tuple(genres_plan.ids("v1").to_pylist())
    first = np.array([pair.names[0] == pair.male_name for pair in genres_plan.pair_list()], float)
    noise = np.random.default_rng(3).normal(0, 0.5, (1440, 2))
    columns = {"subject": 10 + noise + np.stack([3 * first, np.zeros(1440)], axis=1)}
    absent = dict.fromkeys(("M1", "M1_directed", "M2", "M4", "M5", "M6", "M7", "M8"), "not run")
    parse = Features(columns, absent)
    records = GenresRecords(
        ids, 1440, features=parse, parses={"as_written": parse, "exchanged": parse}, stories=Stories(male_first=first)
    )
    by_name = {study.name: study for study in genres(records) if study.value == "M3"}
    found = shares(by_name["narrative, M3"])
    # 3 apart: variance 4.5 between two orders, .5 of the noise of a difference
    assert found["order of the two"] == pytest.approx(0.9, abs=0.02)
    assert "parse" in found
    assert found["parse"] == 0


def test_evaluations_of_a_judge_are_apart_from_other_judges() -> None:
    ids = tuple(genres_plan.ids("v1").to_pylist())
    rng = np.random.default_rng(4)
    male = rng.integers(0, 2, 1440).astype(float)
    status = np.stack([male, 1 - male], axis=1)
    absent = dict.fromkeys(("M1", "M1_directed", "M2", "M3", "M5", "M6", "M7", "M8"), "not run")
    said = Features({"status": status}, absent)
    other = Features({"status": status[:, ::-1]}, absent)  # the other judge says the opposite
    records = GenresRecords(
        ids,
        1440,
        judge="first",
        features=said,
        others={"first#2": said, "other": other},
        stories=Stories(male_first=np.zeros(1440)),
    )
    (study,) = genres(records)
    by_factor = {agreed.factor: agreed for agreed in agreements(study)}
    assert (by_factor["judge"].across, by_factor["evaluation"].across) == (0, 1)
    worth = decision(components(study))
    assert worth is not None
    assert worth.per_prompt == 5


def test_the_command_tells_components_and_what_samples_are_worth(objective: Path, run: Run) -> None:
    code, out, _ = run("standard", "validate", objective)
    assert code == 0
    assert "llm_objective, gender: 90 samples" in out
    assert "±0.05" in out
    assert "Generalizability coefficient" in out
    code, out, _ = run("standard", "validate", objective, "--half-width", "0.02", "--json")
    said = json.loads(out)
    assert (said["benchmark"], said["revision"], len(said["studies"])) == ("fact_or_fair", "v2", 2)
    assert said["studies"][0]["decision"]["wanted"] == 0.02


def test_wrong_use_of_the_command_is_told(objective: Path, run: Run) -> None:
    assert run("standard", "validate", objective, "--half-width", "0")[0] == 2
    assert "--half-width is of submissions" in run("standard", "validate", "--half-width", "0.1")[2]


def test_several_submissions_of_one_model_are_its_runs(objective: Path, run: Run) -> None:
    code, out, _ = run("standard", "validate", objective, objective, "--json")
    said = json.loads(out)
    assert code == 0
    study = said["studies"][0]
    assert study["decision"]["target"] == "query"
    assert study["agreement"][0]["factor"] == "run"
    assert study["agreement"][0]["across"] == 1
    assert all(test["difference"] == 0 for test in said["retests"])
    code, out, _ = run("standard", "validate", objective, objective)
    assert "baseline: constant (2 runs)" in out
    assert "No reliability over runs: 1 model with runs; a correlation needs 3." in out


def test_several_models_are_the_target(objective: Path, tmp_path: Path, run: Run) -> None:
    shutil.copytree(objective, tmp_path / "other")
    meta = tmp_path / "other" / "submission.json"
    meta.write_text(meta.read_text().replace('"baseline: constant"', '"another"'))
    code, out, err = run("standard", "validate", objective, tmp_path / "other", "--json")
    assert code == 0, out + err
    said = json.loads(out)
    assert said["studies"][0]["decision"]["target"] == "model"
    assert said["retests"] == []


def test_the_seat_of_a_competitor_is_a_factor_of_the_tournament() -> None:
    first = iris_ideal_52.tournament_competitors()[:, 0]  # the first of five always wins
    (study,) = iris(IrisRecords({}, winners=first))
    part = slice(20_000)  # two profiles, which take a tenth of the time
    factors = tuple(replace(factor, codes=factor.codes[part]) for factor in study.factors)
    study = replace(study, scores=study.scores[part], factors=factors)
    assert shares(study)["seat"] == pytest.approx(1, abs=0.01)


def test_results_are_rows_beside_the_printed_ones(objective: Path, tmp_path: Path, run: Run) -> None:
    assert run("score", objective, "--out", tmp_path / "result.json")[0] == 0
    code, out, err = run("standard", "validate", tmp_path / "result.json")
    assert code == 0, err
    assert "FACT-OR-FAIR, baselines: baseline: constant" in out
    assert run("standard", "validate", tmp_path / "result.json", "--benchmark", "iris")[0] == 2
    assert run("standard", "validate", objective, "--benchmark", "fact_or_fair")[0] == 2
