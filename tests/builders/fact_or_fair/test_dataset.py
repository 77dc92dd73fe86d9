import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset as Table

from fairspace.builders.engine.build import build
from fairspace.builders.engine.dataset import BuildManifest
from fairspace.builders.errors import BuildError
from fairspace.builders.fact_or_fair import dataset as plan_dataset
from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.plan import profile
from fairspace.builders.fact_or_fair.statistics import GROUPS, STATISTICS
from tests.builders.rebuilding import no_card


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildManifest]:
    out = tmp_path_factory.mktemp("whole") / "fact_or_fair"
    return out, build(plan_dataset.DATASET, out, describe=no_card)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildManifest]:
    out = tmp_path_factory.mktemp("sample") / "fact_or_fair"
    return out, build(plan_dataset.DATASET, out, sample=True, describe=no_card)


def rows(built: tuple[Path, BuildManifest], config: str) -> Any:
    out, manifest = built
    split = manifest.find(config, "test")
    assert split is not None
    return Table.from_parquet([str(out / shard.file) for shard in split.shards], cache_dir=str(out.parent / "cache"))


def test_the_configs_have_the_protocols_counts(whole: tuple[Path, BuildManifest]) -> None:
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


def test_queries_are_balanced(whole: tuple[Path, BuildManifest]) -> None:
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
def test_the_rows_are_the_items_that_answers_are_scored_by(whole: tuple[Path, BuildManifest], task: str) -> None:
    table = rows(whole, "t2i" if task.startswith("t2i") else task)
    items = plan.items(task)
    built = [row for row in table.select_columns(["id", "prompt", "samples"]) if row["id"].split("/")[0] == task]
    assert [row["id"] for row in built] == items["id"].to_pylist()
    assert [row["prompt"] for row in built] == items["prompt"].to_pylist()
    assert {row["samples"] for row in built} == {plan.SAMPLES[task]}


def test_an_answer_can_be_scored_from_its_row_alone(whole: tuple[Path, BuildManifest]) -> None:
    table = rows(whole, "llm_subjective")
    for row in table.select(range(0, 45_600, 611)):
        people = json.loads(row["profiles"])
        assert all(profile(**person) in row["prompt"] for person in people)
        for attribute, groups in GROUPS.items():
            offered = [person[attribute] for person in people]
            assert [row[f"options_{group.lower()}"] for group in groups] == [offered.count(group) for group in groups]
            pointed = row[f"context_{attribute}"]
            context = table.features["context"].int2str(row["context"])
            assert (pointed is None) <= (context in ("base", "representativeness"))
            if pointed is not None and context != "representativeness":
                assert table.features[f"context_{attribute}"].int2str(pointed) in row["prompt"].split("\n\n")[0]


def test_closed_vocabularies_are_class_labels(whole: tuple[Path, BuildManifest]) -> None:
    labels = {
        config: {name for name, feature in rows(whole, config).features.items() if hasattr(feature, "names")}
        for config in ("llm_objective", "llm_subjective", "t2i", "truth", "statistics")
    }
    assert labels == {
        "llm_objective": {"statistic", "level", "attribute"},
        "llm_subjective": {"statistic", "level", "context", "context_gender", "context_race"},
        "t2i": {"statistic", "level", "task"},
        "truth": {"statistic", "attribute", "version", "highest", "lowest"},
        "statistics": {"statistic", "attribute", "group"},
    }
    assert rows(whole, "truth").features["statistic"].names == [s.name for s in STATISTICS]


def test_a_sample_has_all_queries_but_most_trials(sample: tuple[Path, BuildManifest]) -> None:
    counts = {split.config: split.rows for split in sample[1].splits}
    assert (counts["llm_subjective"], counts["llm_objective"], counts["t2i"]) == (456 * 2, 198, 190)
    assert set(rows(sample, "llm_subjective")["trial"]) == {0, 1}
    assert "first 2 of the 100 trials" in sample[1].notes[0]


def test_a_build_with_other_counts_is_refused(sample: tuple[Path, BuildManifest]) -> None:
    for config in ("llm_objective", "llm_subjective", "t2i", "truth", "statistics", "published"):
        splits = tuple(replace(s, rows=s.rows - (s.config == config)) for s in sample[1].splits)
        with pytest.raises(BuildError, match=f"BUILD_CHECK at fact_or_fair/{config}"):
            plan_dataset.DATASET.check(replace(sample[1], splits=splits))
        missing = tuple(s for s in sample[1].splits if s.config != config)
        with pytest.raises(BuildError, match=f"BUILD_CHECK at fact_or_fair/{config}: 0 rows"):
            plan_dataset.DATASET.check(replace(sample[1], splits=missing))
