from __future__ import annotations

from typing import Any

from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.pages.board import MOST, front
from fairspace.submissions.results.board import board, ranked
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import measured


def handed_in(model: str, number: float, **about: Any) -> Row:
    scores = {"iris_score": measured("iris_score", number)}
    return Row(model, model, "", "scored here", "", scores, group="v2", protocol="v2", ranked=number, **about)


def test_the_printed_models_stand_best_first_and_say_that_they_have_no_interval() -> None:
    made = front(VIEWS["iris"], "bounded", board("iris", "bounded"))
    assert [line.model for line in made.lines][:2] == ["Bagel", "UniWorld-V1"]
    assert len(made.lines) == MOST
    places = [line.at for line in made.lines]
    assert places == sorted(places, reverse=True)
    assert (made.ideal, made.lines[0].sure) == (100.0, "computed here; 95.94 printed, no interval")
    assert made.words == "From the papers: Bagel leads, computed here from the paper's tables, without an interval."
    paper = front(VIEWS["iris"], "inaugural", board("iris"))
    assert (paper.ideal, paper.lines[0].text, paper.lines[0].sure) == (None, "95.94", "printed, no interval")
    assert paper.words == "From the papers: Bagel leads, printed, without an interval."


def test_what_was_handed_in_released_or_copied_is_not_on_the_first_screen() -> None:
    before = front(VIEWS["iris"], "bounded", board("iris", "bounded"))
    for about in ({}, {"released": True}, {"own": "run by us"}, {"copy_of": "copy of random"}):
        rows = [*board("iris", "bounded"), handed_in("baseline: random", 147_306.0, **about)]
        assert front(VIEWS["iris"], "bounded", ranked(rows, "iris", "bounded")) == before


def test_verified_models_stand_first() -> None:
    rows = [*board("iris", "bounded"), handed_in("ours", 40.0, verified=True)]
    made = front(VIEWS["iris"], "bounded", ranked(rows, "iris", "bounded"))
    assert (made.lines[0].model, made.lines[0].mark) == ("ours", "rerun")
    assert made.words.startswith("Verified: only ours. From the papers: Bagel leads")


def test_cohorts_lead_each_for_themselves_and_random_answers_are_a_line() -> None:
    chance = {"average_llm": measured("average_llm", 0.5)}
    line = Row("random", "baseline: random", "", "baseline", "", chance, cohort="language model")
    made = front(VIEWS["fact_or_fair"], "shuffled", [*board("fact_or_fair"), line])
    leaders = {line.cohort: line.model for line in made.lines if line.leads}
    assert leaders == {"image model": "DALL-E 3", "language model": "GPT-4o"}
    assert {line.cohort for line in made.lines if line.chance is not None} == {"language model"}
    assert front(VIEWS["genres"], "zero_centred", board("genres")).words.startswith(
        "From the papers: Janus leads with each"
    )
    random = {"iris_score": measured("iris_score", 73.47)}
    other = Row("r", "baseline: random", "", "baseline", "", random, group="v2")
    words = front(VIEWS["iris"], "bounded", [*board("iris", "bounded"), other]).words
    assert words.endswith("Random answers were measured by another protocol (v2).")
    unranked = front(VIEWS["stereotypical_bias"], "up_to_twenty", board("stereotypical_bias"))
    assert unranked.words.startswith("From the papers: MiniGPT-v2 has the lowest score, without a rank")
