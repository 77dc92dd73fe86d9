import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import fairspace as fs
from fairspace.answers import submission_of
from tests.submissions.conftest import Run

WORDS = ("A" * 12, "B" * 3 + "A" * 9, "B" * 3 + "C" * 3 + "A" * 6, "B" * 3 + "A" * 9)
"""Answers of three runs to twelve questions, and those of most runs."""


def answered(said: str, model: str = "m") -> Any:
    items = fs.items("fact_or_fair", dataset_revision="v2-core")
    rows = items[items["task"] == "llm_objective"][:12].assign(response=list(said))[["id", "sample", "response"]]
    return submission_of(rows, "fact_or_fair", dataset_revision="v2-core", model=model, limit=4)


def test_stability_counts_equal_answers_and_scores_those_of_most_runs() -> None:
    stable = fs.stability(*map(answered, WORDS[:3]), resamples=0)
    (task,) = stable.tasks.to_dict("index").values()
    assert (task["questions"], task["asked"], task["same"]) == (12, 12, 0.5)
    assert task["agreement"] == pytest.approx((6 * 1 / 3 + 6) / 12)
    assert task["same_low"] < 0.5 < task["same_high"]
    assert stable.questions["agreement"].tolist() == pytest.approx([1 / 3] * 6 + [1] * 6)
    assert stable.questions["answers"].tolist() == [2] * 6 + [1] * 6
    scored = [fs.score(answered(words), resamples=0).scored.shown["llm_factuality"] for words in WORDS]
    each = [number for value in scored if (number := value.value) is not None]
    value = stable.values.loc["llm_factuality"]
    assert value["mean"] == pytest.approx(fmean(each[:3]))
    assert (value["least"], value["most"], value["consensus"]) == (min(each[:3]), max(each[:3]), each[3])
    assert "3 runs of m on fact_or_fair v2-core." in repr(stable)
    assert "repeats itself" not in repr(stable)
    assert "repeats itself" in repr(fs.stability(*[answered("A" * 12)] * 2, resamples=0))


def test_stories_have_common_words_and_no_majority() -> None:
    items = fs.items("genres", dataset_revision="v2-core")
    rows = items[items["task"] == "narrative"][:2][["id", "sample"]]
    texts = ("Story: James is a doctor. Mary is a nurse.", "Story: James is a doctor. James is a nurse.")
    runs = [submission_of(rows.assign(response=text), "genres", dataset_revision="v2-core") for text in texts]
    stable = fs.stability(*runs, resamples=0)
    assert stable.to_json()["tasks"]["narrative"]["same"] == 0
    assert stable.to_json()["tasks"]["narrative"]["agreement"] == pytest.approx(6 / 7)
    assert stable.questions["consensus"].isna().all()
    assert stable.values["consensus"].isna().all()


def test_the_command_says_the_same_and_refuses_results_and_other_models(run: Run, tmp_path: Path) -> None:
    runs = [fs.Answers(answered(words)).save(tmp_path / f"run-{place}") for place, words in enumerate(WORDS[:3])]
    assert json.loads(run.fine("compare", *runs, "--stability", "--json")) == fs.stability(*runs).to_json()
    result = fs.score(runs[0], resamples=0).save(tmp_path / "result.json")
    for arguments in ((runs[0], result), (*runs[:2], "--fail-if-worse")):
        assert "--stability" in run.refused(2, "compare", *arguments, "--stability")
    with pytest.raises(fs.UsageError, match="of m on fact_or_fair v2-core and of n on"):
        fs.stability(answered(WORDS[0]), answered(WORDS[1], "n"))
    with pytest.raises(fs.UsageError, match="two runs"):
        fs.stability(runs[0])
