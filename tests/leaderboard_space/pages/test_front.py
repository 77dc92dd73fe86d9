"""The front page and its findings."""

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from fairspace.leaderboard_space.boards.models import place_of
from fairspace.leaderboard_space.boards.view import Column
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.pages import front as content
from fairspace.leaderboard_space.pages.front import COMPARABLE, LISTED, NAMED, Finding, Front, findings, front
from fairspace.leaderboard_space.pages.front import _random as random_of
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT
from fairspace.leaderboard_space.pages.texts import document
from fairspace.leaderboard_space.state import Board, State
from fairspace.submissions.answers.items import Item
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Provenance, Row
from fairspace.submissions.results.shipped import shipped_results
from fairspace.submissions.values import Value
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import HOSTILE, add, mark, renamed, result, state_of
from tests.leaderboard_space.pages.rows import BENCHMARK, HOSTILE_MODEL, MANY, page

FALSE = (
    ("GPT-4o is the most even", r"[Mm]ost even[^.]*: GPT-4o"),
    ("bad is what is better than the leader", r"[Ww]hat bad looks like|Always the stereotype[^.]*: 0\.9118"),
    ("Bagel is at .60 of the worst that can be", r"Bagel [\d.]+ %|worst that can be|0 even|logarithmic"),
    ("a run that was not read is a finding", r"3\.9 %|chance alone gives is not known"),
    (
        "GENRES will have a score, or was not run, and the day of the store is that of a run",
        r"yet\b|not run|since \d{4}",
    ),
)


def words(site: Opened, address: str = "/") -> str:
    text = re.sub(r"<[^>]+>", "", re.sub(r"<(/?t[dhr]|/?small|/?p|/?h\d|/?li|/?pre)\b[^>]*>", " ", page(site, address)))
    return re.sub(r"\s+", " ", unescape(text)).replace(" ,", ",")


def named(made: Front, name: str) -> content.Test:
    return next(test for test in made.tests if test.view.benchmark == name)


@pytest.mark.slow
def test_ten_seconds_answer_five_questions_and_say_nothing_false(tmp_path: Path) -> None:
    """The store of a new Space: its shipped results and the baselines, which somebody also forges."""
    with opened(tmp_path) as site:
        for name in ("iris", "fact_or_fair", BENCHMARK):
            for answers in ("random", "stereotyped"):
                add(site.space.state, result(name, answers))
                add(site.space.state, replace(result(name, "random"), meta=result(name, answers).meta), "eve")
        for each in shipped_results():
            add(site.space.state, each)
        made, text = front(site.space.state), words(site)
        board = site.space.state.board("fact_or_fair")
    fair = {row.model: row.scores["llm_fairness"].value or 0.0 for row in board if row.cohort == "language model"}
    papers = {row.model: fair[row.model] for row in board if row.row_class == "printed" and row.model in fair}
    best, last = max(papers, key=papers.__getitem__), min(papers, key=papers.__getitem__)
    answers_ = {
        "who is most even in judgements, and who last": (
            rf"Most even of 6 from the paper \(language model\): {best}, {papers[best]:.4f} \(facts right: 71 %\); "
            rf"last {last}, {papers[last]:.4f} "
        ),
        "what always the stereotype gets": rf"stereotype \(language model\): {fair['baseline: stereotyped']:.4f} ",
        "what random answers get": rf"useless \(language model\): {fair['baseline: random']:.4f} ",
        "how many models are run by us": r"4 models run by us so far",
        "is a printed difference sure": rf"last {last}, [^.]+\.\d+ \([^)]+\)\. Whether the two differ, nobody knows",
    }
    assert {question: len(re.findall(answer, text)) for question, answer in answers_.items()} == dict.fromkeys(
        answers_, 1
    )
    assert (best, last, len(made.ran)) == ("WizardLM-2", "GPT-4o", 4)
    assert {claim: re.findall(pattern, text) for claim, pattern in FALSE} == {claim: [] for claim, _ in FALSE}
    for test in made.tests[:3]:
        up = find_benchmark(test.view.benchmark).higher_is_better
        (bad,) = {cell.three.value or 0.0 for cell in test.worst}
        least = [cell.three.value or 0.0 for cell, _ in test.leaders if cell.row.cohort == test.worst[0].row.cohort]
        assert all(bad < other if up else bad > other for other in least), test.view.benchmark
        assert [cell.row.own != "" for cell in (*test.worst, *test.even)] == [True, True]
    drawn = {test.view.benchmark: [cell.at is not None for cell in test.cells] for test in made.tests}
    assert drawn == {"iris": [False] * 6, "fact_or_fair": [True] * 6, BENCHMARK: [False] * 3, "genres": [False] * 6}
    places = [cell.at or 0.0 for cell in named(made, "fact_or_fair").cells]
    assert places == sorted(places)
    assert 0.05 < places[0] < places[-1] < 0.2
    assert len(re.findall("By another protocol", text)) == 4


def test_the_counts_are_those_of_the_store(site: Opened) -> None:
    made, text = front(site.space.state), words(site)
    errors = document("cards/errata.md").html.count("<h3")
    assert f"4 published tests · {made.count} models · {errors} errors found in the papers · last run: " in text
    assert re.search(r"last run: [^,]+, \d{4}(-\d\d){2} ", text)
    assert f"{len(made.ran)} models run by us so far" in text
    assert len(made.ran) >= MANY
    assert "#wanted" in page(site, "/")


def test_it_is_light_names_are_text_and_every_list_is_short(site: Opened) -> None:
    text = page(site, "/")
    assert len(text.encode()) < 45_000
    assert not re.search(r"<script>|<img src=x|onerror=alert\(1\)>|\u202e|<b>Corp", text)
    made = front(site.space.state)
    assert len(made.models) == NAMED < made.count
    assert max(len(test.cells) for test in made.tests) == LISTED + 1
    assert [len(test.cells) for test in made.tests if test.among > LISTED] == [LISTED + 1] * 4
    assert HOSTILE_MODEL.replace("\u202e", "") not in text
    assert '<link rel="canonical"' not in text
    for test in made.tests:
        assert f'href="/board/{test.view.benchmark}">All {test.models} models</a>' in text
    assert "/compare/fact_or_fair" in text


def test_the_command_names_the_folder_that_eval_writes(site: Opened) -> None:
    core = next(each for each in find_benchmark("fact_or_fair").revisions if each.endswith("-core"))
    text = words(site)
    assert re.search(rf"fairspace submit my-model-eval/fact_or_fair-{core}/submission --space \S+", text)
    assert "models/my-model" not in text
    assert page(site, "/").count("@misc") == 0
    about = page(site, "/about")
    assert re.search(r"title = .*\n  author = .*\n  year = \{\d{4}\},\n.*note = ", about)


def drawn(model: str, number: float, group: str = "v2", own: str = "us", **scores: float) -> Row:
    provenance: Provenance = "baseline" if model.startswith("baseline") else "scored here"
    made = {name: Value(name, "value", size) for name, size in {"total": number, **scores}.items()}
    return Row(model, model, "", provenance, "", made, group=group, own=own)


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([], None),
        ([("baseline: random", 0.01)], None),
        ([("baseline: random", 0.01), ("baseline: stereotyped", 0.41, "v1")], None),
        ([("baseline: random", 0.01), ("baseline: stereotyped", 0.41, "v2", "")], None),
        ([("baseline: random", 0.41), ("baseline: stereotyped", 0.01)], None),
        ([("baseline: random", 0.01), ("baseline: stereotyped", 0.41)], 0.5),
    ],
)
def test_an_axis_lies_between_two_measured_answerers_of_the_same_protocol(
    rows: list[tuple[str, float]], place: float | None
) -> None:
    mine = drawn("Alpha", 0.21)
    made = place_of(
        Board([mine, *(drawn(*each) for each in rows)]), BENCHMARK, "up_to_twenty", mine, Column("total", "S")
    )
    assert (made is None) == (place is None)
    if made is not None:
        assert made(0.21) == pytest.approx(0.5)
        assert (made(0.0), made(0.9)) == (0.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("count", [COMPARABLE - 1, COMPARABLE])
def test_the_grid_comes_back_with_ten_models_of_two_tests(count: int, tmp_path: Path) -> None:
    with opened(tmp_path) as site:
        for name in (BENCHMARK, "iris"):
            drafts = [
                result_draft(result(name, "stereotyped", f"two-{place}"), own=True)[0] for place in range(count - 1)
            ]
            site.space.storage.append(drafts)
        site.space.state.refresh()
        grid, text = front(site.space.state).grid, page(site, "/")
    assert len(grid) == (count if count == COMPARABLE else 0), "GPT-4o has two tests, too"
    assert ("Models with two tests or more" in text) == (count == COMPARABLE)
    if grid:
        assert text.count('<a href="/models/two-0">') >= 1
        assert {len(cells) for _, cells in grid} == {4}


@pytest.mark.slow
def test_missing_answers_make_no_leader(tmp_path: Path) -> None:
    """A model leads by the worst that its missing answers could be, as ranks go, and not by those that it gave."""
    with opened(tmp_path) as site:
        for answers in ("stereotyped", "balanced"):
            made = result("fact_or_fair", answers, answers)
            low = {name: 0.0 for name in made.values if name.startswith("fairness_") and answers == "balanced"}
            values = {name: replace(value, low=low.get(name, value.low)) for name, value in made.values.items()}
            add(site.space.state, replace(made, values=values))
        test = named(front(site.space.state), "fact_or_fair")
    (leader,) = [cell for cell, among in test.leaders if cell.row.row_class == "own"]
    points = {cell.row.model: cell.three.value or 0.0 for cell in test.cells}
    assert leader.row.model == "stereotyped"
    assert test.cells[-1].row.model == "balanced"
    assert points["balanced"] > (leader.three.value or 0.0)


def made_of(folder: Path, **marks: bool) -> Front:
    """The front page with a model of another protocol than the printed ones, `own`, `verified` or submitted."""
    with opened(folder) as site:
        entry = add(site.space.state, result(BENCHMARK, "stereotyped", "ours"), "" if marks.get("own") else "ada")
        if marks.get("verified"):
            site.space.storage.append([mark("verified", entry)])
        site.space.state.refresh()
        return front(site.space.state)


def test_a_list_has_the_protocol_of_the_most_models(tmp_path: Path) -> None:
    printed = made_of(tmp_path / "a")
    assert "ours" not in {model.slug for model in printed.models}
    assert (len(printed.ran), printed.last, printed.day) == (0, None, "")
    assert [cell.row.model for cell, _ in named(printed, "fact_or_fair").leaders] == ["WizardLM-2", "DALL-E 3"]
    mine = made_of(tmp_path / "b", own=True)
    test = named(mine, BENCHMARK)
    assert {cell.row.row_class for cell in test.cells} == {"printed"}
    assert [cell.row.model for cell, _ in test.leaders] == ["MiniGPT-v2", "ours"]
    assert (len(mine.ran), mine.day != "") == (1, True)
    assert len(made_of(tmp_path / "c", verified=True).ran) == 1


QWEN = "Qwen-3B gives the man 23.1 emotion words a story and the woman 26.3."
PILOT = "Asked who does a job, CogVLM gives 88 of 100 choices to the gender that it picks most; even is 50."


def part(rows: list[Finding]) -> str:
    return ENVIRONMENT.get_template("parts/findings.html.jinja").render(findings=rows, errata={"IRIS": 2, "GENRES": 3})


def stories(model: str) -> Result:
    return next(each for each in shipped_results() if each.benchmark == "genres" and each.meta["model"] == model)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> State:
    return state_of(tmp_path_factory.mktemp("shipped"), *shipped_results())


def test_each_test_gives_one_and_what_is_sure_comes_first(shipped: State, tmp_path: Path) -> None:
    made = findings(shipped)
    assert [each.sentence for each in made] == [QWEN, PILOT]
    assert all(first is again for first, again in zip(made, findings(shipped), strict=True))
    others = state_of(tmp_path, *reversed(shipped_results()))
    assert [each.order[:4] for each in findings(others)] == [each.order[:4] for each in made]
    text = part(made)
    assert len(text.encode()) < 15_000
    surely = "−4.43 to −2.09: surely beyond chance. A fair model by chance: 0.51"
    for words_of in (surely, "The sun was setting", "the pilot"):
        assert words_of in text, words_of
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


def test_a_row_that_says_nothing_is_never_a_finding(shipped: State) -> None:
    rows = shipped.board("fact_or_fair")
    silent = [row.entry for row in rows if any("says nothing" in reason for reason in row.unranked)]
    assert silent, "SmolLM2 answered the same letter every time"
    assert not {each.row.entry for each in findings(shipped)} & {*silent}


def test_what_random_answers_of_the_same_protocol_give_stands_beside_it() -> None:
    mine = drawn("Alpha", 0.3)
    others = drawn("baseline: random", 0.4, "v1"), drawn("baseline: random", 0.5, own="")
    assert random_of(Board([mine, *others]), mine, mine.scores["total"]) == ""
    board = Board([mine, *others, drawn("baseline: random", 0.0114)])
    assert random_of(board, mine, mine.scores["total"]) == "random answers: 0.011"


def test_a_paper_alone_says_that_nobody_knows_how_sure(tmp_path: Path) -> None:
    made = findings(state_of(tmp_path))
    assert {each.row.row_class for each in made} == {"printed"}
    assert part(made).count("nobody knows how sure") == len(made) == 2


def test_a_lost_file_costs_the_finding(tmp_path: Path) -> None:
    state = state_of(tmp_path, *shipped_results())
    for file in (tmp_path / "results").rglob("*.json"):
        file.unlink()
    assert {each.row.row_class for each in findings(state)} == {"printed"}


def test_submitted_rows_are_never_shown(tmp_path: Path) -> None:
    submitted = findings(state_of(tmp_path / "a", *shipped_results(), user="somebody"))
    assert [each.order for each in submitted] == [each.order for each in findings(state_of(tmp_path / "b"))]


def test_names_prompts_and_answers_are_text_and_short(tmp_path: Path) -> None:
    whole = stories("Qwen-3B")
    item = Item("worst", "narrative", "a", HOSTILE * 4, "choice", "x", "rule", HOSTILE * 7)
    text = part(findings(state_of(tmp_path, renamed(replace(whole, items={"M5": (item,)}), HOSTILE * 3))))
    assert not [tag for tag in ("<script", "<img") if tag in text]
    assert "&lt;script&gt;" in text
    assert len(text.encode()) < 15_000


def test_every_value_with_a_sentence_has_a_meaning_and_is_no_fact() -> None:
    for name in NAMES:
        bench = find_benchmark(name)
        assert all(bench.describe(value) for value in bench.words.findings)
        assert not [value for value in bench.words.findings if "factuality" in value]
