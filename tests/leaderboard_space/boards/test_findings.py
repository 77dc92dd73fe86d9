"""The findings of the front page and their part of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fairspace.leaderboard_space.boards.findings import Finding, findings
from fairspace.leaderboard_space.boards.findings import _random as random_of
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT
from fairspace.leaderboard_space.state import Board, State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.answers.items import Item
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Provenance, Row
from fairspace.submissions.results.shipped import shipped_results
from fairspace.submissions.values import Value
from tests.leaderboard_space.factory import HOSTILE, renamed

QWEN = "Qwen-3B gives the man 23.1 emotion words a story and the woman 26.3."
PILOT = "Asked who does a job, CogVLM gives 88 of 100 choices to the gender that it picks most; even is 50."


def state_of(root: Path, *results: Result, own: bool = True) -> State:
    storage = LocalStorage(root)
    for each in results:
        draft, files = result_draft(each, "" if own else "somebody", own=own)
        storage.append([draft], files)
    state = State(storage)
    state.refresh()
    return state


def page(rows: list[Finding]) -> str:
    return ENVIRONMENT.get_template("parts/findings.html.jinja").render(findings=rows, errata={"IRIS": 2, "GENRES": 3})


def stories(model: str) -> Result:
    return next(each for each in shipped_results() if each.benchmark == "genres" and each.meta["model"] == model)


def test_each_test_gives_one_and_what_is_sure_comes_first(tmp_path: Path) -> None:
    state = state_of(tmp_path / "a", *shipped_results())
    made = findings(state)
    assert [each.sentence for each in made] == [QWEN, PILOT]
    assert all(first is again for first, again in zip(made, findings(state), strict=True))
    others = state_of(tmp_path / "b", *reversed(shipped_results()))
    assert [each.order[:4] for each in findings(others)] == [each.order[:4] for each in made]
    text = page(made)
    assert len(text.encode()) < 15_000
    for part in (
        "−4.43 to −2.09: surely beyond chance. A fair model by chance: 0.51",
        "The sun was setting",
        "the pilot",
    ):
        assert part in text, part
    assert "5 errors found in these tests’ papers" in text
    assert "SmolLM2" not in text
    for false in ("is not known", "3.9 %", "facts about groups", "on the board since", "Three findings"):
        assert false not in text, false


def test_what_is_not_read_not_sure_or_without_an_answer_is_no_finding(tmp_path: Path) -> None:
    whole = stories("Qwen-3B")
    (task, summary), m5 = next(iter(whole.readings.items())), whole.values["M5"]
    unread = {**summary.outcomes, "choice": 1200, "unusable": 240}
    changes: dict[str, Callable[[], Result]] = {
        "none": lambda: whole,
        "answers": lambda: replace(whole, readings={task: replace(summary, outcomes=unread)}),
        "coverage": lambda: replace(whole, values={**whole.values, "M5": replace(m5, valid=1200)}),
        "example": lambda: replace(whole, readings={task: replace(summary, examples=())}),
    }
    first = {name: findings(state_of(tmp_path / name, made()))[0].sentence for name, made in changes.items()}
    assert {name: sentence == QWEN for name, sentence in first.items()} == {name: name == "none" for name in changes}


def test_a_row_that_says_nothing_is_never_a_finding(tmp_path: Path) -> None:
    rows = state_of(tmp_path, *shipped_results()).board("fact_or_fair")
    silent = [row.entry for row in rows if any("says nothing" in reason for reason in row.unranked)]
    assert silent, "SmolLM2 answered the same letter every time"
    assert not {each.row.entry for each in findings(state_of(tmp_path, *shipped_results()))} & {*silent}


def test_what_random_answers_of_the_same_protocol_give_stands_beside_it() -> None:
    def row(model: str, number: float, group: str = "v2", own: str = "us") -> Row:
        provenance: Provenance = "baseline" if model.startswith("baseline") else "scored here"
        value = Value("total", "value", number)
        return Row(model, model, "", provenance, "", {"total": value}, group=group, own=own)

    mine = row("Alpha", 0.3)
    others = row("baseline: random", 0.4, "v1"), row("baseline: random", 0.5, own="")
    assert random_of(Board([mine, *others]), mine, mine.scores["total"]) == ""
    board = Board([mine, *others, row("baseline: random", 0.0114)])
    assert random_of(board, mine, mine.scores["total"]) == "random answers: 0.011"


def test_a_paper_alone_says_that_nobody_knows_how_sure(tmp_path: Path) -> None:
    made = findings(state_of(tmp_path))
    assert {each.row.row_class for each in made} == {"printed"}
    assert page(made).count("nobody knows how sure") == len(made) == 2


def test_a_lost_file_costs_the_finding(tmp_path: Path) -> None:
    state = state_of(tmp_path, *shipped_results())
    for file in (tmp_path / "results").rglob("*.json"):
        file.unlink()
    assert {each.row.row_class for each in findings(state)} == {"printed"}


def test_submitted_rows_are_never_shown(tmp_path: Path) -> None:
    submitted = findings(state_of(tmp_path / "a", *shipped_results(), own=False))
    assert [each.order for each in submitted] == [each.order for each in findings(state_of(tmp_path / "b"))]


def test_names_prompts_and_answers_are_text_and_short(tmp_path: Path) -> None:
    whole = stories("Qwen-3B")
    item = Item("worst", "narrative", "a", HOSTILE * 4, "choice", "x", "rule", HOSTILE * 7)
    text = page(findings(state_of(tmp_path, renamed(replace(whole, items={"M5": (item,)}), HOSTILE * 3))))
    assert not [tag for tag in ("<script", "<img") if tag in text]
    assert "&lt;script&gt;" in text
    assert len(text.encode()) < 15_000


def test_every_value_with_a_sentence_has_a_meaning_and_is_no_fact() -> None:
    for name in NAMES:
        bench = benchmark(name)
        assert all(bench.describe(value) for value in bench.words.findings)
        assert not [value for value in bench.words.findings if "factuality" in value]
