"""The three numbers of a value, and the facts that are folded away: by hand, for each kind of value and of row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairspace.submissions.benchmarks.adjustment import AS_RELEASED
from fairspace.submissions.benchmarks.ideal import CHANCE, GAP, SIGNED, Ideal
from fairspace.submissions.benchmarks.published import PAPER_PRINTS
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.results.folded_facts import SENTENCES, folded_facts, probability
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import LIKE_FAIR, text_of_ranks, three_numbers
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.values import Value, measured, not_run, undefined
from tests.submissions.results.test_tiers import board, result, waves

SCORE = Ideal(1.0, "below")


def show(number: float) -> str:
    return f"{number:.2f}"


def about(low: float, high: float, **more: float | None) -> Uncertainty:
    return Uncertainty("image", 100, 1000, 0, 0.05, low, high, "bracket", low, high, **more)  # type: ignore[arg-type]


def value(number: float, low: float, high: float, **more: float | None) -> Value:
    known = measured("gap", number, low=number, high=number + 0.1, expected=100, valid=90)
    return replace(known, uncertainty=about(low, high, **more))


def test_a_value_shows_its_effect_its_interval_and_its_excess_over_a_fair_model() -> None:
    """0.30 less a bias of 0.05; fair models show 0.10 on average and 0.15 at most: 0.20 more than these."""
    three = three_numbers(value(0.3, 0.2, 0.4, debiased=0.25, fair=0.1, fair_high=0.15), GAP, show)
    assert (three.effect, three.interval, three.like_fair) == (0.25, (0.2, 0.4), False)
    assert three.excess == pytest.approx(0.2)
    assert (three.effect_text, three.interval_text, three.excess_text) == ("0.25", "0.20 to 0.40", "+0.20")


def test_an_interval_narrower_than_its_digits_is_never_shown_without_width() -> None:
    three = three_numbers(value(1.0, 0.9996, 1.0), SCORE, show)
    assert (three.interval_text, three.cell_text) == ("rounds to 1.00", "1.00 [rounds to 1.00]")


@pytest.mark.parametrize(
    ("shown", "ideal", "excess"),
    [
        (value(0.14, 0.05, 0.2, fair=0.1, fair_high=0.15), GAP, None),  # fair models show as much
        (value(0.3, 0.0, 0.4, fair=0.1, fair_high=0.15), GAP, None),  # the interval holds 0
        (value(0.0, 0.0, 0.0, fair=0.0, fair_high=0.0), GAP, None),
        (value(0.3, 0.2, 0.4), GAP, "unknown"),  # no fair model is known
        (value(0.0, 0.0, 0.1), GAP, None),  # but the interval holds 0 all the same
        (value(0.7, 0.6, 0.8, fair=0.95, fair_high=0.9), SCORE, -0.25),
        (value(0.92, 0.85, 0.98, fair=0.95, fair_high=0.9), SCORE, None),
        (value(0.7, 0.6, 1.0, fair=0.95, fair_high=0.9), SCORE, None),  # the interval holds 1
        (value(-7.0, -8.0, -6.0, fair=0.5, fair_high=1.0), SIGNED, -6.5),  # of a sign: fair models by their size
        (value(7.0, 6.0, 8.0, fair=0.5, fair_high=1.0), SIGNED, 6.5),
        (value(-0.9, -1.5, -0.3, fair=0.5, fair_high=1.0), SIGNED, None),
        (value(-2.0, -4.5, 0.3, fair=0.5, fair_high=1.0), SIGNED, None),
        (value(0.6, 0.55, 0.65, fair=0.5, fair_high=0.52), CHANCE, 0.1),
        (value(0.4, 0.35, 0.45, fair=0.5, fair_high=0.52), CHANCE, None),  # on the better side
        (value(0.3, 0.2, 0.4, fair=0.1, fair_high=0.15), None, "unknown"),  # nothing is ideal for it
    ],
)
def test_what_is_not_beyond_fair_models_or_may_be_ideal_cannot_be_told_from_fair(
    shown: Value, ideal: Ideal | None, excess: float | str | None
) -> None:
    three = three_numbers(shown, ideal, show)
    if excess is None:
        assert (three.excess, three.excess_text, three.like_fair) == (None, LIKE_FAIR, True)
    elif excess == "unknown":
        assert (three.excess, three.excess_text, three.like_fair) == (None, "–", False)
        [fair] = [fact.text for fact in folded_facts(shown, ideal, show) if fact.name == "fair model"]
        assert fair.startswith("none: ")  # the fold says why
    else:
        assert three.excess == pytest.approx(excess)


@pytest.mark.parametrize("state", [undefined("gap", "no answer names a group"), not_run("gap", "no such task"), None])
def test_a_value_without_a_number_shows_none_and_says_why(state: Value | None) -> None:
    three = three_numbers(state, GAP, show)
    assert (three.effect, three.interval, three.excess, three.like_fair) == (None, None, None, False)
    assert three.effect_text == ("not run" if state is None else state.state.replace("_", " "))
    assert {three.interval_text, three.excess_text} == {"–"}
    facts = {fact.name: fact.text for fact in folded_facts(state, GAP, show)}
    assert facts.keys() == {"coverage", "state"}
    assert state is None or facts["state"] == f"{state.state.replace('_', ' ')}: {state.reason}"


def test_a_number_without_an_interval_says_why_in_a_word() -> None:
    printed = measured("gap", 0.3, evidence={"printed": "30.0%"})
    computed = measured("gap", 0.3)
    assert three_numbers(printed, GAP, show, published=True).interval_text == "printed"
    assert three_numbers(computed, GAP, show, published=True).interval_text == "computed here"
    beside = measured("gap", 0.3, evidence={PAPER_PRINTS: "0.42"})
    assert three_numbers(beside, GAP, show, published=True).interval_text == "computed here; 0.42 printed"
    assert three_numbers(computed, GAP, show).interval_text == "not resampled"
    assert {three_numbers(printed, GAP, show, published=True).excess_text} == {"–"}


def test_a_row_has_the_range_of_its_ranks_or_a_word_that_says_why_not() -> None:
    rows = board(result("a", 0.1, waves(0.01, 3)), result("b", 0.11, waves(0.01, 4)), result("c", 0.9, waves(0.01, 5)))
    assert [text_of_ranks(rows[name]) for name in "abc"] == ["1 to 2", "1 to 2", "3"]
    row = rows["a"]
    total = row.scores["total"]
    assert three_numbers(total, GAP, show, row=row).ranks == (1, 2)
    assert three_numbers(total, GAP, show).ranks_text == ""
    others: list[Row] = [
        replace(row, rank_range=None, tier=None, provenance="published"),
        replace(row, rank_range=None, tier=None, provenance="baseline", rank=None),
        replace(row, rank_range=None, tier=None, rank=None),
        replace(row, rank_range=None, tier=None),
        replace(row, rank_range=None),
    ]
    words = ["unknown", "baseline", "not ranked", "not resampled", "too many rows"]
    assert list(map(text_of_ranks, others)) == words


def test_the_folded_facts_stand_in_one_order_and_have_a_sentence_each() -> None:
    rows = board(result("a", 0.1, waves(0.01, 3), missing=5), result("b", 0.9, waves(0.01, 4)))
    row = replace(rows["a"], chances={"reached": 0.999})
    shown = value(0.3, 0.2, 0.4, debiased=0.25, fair=0.1, fair_high=0.15)
    facts = folded_facts(shown, GAP, show, row=row, instruments=(0.28, 0.33))
    assert [fact.name for fact in facts] == list(SENTENCES)
    assert all(fact.sentence.endswith(".") and fact.sentence.count(". ") == 0 for fact in facts)
    assert {fact.name: fact.text for fact in facts} == {
        "measured": "0.30",
        "standard error": "0.05",
        "interval by": "100 × image, drawn 1,000 times; normal interval, widened by the largest bias that the value "
        "can have",
        "fair model": "0.10; 95 % below 0.15",
        "lowest": "0.30",
        "highest": "0.40",
        "coverage": "90 of 100 (90.0 %)",
        "state": "incomplete",
        "tier": "1",
        "chances": "reached > 0.99",
        "other instruments": "0.28 to 0.33",
    }
    without_row = folded_facts(shown, GAP, show)
    assert [fact.name for fact in without_row] == [name for name in SENTENCES if name in {f.name for f in without_row}]


def test_a_share_of_almost_all_answers_is_never_100_percent() -> None:
    shown = measured("gap", 0.3, expected=100_000, valid=99_999)
    [covered] = [fact.text for fact in folded_facts(shown, GAP, show) if fact.name == "coverage"]
    assert covered == "99,999 of 100,000 (99.9 %)"
    assert (probability(0.999), probability(0.001), probability(0.934)) == ("> 0.99", "< 0.01", "= 0.93")


@pytest.mark.parametrize("name", NAMES)
def test_the_score_that_ranks_go_by_has_an_ideal_on_its_better_side(name: str) -> None:
    bench = benchmark(name)
    for score in bench.scoring(bench.standards[bench.default], AS_RELEASED).ranking:
        ideal = bench.ideal(score, bench.default)
        assert ideal is not None
        assert ideal.worse == ("below" if bench.higher_is_better else "above")


@pytest.mark.parametrize(
    ("bench", "name", "ideal"),
    [
        ("iris", "RD_gender", GAP),
        ("iris", "iris_score", Ideal(283645.0, "below")),
        ("iris", "IFS_Und", Ideal(180.0, "below", 60.0)),
        ("iris", "competence_accuracy", None),
        ("fact_or_fair", "kld_llm_base_gender", SCORE),
        ("fact_or_fair", "factuality_llm_objective_gender", None),
        ("fact_or_fair", "llm_factuality", None),
        ("fact_or_fair", "cognitive_error_ingroup_gender", CHANCE),
        ("fact_or_fair", "cognitive_error_increase_gender", GAP),
        ("fact_or_fair", "position_llm_base", CHANCE),
        ("fact_or_fair", "position_bias_llm_objective_gender", GAP),
        ("stereotypical_bias", "gender_persona_na_filtered", GAP),
        ("stereotypical_bias", "gender_persona_position_share", CHANCE),
        ("stereotypical_bias", "gender_persona_na_rate", None),
        ("genres", "M3_cs", SIGNED),
        ("genres", "CS.M3", SIGNED),
        ("genres", "M1_directed", SIGNED),
        ("genres", "M7_p", None),
        ("genres", "refusal_rate", None),
    ],
)
def test_a_benchmark_declares_what_is_ideal(bench: str, name: str, ideal: Ideal | None) -> None:
    assert benchmark(bench).ideal(name, benchmark(bench).default) == ideal


def test_a_total_about_the_mean_of_other_models_says_nothing_of_fair() -> None:
    assert benchmark("genres").ideal("TBS", "zero_centred") == GAP
    assert benchmark("genres").ideal("TBS", "inaugural") is None
