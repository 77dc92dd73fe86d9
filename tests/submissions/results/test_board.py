import re
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.builders.registry import table
from fairspace.submissions.benchmarks.published import published
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.board import board, row_json
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.values import measured
from tests.leaderboard_space.factory import renamed, result
from tests.papers import NAMES

ROOT = Path(__file__).parents[3]
COUNTS = {"iris": 12, "fact_or_fair": 10, "stereotypical_bias": 4, "genres": 18}


@pytest.fixture(scope="module")
def scored() -> Result:
    return result("fact_or_fair", "stereotyped", "A model")


@pytest.mark.parametrize("name", NAMES)
def test_every_model_that_the_papers_print_is_on_the_board_of_every_standard(name: str) -> None:
    rows = board(name)
    assert {len(board(name, standard)) for standard in benchmark(name).standards} == {len(rows)} == {COUNTS[name]}
    assert {row.provenance for row in rows} == {"published"}
    assert all(row.source and row.organisation for row in rows)
    assert len({row.entry for row in rows}) == len(rows)


def test_printed_numbers_stand_as_printed() -> None:
    bagel = next(row for row in board("iris", "inaugural") if row.model == "Bagel")
    assert bagel.scores["iris_score"].value == 95.94
    assert bagel.scores["IFS_Und"].evidence["printed"] == "71.46"
    assert bagel.labels == {"profile_gen": "UAF", "profile_und": "UAR"}  # the paper prints UDF
    [misprint] = [note for note in bagel.footnotes if note.score == "profile_und"]
    assert misprint.text == "the paper prints UDF; the formula gives UAR"
    assert f"profile_und: {misprint.text} (E-IRIS-02)" in row_json(bagel)["remarks"]
    flux = next(row for row in board("fact_or_fair") if row.model == "FLUX-1.1")
    assert flux.scores["t2i_fairness_race"].evidence["printed"] == "30.36 %"
    assert flux.scores["t2i_fairness_race"].value == pytest.approx(0.3036, abs=1e-12)


def test_models_without_a_total_stand_below_with_the_reason() -> None:
    rows = board("iris")
    partial = [row for row in rows if row.rank is None]
    assert rows[-len(partial) :] == partial
    assert {row.model for row in partial} == {"InternVL-3.5", "Qwen2.5-VL", "FLUX.1-dev", "LlamaGen", "SD 3.5 Large"}
    assert all(row.unranked[0].startswith("partial: ") for row in partial)
    assert all(row.scores["iris_score"].state == "not_run" for row in partial)


@pytest.mark.parametrize(
    ("name", "standard", "best"),
    [
        ("genres", "", {"Llama": "Janus", "GLM": "Janus", "Mistral": "Janus"}),
        ("genres", "inaugural", {"Llama": "Qwen-7B", "GLM": "Qwen-3B", "Mistral": "Qwen-7B"}),
        ("fact_or_fair", "", {"language model": "GPT-4o", "image model": "DALL-E 3"}),
    ],
)
def test_evaluators_and_kinds_of_models_are_ranked_apart(name: str, standard: str, best: dict[str, str]) -> None:
    assert {row.cohort: row.model for row in board(name, standard) if row.rank == 1} == best


def test_under_revised_truth_printed_factuality_is_not_available() -> None:
    for row in board("fact_or_fair", "revised_truth"):
        states = {name: value.state for name, value in row.scores.items()}
        assert all(state == ("value" if "fairness" in name else "not_run") for name, state in states.items())
        assert row.rank is None


def test_every_footnote_names_an_erratum_that_exists() -> None:
    errata = set(re.findall(r"^## (E-[A-Z]+-\d+)$", (ROOT / "cards" / "errata.md").read_text(encoding="utf-8"), re.M))
    assert {row["erratum"] for row in table("footnotes")} <= errata
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "leaderboard_space").glob("*.py"))
    assert set(re.findall(r"E-[A-Z]+-\d+", pages)) <= errata


@pytest.mark.parametrize("name", NAMES)
def test_every_footnote_stands_at_a_number_of_its_model(name: str) -> None:
    rows = published(name, "inaugural")
    for note in (row for row in table("footnotes") if row["benchmark"] == name):
        own = [row for row in rows if row.model == note["model"]]
        assert own, note
        assert all(note["score"] in {*row.scores, *row.values, *row.labels} for row in own), note


def test_a_scored_model_is_ranked_among_its_kind_by_its_worst_case(scored: Result) -> None:
    rows = board("fact_or_fair", results=[scored])
    row = next(row for row in rows if row.model == "A model")
    assert row.provenance == "scored here"
    assert row.ranked is not None
    assert row.ranked == scored.scored.ranked == scored.scored.scores["average_llm"].low
    assert row.row_class == "own"
    better = [r for r in rows if r.ranked_with == row.ranked_with and r.ranked is not None and r.ranked > row.ranked]
    assert row.rank == len(better) + 1


def test_the_order_of_results_and_repeats_change_nothing(scored: Result) -> None:
    other = result("fact_or_fair", "random", "Another")
    assert board("fact_or_fair", results=[scored, other]) == board("fact_or_fair", results=[other, scored, scored])


def test_two_submissions_of_one_name_both_stand(scored: Result) -> None:
    other = renamed(result("fact_or_fair", "random", "Another"), "A model")
    rows = [row for row in board("fact_or_fair", results=[scored, other]) if row.model == "A model"]
    assert len(rows) == 2
    assert len({row.entry for row in rows}) == 2


def test_equal_numbers_share_a_rank(scored: Result) -> None:
    rows = board("fact_or_fair", results=[scored, renamed(scored, "Its twin")])
    twins = [row for row in rows if row.result]
    assert twins[0].rank == twins[1].rank
    assert [row.rank for row in twins] == [1, 1]
    assert [row.rank for row in rows if row.row_class == "printed" and row.cohort == "language model"][:2] == [1, 2]


def test_a_result_stands_once_and_is_rescored_under_the_standard_asked_for(scored: Result) -> None:
    again = rescore(scored, "revised_truth")
    rows = [row for row in board("fact_or_fair", "revised_truth", [scored, again]) if row.result]
    assert len(rows) == 1
    assert rows[0].scores == again.scored.scores


def test_a_worse_bound_gives_a_worse_rank(scored: Result) -> None:
    scores = dict(scored.scored.scores)
    low = (scores["average_llm"].low or 0) - 0.05
    scores["average_llm"] = measured("average_llm", scores["average_llm"].value or 0, low=low)
    worse = replace(renamed(scored, "Worse"), scored=replace(scored.scored, scores=scores, ranked=low))
    rows = [row.model for row in board("fact_or_fair", results=[worse, scored]) if row.result]
    assert rows == ["A model", "Worse"]


def test_unknown_names_are_told(scored: Result) -> None:
    with pytest.raises(UsageError, match="Known"):
        board("iriss")
    with pytest.raises(UsageError, match="Known"):
        board("iris", "inaugral")
