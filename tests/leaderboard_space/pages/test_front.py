import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from fairspace.leaderboard_space.boards.front import FEWEST, MOST, Front, front
from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import result_draft
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import result
from tests.leaderboard_space.pages.rows import BENCHMARK, HOSTILE_MODEL, MANY, page


def words(site: Opened, address: str = "/") -> str:
    text = re.sub(r"<[^>]+>", "", re.sub(r"<(/?t[dhr]|/?small|/?p)\b[^>]*>", " ", page(site, address)))
    return re.sub(r"\s+", " ", unescape(text)).replace(" ,", ",")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "which model is most even on judgements",
            r"Judgements: FACT-OR-FAIR .*Most even of 6 .*: WizardLM-2, 0\.9834 \(facts right: 71 %\)",
        ),
        (
            "how sure",
            r"WizardLM-2, 0\.9834 \(facts right: 71 %\) \(printed, without an interval: how sure is unknown\)",
        ),
        (
            "what a bad model looks like",
            r"right the worst that can be.*Stereotypes: ",
        ),
        (
            "what has been run when",
            r"four tests, \d{3} run by us\. The newest, [^,]+, is on the board since \d{4}(-\d\d){2}\. ",
        ),
        (
            "how to add mine",
            r"Add your model .*fairspace eval --model \./my-model .*fairspace submit my-submission\.zip",
        ),
    ],
)
def test_the_front_page_answers(question: str, answer: str, site: Opened) -> None:
    assert re.search(answer, words(site)), question


def test_it_is_light_names_are_text_and_every_model_is_counted(site: Opened) -> None:
    text = page(site, "/")
    assert len(text.encode()) < 60_000
    assert not re.search(r"<script>|<img src=x|onerror=alert\(1\)>|\u202e|<b>Corp", text)
    made = front(site.space.state)
    assert made.ran >= MANY
    assert len(made.models) == MOST < made.count
    assert text.count('<tr class="further"') + 12 == MOST
    assert HOSTILE_MODEL.replace("\u202e", "") not in text
    assert '<link rel="canonical"' not in text
    assert 'href="/board/iris" aria-current="page">Boards' in page(site, "/board/genres")


def made_of(folder: Path, **marks: bool) -> Front:
    """The front page with a model of another protocol than the printed ones, `own`, `verified` or submitted."""
    with opened(folder) as site:
        for model in ("ours", "baseline: stereotyped"):
            scored = result(BENCHMARK, "stereotyped", model) if model == "ours" else result(BENCHMARK, "stereotyped")
            scored = replace(scored, signature={**scored.signature, "answers": model})
            draft, files = result_draft(scored, "ada", own=marks.get("own", False) or model != "ours")
            site.space.storage.append([draft], files)
            if marks.get("verified") and model == "ours":
                body = {"entry": draft.body["entry"], "by": "m", "reason": "ran it"}
                site.space.storage.append([Draft("verified", "verified:1", body)])
        site.space.state.refresh()
        return front(site.space.state)


@pytest.mark.slow
def test_what_is_called_worst_is_worse_than_every_leader_and_ours(tmp_path: Path) -> None:
    with opened(tmp_path) as site:
        for name in ("iris", "fact_or_fair", BENCHMARK):
            for answers in ("random", "stereotyped"):
                draft, files = result_draft(result(name, answers), own=True)
                forged, more = result_draft(replace(result(name, "random"), meta=draft.body["result"]["meta"]), "eve")
                site.space.storage.append([draft, forged], files | more)
        site.space.state.refresh()
        made = front(site.space.state)
        text = words(site)
    assert not re.search("What bad looks like|GPT-4o, 0.8619", text)
    for test in made.tests[:3]:
        up = find_benchmark(test.view.benchmark).higher_is_better
        (bad,) = {cell.three.value or 0.0 for cell in test.worst}
        least = [cell.three.value or 0.0 for cell, _ in test.leaders if cell.row.cohort == test.worst[0].row.cohort]
        assert all(bad < other if up else bad > other for other in least), test.view.benchmark
        assert [cell.row.own != "" for cell in (*test.worst, *test.even)] == [True, True]
    assert "Random answers, even and useless" in text


@pytest.mark.slow
def test_missing_answers_make_no_leader(tmp_path: Path) -> None:
    """A model leads by the worst that its missing answers could be, as ranks go, and not by those that it gave."""
    with opened(tmp_path) as site:
        for answers in ("stereotyped", "balanced"):
            made = result("fact_or_fair", answers, answers)
            low = {name: 0.0 for name in made.values if name.startswith("fairness_") and answers == "balanced"}
            values = {name: replace(value, low=low.get(name, value.low)) for name, value in made.values.items()}
            site.space.storage.append([result_draft(replace(made, values=values), own=True)[0]])
        site.space.state.refresh()
        test = next(test for test in front(site.space.state).tests if test.view.benchmark == "fact_or_fair")
    (leader,) = [cell for cell, among in test.leaders if cell.row.row_class == "own"]
    points = {
        cell.row.model: cell.three.value or 0.0 for slug, cell in test.cells.items() if cell.row.row_class == "own"
    }
    assert (leader.row.model, points["balanced"] > points["stereotyped"]) == ("stereotyped", True)


def test_a_column_draws_the_protocol_of_the_most_models(tmp_path: Path) -> None:
    printed = made_of(tmp_path / "a")
    assert "ours" not in {model.slug for model in printed.models}
    assert (printed.ran, printed.last) == (0, None)
    of = {test.view.benchmark: test for test in printed.tests}
    assert {cell.at is not None for cell in of["iris"].cells.values() if cell.three.value is not None} == {True}
    assert [cell.row.model for cell, _ in of["fact_or_fair"].leaders] == ["DALL-E 3", "WizardLM-2"]
    assert {cell.lines for cell in of[BENCHMARK].cells.values()} == {(None, None)}, "measured by another protocol"
    mine = next(test for test in made_of(tmp_path / "b", own=True).tests if test.view.benchmark == BENCHMARK)
    assert mine.cells["ours"].three.value is not None
    assert mine.cells["ours"].at is None, "measured by another protocol than three models"
    has = {slug for test in printed.tests for slug, cell in test.cells.items() if cell.three.value is not None}
    numbers = [model.slug in has for model in printed.models]
    assert numbers == sorted(numbers, reverse=True), "models without a number come last"


def test_the_scatter_has_an_address_and_is_left_out_without_points(site: Opened) -> None:
    drawn = page(site, "/figures/iris/inaugural_points/size.svg")
    assert drawn.count('class="mark"') >= FEWEST
    assert "Bagel, 14 billion parameters" in drawn
    assert "/figures/iris/inaugural_points/size.svg" in page(site, "/")
    assert "Fewer than" in page(site, "/figures/iris/bounded/size.svg")
