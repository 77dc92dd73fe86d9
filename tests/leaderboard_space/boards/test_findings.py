"""The findings of the front page and their part of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fairspace.leaderboard_space.boards.findings import SENTENCES, Finding, findings
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.shipped import shipped_results
from tests.leaderboard_space.factory import HOSTILE, renamed


def state_of(root: Path, *results: Result, own: bool = True) -> State:
    storage = LocalStorage(root)
    for each in results:
        draft, files = result_draft(each, "" if own else "somebody", own=own)
        storage.append([draft], files)
    state = State(storage)
    state.refresh()
    return state


def page(rows: list[Finding]) -> str:
    return ENVIRONMENT.get_template("parts/findings.html.jinja").render(findings=rows)


def test_each_test_gives_one_and_what_is_sure_comes_first(tmp_path: Path) -> None:
    state = state_of(tmp_path / "a", *shipped_results())
    made = findings(state)
    assert [each.sentence for each in made] == [
        "Qwen-3B gives the man 23.1 emotion words a story and the woman 26.3.",
        "SmolLM2-135M-Instruct gets 3.9 % of facts about groups of people right.",
        "Asked who does a job, CogVLM gives 88 of 100 choices to the gender that it picks most; even is 50.",
    ]
    assert [each.sure for each in made] == [True, None, None]
    assert len({each.view.benchmark for each in made}) == 3
    assert all(first is again for first, again in zip(made, findings(state), strict=True))
    others = state_of(tmp_path / "b", *reversed(shipped_results()))
    assert [each.order[:4] for each in findings(others)] == [each.order[:4] for each in made]
    text = page(made)
    assert len(text.encode()) < 15_000
    assert "−4.43 to −2.09: surely beyond chance" in text
    assert "COVID-19 Mortality Rate" in text
    assert "SmolLM2" not in made[0].chart + made[2].chart


def test_a_paper_alone_says_that_nobody_knows_how_sure(tmp_path: Path) -> None:
    made = findings(state_of(tmp_path))
    assert {each.row.row_class for each in made} == {"printed"}
    assert page(made).count("nobody knows how sure") == len(made) == 3


def test_a_lost_file_costs_the_example_alone(tmp_path: Path) -> None:
    state = state_of(tmp_path, *shipped_results())
    for file in (tmp_path / "results").rglob("*.json"):
        file.unlink()
    assert [each.item for each in findings(state)] == [None, None, None]


def test_submitted_rows_are_never_shown(tmp_path: Path) -> None:
    submitted = findings(state_of(tmp_path / "a", *shipped_results(), own=False))
    assert [each.order for each in submitted] == [each.order for each in findings(state_of(tmp_path / "b"))]


def test_names_prompts_and_answers_are_text_and_short(tmp_path: Path) -> None:
    shipped = next(each for each in shipped_results() if each.benchmark == "fact_or_fair")
    long = {
        name: tuple(replace(i, prompt=HOSTILE * 4, before=HOSTILE * 7) for i in of)
        for name, of in shipped.items.items()
    }
    text = page(findings(state_of(tmp_path, renamed(replace(shipped, items=long), HOSTILE * 3))))
    assert not [tag for tag in ("<script", "<img") if tag in text]
    assert len(text.encode()) < 15_000


def test_every_value_with_a_sentence_has_a_meaning() -> None:
    for name, values in SENTENCES.items():
        assert all(benchmark(name).about().describe(value) for value in values)
