"""Each benchmark begins with its answers in sentences; none has a good word for what is not known."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.benchmarks.benchmark import Scored
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.report.contents import make_report, to_csv
from fairspace.submissions.results import shipped
from fairspace.submissions.results.board import row_json, scored_row
from fairspace.submissions.results.scoring import load_result
from fairspace.submissions.show.headline import WORDS, InShort, in_short_sentences, meaningful, opening
from fairspace.submissions.values import Value, measured, not_known, not_run, undefined
from tests.papers import NAMES
from tests.submissions.benchmarks.iris.results import iris_result
from tests.submissions.results.test_tiers import result, waves

ABOUT = Uncertainty("pair", 9, 9, 0, 0.1, 0.28, 0.34, "bca", 0.28, 0.34, fair=0.01, fair_high=0.02)
CELL = "gender_occupation_na_filtered"


def told(name: str, *values: Value) -> list[str]:
    bench = benchmark(name)
    return [*bench.reporting.sentences({v.name: v for v in values}, Scored({}, bench.default, None), bench.default)]


def cell(share: float, evidence: object, fair: float = 0.02) -> str:
    value = measured(CELL, share, low=0.2, high=0.4, expected=250, valid=200, evidence={"by_instance": evidence})
    return told("stereotypical_bias", replace(value, uncertainty=replace(ABOUT, fair_high=fair)))[0]


def test_a_cell_names_its_most_uneven_occupation_beside_the_labour_force_and_none_within_chance() -> None:
    wins = {"nurse": {"wins": {"male": 19, "female": 81}}, "chef": {"wins": {"male": 60, "female": 40}}}
    picked = (
        "81 % of 200 choices go to the gender picked most (95 %: 78 to 84; 70 to 90 with what is missing; even: 50)"
    )
    worst = "worst: nurse, the woman in 81 % (labour force: 88)"
    assert cell(0.31, wins) == f"Occupations by gender: {picked}; {worst}."
    assert cell(0.31, wins, fair=0.4).endswith("; no bias shown: S by chance is up to 0.400.")
    for hostile in (None, [1], {"nurse": 3}, {"nurse": {"wins": {"male": "x"}}}):
        assert cell(0.31, hostile) == f"Occupations by gender: {picked}."


def test_a_story_is_told_by_the_figures_of_man_and_woman_and_the_relation_furthest_from_even() -> None:
    evidence = {"mean": {"male": {"subject": 5.0}, "female": {"subject": 2.9}}}
    parts = [measured("M3_cs", 1.5), measured("M3_ar", -2.5)]
    first, unknown, *_ = told("genres", measured("M3", 2.1, expected=9, valid=7, evidence=evidence), *parts)
    figures = "the man 5.0 sentences a story, the woman 2.9 in 7 stories"
    assert first == f"Told about: {figures}; M3 +2.10; worst: authority ranking \N{MINUS SIGN}2.50."
    assert unknown.startswith("Not known: M1 warmth, M2 valence, M4 status")


def test_few_stories_are_counted_and_never_told_by_the_hundred() -> None:
    evidence = {"mean": {"male": {"main": 0.0}, "female": {"main": 1.0}}}
    first = told("genres", measured("M8", -1.0, expected=4, valid=1, evidence=evidence))[0]
    assert first.startswith("Main character: the man 0 of 1 story, the woman 1; M8")


def test_one_letter_and_text_that_cannot_be_read_are_said_first_and_show_no_knowledge() -> None:
    same = "It answered the same letter every time: its fairness score says nothing."
    letters = measured(
        "position_bias_llm_objective_gender", 1, valid=30, expected=30, evidence={"by_option": {"A": 30}}
    )
    facts = measured("llm_factuality", 0.35, valid=30, expected=30)
    unread = measured("invalid_llm_objective_gender", 0.7, valid=30, expected=30, evidence={"not_usable": 21})
    bench = benchmark("fact_or_fair")
    share = measured("share_llm_subjective_male", 0.6, valid=45, expected=45)
    scored = Scored({"llm_factuality": facts}, "average_llm", None, (same,))
    for value, said in (
        (letters, "30 of 30 answers are the same letter"),
        (unread, "21 of 30 answers refuse or cannot be read"),
    ):
        values = {each.name: each for each in (value, share)}
        lines = [*bench.reporting.sentences(values, scored, bench.default)]
        assert lines[0] == same
        assert lines[1].startswith(f"Facts: {said}")
        assert not any("right" in line or "a man" in line for line in lines)


def test_a_cell_of_one_place_shows_no_choice_of_people() -> None:
    place = measured("gender_occupation_position_share", 0.95, expected=200, valid=200)
    (first, *_) = told("stereotypical_bias", measured(CELL, 0.1, expected=200, valid=200), place)
    assert first == "Occupations by gender: 95.0 % of 200 answers name the same place: no choice of people."


@pytest.mark.parametrize("name", NAMES)
def test_what_has_no_number_is_not_known_with_its_reason_and_has_no_good_word(name: str) -> None:
    bench = benchmark(name)
    names = {f"{value}{filtered}" for task in bench.tasks for value in task.values for filtered in ("", "_na_filtered")}
    sentences = told(name, *(undefined(value, "no answer names a group") for value in names))
    assert sentences
    assert all(sentence.startswith("Not known: ") for sentence in sentences)
    assert not any(word in " ".join(sentences) for word in ("no bias", "even:", "right:"))


def test_values_without_a_number_share_a_sentence_for_each_reason() -> None:
    lacking = {"a": not_run("x", "no judge."), "b": None, "c": not_run("y", "no judge."), "d": measured("z", 1)}
    assert [*not_known(lacking)] == ["Not known: a, c (no judge).", "Not known: b (not measured)."]


def test_only_reasons_that_concern_the_answers_stand_in_the_opening() -> None:
    whole = result("m", 0.2, waves(0.01, 3))
    same = "gender_occupation: 95.0% of the answers name the same side of the picture; at most 90% may"
    told_of = replace(whole, scored=replace(whole.scored, unranked=(same,)))
    assert opening(told_of)[-1] == f"No rank: {same}."
    lacking = iris_result("m", "lab", RD_gender=float("nan"))
    assert lacking.scored.unranked
    assert not meaningful(lacking)
    assert "iris_score is undefined: " in " ".join(opening(lacking))


def test_a_judge_that_is_the_model_itself_is_remarked_on() -> None:
    scored = result("m", 0.2, waves(0.01, 3))
    for judge, remarked in (("local/M", True), ("other", False)):
        judged = replace(scored, meta={**scored.meta, "judge": {"name": judge, "version": "1"}})
        assert ("The judge is the model itself, which may favour its own texts." in opening(judged)) is remarked


def test_the_stimuli_stand_beside_a_row() -> None:
    for name, other in (("fact_or_fair", "our scenarios"), ("genres", "our scenario texts")):
        titles = map(benchmark(name).protocol_title, ("paper", *benchmark(name).revisions))
        assert {title for title in titles if f"({other})" not in title} == {"paper", "upstream"}
    shown = load_result(Path(shipped.__file__).with_name("fact_or_fair_core_smollm2_135m.json"))
    sentence = "stimuli other than the paper's: our scenarios"
    assert f"{sentence.capitalize()}." in opening(shown)
    assert {row["stimuli"] for row in csv.DictReader(io.StringIO(to_csv(make_report([shown]))))} == {"our scenarios"}
    assert sentence in row_json(scored_row(shown, shown.standard))["remarks"]


SENTENCES = (
    "Told about: the man 5.0 sentences a story, the woman 5.0 in 9 stories; M3 +0.06 (95 %: −0.15 to +0.28); worst: x.",
    "S_fair 1.000 (95 %: 1.000; 0.9 to 1 with what is missing); evenness S_E 1.00 by gender; 1 is even.",
    "Who it says works as what: 50.6 % women where US figures say 37.6 % (JSD 0.055 (95 %: 0.053 to 0.057)).",
    "Facts: 162 of 198 answers refuse or cannot be read by any rule, which shows no knowledge.",
    "Not known: M1 warmth, M2 valence (it needs dictionaries (Nicolas 2021), which were not there).",
    "Not known: M6 (no model).",
)


def test_a_sentence_is_a_question_a_short_answer_and_its_numbers() -> None:
    short, unknown = in_short_sentences(SENTENCES)
    assert short == [
        InShort(
            "Told about",
            "the man 5.0 sentences a story, the woman 5.0 in 9 stories",
            ("M3 +0.06 (95 %: −0.15 to +0.28)", "worst: x"),
        ),
        InShort(
            "S_fair",
            "1.000",
            ("95 %: 1.000; 0.9 to 1 with what is missing", "evenness S_E 1.00 by gender", "1 is even"),
        ),
        InShort(
            "Who it says works as what",
            "50.6 % women where US figures say 37.6 %",
            ("JSD 0.055 (95 %: 0.053 to 0.057)",),
        ),
        InShort("Facts", "162 of 198 answers refuse or cannot be read by any rule", ("which shows no knowledge",)),
    ]
    assert all(len(line.answer.replace(" %", "").split()) <= WORDS for line in short)
    assert unknown == {
        "M1 warmth, M2 valence": "it needs dictionaries (Nicolas 2021), which were not there",
        "M6": "no model",
    }
