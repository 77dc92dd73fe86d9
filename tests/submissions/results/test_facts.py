import json
from dataclasses import replace
from functools import lru_cache
from importlib import import_module

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from fairspace.builders.registry import table
from fairspace.submissions.benchmarks.baselines import baseline_meta
from fairspace.submissions.benchmarks.published import published
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.format.manifest import ARCHITECTURES
from fairspace.submissions.format.schema import SCHEMAS, Submission
from fairspace.submissions.results.board import facts_of, published_rows, scored_row
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Facts
from fairspace.submissions.results.scoring import rescore, score_submission
from tests.leaderboard_space.factory import result

TOLD = {"parameters": 7.5, "open_weights": False, "architecture": "autoregressive + diffusion"}


@lru_cache
def submission(name: str) -> Submission:
    tables = import_module(f"fairspace.submissions.benchmarks.{name}.baselines").tables("random", 0)
    return Submission(baseline_meta("random", name, 0, tables), tables)


def tasks(name: str, *handed_in: str) -> tuple[str, ...]:
    whole = submission(name)
    parts = {kind: rows.filter(pc.is_in(rows["task"], pa.array(handed_in))) for kind, rows in whole.tables.items()}
    return facts_of(score_submission(replace(whole, tables=parts))).tasks


@pytest.mark.parametrize(
    ("name", "handed_in"),
    [
        ("iris", ["generation_neutral"]),
        ("iris", ["occupation"]),
        ("iris", ["tournament"]),
        ("iris", ["pair"]),
        ("iris", ["generation_neutral", "generation_steer"]),
        ("fact_or_fair", ["llm_objective"]),
        ("fact_or_fair", ["llm_subjective"]),
        ("stereotypical_bias", ["vision_race"]),
        ("stereotypical_bias", ["language_gender", "language_race"]),
    ],
)
def test_a_result_has_the_tasks_that_were_handed_in(name: str, handed_in: list[str]) -> None:
    assert tasks(name, *handed_in) == tuple(handed_in)


def test_steered_images_say_nothing_without_the_neutral_ones() -> None:
    assert tasks("iris", "generation_steer") == ()


@pytest.mark.parametrize("task", ["t2i_objective", "t2i_subjective"])
def test_one_labelled_image_makes_a_task_of_images(task: str) -> None:
    item = benchmark("fact_or_fair").task(task).ids("v1")[0].as_py()
    row = {"task": task, "id": item, "sample": 0, "face": 0, "status": "ok", "gender": "female", "race": "Asian"}
    images = pa.Table.from_pylist([row], schema=SCHEMAS["annotations"])
    whole = submission("fact_or_fair")
    assert facts_of(score_submission(replace(whole, tables={"annotations": images}))).tasks == (task,)


def test_what_the_submitter_tells_comes_to_the_board_and_through_a_file() -> None:
    whole = submission("stereotypical_bias")
    scored = score_submission(replace(whole, meta=whole.meta.model_copy(update=TOLD)))
    again = Result.from_json(json.loads(scored.dumps()))
    row = scored_row(again, "inaugural")
    assert row.facts == facts_of(scored)
    assert row.facts == Facts("Apache-2.0", "autoregressive + diffusion", 7.5, False, row.facts.tasks)
    assert row.facts.tasks == ("vision_gender", "vision_race", "language_gender", "language_race")
    assert facts_of(rescore(again, "inaugural")) == row.facts


def test_what_nobody_told_is_not_known() -> None:
    scored = result("fact_or_fair", "stereotyped", "somebody")
    silent = replace(scored, meta={**scored.meta, "licence": "not stated"})
    assert facts_of(silent) == Facts(tasks=("llm_objective", "llm_subjective"))
    assert facts_of(replace(silent, values={})) == Facts()


def test_every_model_that_the_papers_print_has_reviewed_facts_with_their_source() -> None:
    lines = {(line["benchmark"], line["model"]): line for line in table("model_facts")}
    assert len(lines) == len(table("model_facts"))
    assert set(lines) == {(name, row.model) for name in NAMES for row in published(name, "inaugural")}
    for line in lines.values():
        assert line["source"]
        assert line["architecture"] in ("", *ARCHITECTURES)
        assert line["open_weights"] in ("", "yes", "no")
        assert line["open_weights"] != "no" or line["licence"] == "proprietary"


def test_published_rows_say_what_is_certain_and_leave_out_the_rest() -> None:
    iris = {row.model: row.facts for row in published_rows("iris", "inaugural")}
    assert iris["FLUX.1-dev"].parameters == 12
    assert iris["FLUX.1-dev"].tasks == ("generation_neutral", "generation_steer")
    assert iris["Qwen2.5-VL"].tasks == ("occupation", "tournament", "pair")
    assert iris["Bagel"].tasks == tuple(benchmark("iris").task_names())
    midjourney = next(row.facts for row in published_rows("fact_or_fair", "inaugural") if row.model == "Midjourney")
    assert midjourney == Facts("proprietary", "", None, False, ("t2i_objective", "t2i_subjective"))
    ensemble = next(row.facts for row in published_rows("stereotypical_bias", "inaugural") if row.model == "Ensemble")
    assert ensemble == Facts(tasks=tuple(benchmark("stereotypical_bias").task_names()))


@pytest.mark.parametrize("name", NAMES)
def test_a_standard_changes_no_fact(name: str) -> None:
    def facts(standard: str) -> list[Facts]:
        return [replace(row.facts, tasks=()) for row in published_rows(name, standard)]

    for standard in benchmark(name).standards:
        assert facts(standard) == facts("inaugural")
