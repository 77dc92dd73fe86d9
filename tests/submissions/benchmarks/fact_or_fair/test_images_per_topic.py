"""One image prompt a topic, as in the paper, and three: which a standard scores, and who is ranked with whom."""

from __future__ import annotations

import pyarrow as pa
import pytest

from fairspace.builders.fact_or_fair import plan
from fairspace.builders.fact_or_fair.statistics import GROUPS
from fairspace.submissions.benchmarks.fact_or_fair.declaration import BENCHMARK, THREE_PROMPTS
from fairspace.submissions.benchmarks.fact_or_fair.score import INAUGURAL, score
from fairspace.submissions.format.schema import ANNOTATIONS, Submission
from fairspace.submissions.results.board import board
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import rescore, score_submission
from tests.submissions.benchmarks.fact_or_fair.test_measure import META

V2 = META.model_copy(update={"dataset_revision": "v2"})


def images(task: str, *, even: bool = True) -> pa.Table:
    """Every image shows one face: each group equally often, or one group for "highest" and another for "lowest"."""
    rows = []
    for key in plan.ids(task).to_pylist():
        for sample in range(20):
            place = sample if even else "/lowest" in key
            face = {"gender": GROUPS["gender"][place % 2], "race": GROUPS["race"][place % 4]}
            about = {"task": task, "id": key, "sample": sample, "face": 0, "faces": 1, "status": "ok"}
            rows.append(dict.fromkeys(ANNOTATIONS.names) | about | face)
    return pa.Table.from_pylist(rows, ANNOTATIONS)


def scored(*tasks: pa.Table, revision: str = "v2") -> Result:
    meta = V2.model_copy(update={"dataset_revision": revision})
    given = Submission(meta, {"annotations": pa.concat_tables(tasks)}, digest=f"{len(tasks)}" * 64)
    return score_submission(given, resamples=0)


@pytest.fixture(scope="module")
def both() -> Result:
    objective, paper = images("t2i_objective"), images("t2i_subjective_paper")
    return scored(objective, paper, images("t2i_subjective", even=False))


@pytest.fixture(scope="module")
def three() -> Result:
    return scored(images("t2i_objective"), images("t2i_subjective"))


def test_a_model_with_both_is_scored_by_one_prompt_a_topic(both: Result) -> None:
    assert both.standard == "shuffled"
    assert both.values["fairness_t2i_subjective_paper_race"].value == pytest.approx(1)
    assert (both.values["fairness_t2i_subjective_race"].value or 0) < 1
    assert both.scored.scores["t2i_fairness"].value == pytest.approx(1)
    assert both.scored.labels == {}
    assert BENCHMARK.protocols.of(both.signature, both.scored) == "v2"


def test_a_model_with_three_prompts_alone_is_scored_by_them_and_ranked_apart(three: Result) -> None:
    assert three.values["fairness_t2i_subjective_paper_race"].state == "not_run"
    assert three.scored.scores["t2i_fairness"].value == pytest.approx(1)
    assert BENCHMARK.protocols.of(three.signature, three.scored) == THREE_PROMPTS
    assert THREE_PROMPTS in BENCHMARK.protocols.texts


def test_each_is_ranked_with_its_like(both: Result, three: Result) -> None:
    rows = {row.entry: row for row in board("fact_or_fair", "shuffled", [both, three])}
    mine = [row for row in rows.values() if row.result is not None]
    groups = {row.group for row in mine}
    printed = {row.group for row in rows.values() if row.result is None}
    assert printed == {"shuffled options"}
    assert groups == {"shuffled options", THREE_PROMPTS}


def test_under_the_first_standard_three_prompts_count() -> None:
    result = scored(*(images(task) for task in ("t2i_objective",)), revision="v2")
    assert score(result.values, INAUGURAL).scores["t2i_fairness"].state == "not_run"


def test_answers_to_v1_have_no_such_task_and_can_be_shown_under_any_standard() -> None:
    assert len(plan.ids("t2i_subjective_paper", "v1")) == 0
    assert "t2i_subjective_paper" not in BENCHMARK.items("v1")
    result = scored(images("t2i_objective"), images("t2i_subjective"), revision="v1")
    assert result.standard == "inaugural"
    assert not [name for name in result.values if "subjective_paper" in name or "position_bias" in name]
    shown = rescore(result, "shuffled")
    assert shown.scored.scores["t2i_fairness"].value == result.scored.scores["t2i_fairness"].value
    assert shown.scored.ranked is None
    assert "dataset revision v1" in shown.scored.unranked[-1]


def test_printed_rows_have_the_same_scores_and_ranks_under_both_standards() -> None:
    before, now = (board("fact_or_fair", standard) for standard in ("inaugural", "shuffled"))
    assert [(row.model, row.rank, row.scores) for row in before] == [(row.model, row.rank, row.scores) for row in now]
    named = {name for row in now for name in row.values}
    assert "fairness_t2i_subjective_paper_gender" in named
    assert "fairness_t2i_subjective_gender" not in named
