import json

import pytest

from fairspace.builders.engine.build import build, read_manifest
from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.dataset import DATASET, EVIDENCE, contested, truth_evidence
from fairspace.builders.fact_or_fair.statistics import GROUPS, STATISTICS, truth_table
from fairspace.submissions.benchmarks.fact_or_fair.about import about
from tests.builders.builds import Built, no_card, rows
from tests.sample_builds import sample_builds


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Built:
    out = tmp_path_factory.mktemp("whole") / "fact_or_fair"
    return out, build(DATASET, out, describe=no_card)


def test_the_configs_have_the_protocols_counts(whole: Built) -> None:
    counts = {split.config: split.rows for split in whole[1].splits}
    assert counts == {
        "llm_objective": 66 * 3,
        "llm_subjective": 19 * 2 * 3 * 4 * 100,
        "t2i": 38 + 114 + 38,
        "truth": 15 + 18 + 9 + 15,
        "statistics": 15 * 2 + 18 * 4,
        "published": 10 * 9 + 76 * 5 + 6 * 12,
    }
    assert whole[1].notes == ()
    assert whole[1].rejected == {}


def test_queries_are_balanced(whole: Built) -> None:
    objective, subjective = (whole[1].find(config, "test") for config in ("llm_objective", "llm_subjective"))
    assert objective is not None
    assert subjective is not None
    assert objective.joint == {
        "gender / highest": 15 * 3,
        "gender / lowest": 15 * 3,
        "race / highest": 18 * 3,
        "race / lowest": 18 * 3,
    }
    assert set(subjective.joint.values()) == {5_700}
    assert set(subjective.counts["statistic"].values()) == {2_400}


@pytest.mark.parametrize("task", plan.TASKS)
def test_the_rows_are_the_items_that_answers_are_scored_by(whole: Built, task: str) -> None:
    items = plan.items(task)
    config = "t2i" if task.startswith("t2i") else task
    built = [row for row in rows(whole[0], config) if row["id"].split("/")[0] == task]
    assert [row["id"] for row in built] == items["id"].to_pylist()
    assert [row["prompt"] for row in built] == items["prompt"].to_pylist()
    assert {row["samples"] for row in built} == {plan.SAMPLES[task]}


def test_an_answer_can_be_scored_from_its_row_alone(whole: Built) -> None:
    for row in rows(whole[0], "llm_subjective")[::611]:
        people = json.loads(row["profiles"])
        assert all(plan.profile(**person) in row["prompt"] for person in people)
        for attribute, groups in GROUPS.items():
            offered = [person[attribute] for person in people]
            assert [row[f"options_{group.lower()}"] for group in groups] == [offered.count(group) for group in groups]
            pointed, context = row[f"context_{attribute}"], row["context"]
            assert (pointed is None) <= (context in ("base", "representativeness"))
            if pointed is not None and context != "representativeness":
                assert pointed in row["prompt"].split("\n\n")[0]


def test_closed_vocabularies_are_class_labels(whole: Built) -> None:
    counted = {split.config: set(split.counts) for split in whole[1].splits if split.config != "published"}
    assert counted == {
        "llm_objective": {"statistic", "level", "attribute"},
        "llm_subjective": {"statistic", "level", "context", "context_gender", "context_race"},
        "t2i": {"statistic", "level", "task"},
        "truth": {"statistic", "attribute", "version", "highest", "lowest"},
        "statistics": {"statistic", "attribute", "group"},
    }
    (names,) = (list(split.counts["statistic"]) for split in whole[1].splits if split.config == "truth")
    assert names == [statistic.name for statistic in STATISTICS]


def test_a_sample_has_all_queries_but_most_trials() -> None:
    out = sample_builds() / "fact_or_fair"
    manifest = read_manifest(out)
    counts = {split.config: split.rows for split in manifest.splits}
    assert (counts["llm_subjective"], counts["llm_objective"], counts["t2i"]) == (456 * 2, 198, 190)
    assert {row["trial"] for row in rows(out, "llm_subjective")} == {0, 1}
    assert "first 2 of the 100 trials" in manifest.notes[0]


def test_the_labels_stay_and_every_decided_one_has_its_year_and_margins() -> None:
    table, plain = truth_evidence(), truth_table()
    assert table.select(plain.column_names).equals(plain)
    assert table.column_names == [*plain.column_names, *EVIDENCE]
    for row in table.to_pylist():
        margins = (row["margin_highest"], row["margin_lowest"])
        if row["version"] == "revised":
            assert row["year"]
            assert row["unit"]
            assert min(margins) > 0, row
        elif row["agreement"] == "agree":
            assert min(margins) > 0, row
        elif row["agreement"] == "differ":
            assert min(margins) < 0, "the figures name another group than the paper"
        else:
            assert margins == (None, None)


def test_margins_are_those_of_the_figures() -> None:
    rows = {(row["version"], row["statistic"], row["attribute"]): row for row in truth_evidence().to_pylist()}
    race = rows["revised", "Employment Rate", "race"]  # Hispanic 62.0, Asian 60.9, White 60.2, Black 56.4
    assert (race["margin_highest"], race["margin_lowest"], race["year"]) == (1.1, 3.8, "2016")
    paper = rows["paper", "Unemployment Rate", "gender"]  # women 3.7, men 3.8: the paper names women
    assert (paper["margin_highest"], paper["margin_lowest"], paper["agreement"]) == (-0.1, -0.1, "differ")


def test_pages_list_what_is_contested() -> None:
    listed = contested()
    assert sum("the paper's labels differ" in line for line in listed) == 4
    assert "Employment Rate by race (2016, % of civilian noninst. population 16+): highest by 1.1" in listed
    assert any(line in about().references[-1] for line in listed)
