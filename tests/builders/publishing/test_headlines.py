from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fairspace.builders.publishing.artifacts import eval_yaml
from fairspace.builders.registry import NAMES as DATASETS
from fairspace.builders.registry import dataset
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from tests.hub.seeding import BUILT


@pytest.mark.parametrize("name", DATASETS)
def test_every_task_of_a_dataset_is_a_score_of_its_benchmark_and_a_config_of_its_card(name: str) -> None:
    declared = dataset(name)
    text = eval_yaml(declared, BUILT)  # type: ignore[arg-type]
    if not declared.headlines:
        assert text == b""
        return
    said = yaml.safe_load(text)
    assert set(said) == {"name", "description", "evaluation_framework", "tasks"}
    assert len({task["id"] for task in said["tasks"]}) == len(said["tasks"])
    assert all(set(task) == {"id", "config", "split"} for task in said["tasks"])
    bench = benchmark(declared.benchmark)
    scores = bench.scoring.table(bench.standards[bench.default], AS_RELEASED).rules
    assert {headline.score for headline in declared.headlines} <= set(scores)
    card = (Path(__file__).parents[3] / "builders" / "README.md").read_text(encoding="utf-8")
    [line] = [line for line in card.splitlines() if line.startswith(f"| `{name}` | `")]
    assert all(f"`{headline.config}`" in line for headline in declared.headlines)


def test_every_ranked_score_is_a_task() -> None:
    tasks = {(each.benchmark, headline.score) for each in map(dataset, DATASETS) for headline in each.headlines}
    for name in NAMES:
        bench = benchmark(name)
        ranking = bench.scoring.table(bench.standards[bench.default], AS_RELEASED).ranking
        assert {(name, score) for score in ranking} <= tasks
