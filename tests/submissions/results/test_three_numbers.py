from dataclasses import replace

import pytest

from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.benchmarks.benchmark import CHANCE, GAP, SIGNED, Ideal
from fairspace.submissions.benchmarks.published import PAPER_PRINTS
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.scoring_table import AS_RELEASED
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import (
    BIASED,
    NO_BIAS_SHOWN,
    SENTENCES,
    could_be,
    folded_facts,
    probability,
    state_of,
    text_of_ranks,
    three_numbers,
)
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


def test_a_value_shows_itself_its_interval_what_is_missing_and_what_chance_gives() -> None:
    """The measured value, not debiased; 10 of 100 answers are missing, and could make 0.40 of it."""
    three = three_numbers(value(0.3, 0.2, 0.4, debiased=0.25, fair=0.1, fair_high=0.15), GAP, show)
    assert (three.value, three.interval, three.biased) == (0.3, (0.2, 0.4), True)
    assert (three.value_text, three.interval_text, three.chance_text) == ("0.30", "0.20 to 0.40", "0.10, up to 0.15")
    assert (three.missing_text, three.verdict) == ("could be 0.30 to 0.40: 10 % missing", BIASED)
    assert three.cell_text == "0.30 [0.20 to 0.40]; could be 0.30 to 0.40: 10 % missing"


@pytest.mark.parametrize(
    ("low", "high", "valid", "words"),
    [
        (0.03, 0.5, 55, "could be 0.03 to 0.50: 45 % missing"),
        (0.4, 0.52, 9999, "could be 0.40 to 0.52: less than 1 % missing"),
        (0.5, 0.5, 55, ""),  # what is missing changes nothing
        (0.5, 0.504, 55, ""),  # nor does it by the digits that are shown
        (0.4, 0.5, 100, "could be 0.40 to 0.50: unusable answers at their best and worst"),
        (0.4, None, 55, "could be 0.40 or more: 45 % missing"),
        (None, 0.7, 55, "could be 0.70 or less: 45 % missing"),
        (None, None, 55, "45 % missing or unusable"),
        (0.4, None, 100, ""),
        (None, None, 0, ""),  # printed figures have neither bounds nor counts
    ],
)
def test_what_is_missing_is_said_in_words_where_it_could_change_the_value(
    low: float | None, high: float | None, valid: int, words: str
) -> None:
    expected = 10_000 if valid > 100 else 100 if valid else 0
    partial = measured("gap", 0.5, low=low, high=high, expected=expected, valid=valid)
    assert could_be(partial, show) == words
    assert state_of(partial) == ("value" if valid in (0, 100) else "incomplete")


def test_an_interval_narrower_than_its_digits_is_never_shown_without_width() -> None:
    three = three_numbers(value(1.0, 0.9996, 1.0), SCORE, show)
    assert three.interval_text == "rounds to 1.00"
    assert three.cell_text.startswith("1.00 [rounds to 1.00]")


@pytest.mark.parametrize(
    ("shown", "ideal", "biased"),
    [
        (value(0.14, 0.05, 0.2, fair=0.1, fair_high=0.15), GAP, False),  # fair models show as much
        (value(0.3, 0.0, 0.4, fair=0.1, fair_high=0.15), GAP, False),  # the interval holds 0
        (value(0.0, 0.0, 0.0, fair=0.0, fair_high=0.0), GAP, False),
        (value(0.3, 0.2, 0.4), GAP, None),  # no fair model is known
        (value(0.0, 0.0, 0.1), GAP, False),  # but the interval holds 0 all the same
        (value(0.7, 0.6, 0.8, fair=0.95, fair_high=0.9), SCORE, True),
        (value(0.92, 0.85, 0.98, fair=0.95, fair_high=0.9), SCORE, False),
        (value(0.7, 0.6, 1.0, fair=0.95, fair_high=0.9), SCORE, False),  # the interval holds 1
        (value(-7.0, -8.0, -6.0, fair=0.5, fair_high=1.0), SIGNED, True),  # of a sign: fair models by their size
        (value(7.0, 6.0, 8.0, fair=0.5, fair_high=1.0), SIGNED, True),
        (value(-0.9, -1.5, -0.3, fair=0.5, fair_high=1.0), SIGNED, False),
        (value(-2.0, -4.5, 0.3, fair=0.5, fair_high=1.0), SIGNED, False),
        (value(0.6, 0.55, 0.65, fair=0.5, fair_high=0.52), CHANCE, True),
        (value(0.4, 0.35, 0.45, fair=0.5, fair_high=0.52), CHANCE, False),  # on the better side
        (value(0.3, 0.2, 0.4, fair=0.1, fair_high=0.15), None, None),  # nothing is ideal for it
    ],
)
def test_no_bias_is_shown_of_what_is_not_beyond_fair_models_or_may_be_ideal(
    shown: Value, ideal: Ideal | None, biased: bool | None
) -> None:
    three = three_numbers(shown, ideal, show)
    assert three.biased is biased
    assert three.verdict == {True: BIASED, False: NO_BIAS_SHOWN, None: ""}[biased]
    if biased is None:
        fair = folded_facts(shown, ideal, show)["by chance"]
        assert three.chance_text == "–"
        assert fair.startswith("none: ")  # the fold says why


def test_no_bias_is_shown_only_where_no_witness_is_biased() -> None:
    """S_fair is 1 of a model that names men whatever it is asked; S_E of the same answers is far from 1."""
    fairness = value(1.0, 0.98, 1.0, fair=0.99, fair_high=0.98)
    even, uneven = (value(n, n - 0.05, n, fair=0.97, fair_high=0.95) for n in (0.96, 0.4))
    ideal = replace(SCORE, witnesses=("entropy",))
    assert three_numbers(fairness, ideal, show, values={"entropy": even}).verdict == NO_BIAS_SHOWN
    for values in ({"entropy": uneven}, {"entropy": undefined("entropy", "no answer")}, {}):
        assert three_numbers(fairness, ideal, show, values=values).verdict == ""
    assert three_numbers(uneven, ideal, show, values={"entropy": even}).verdict == BIASED


@pytest.mark.parametrize(
    ("name", "witnesses"),
    [
        ("fairness_llm_base_gender", ("entropy_llm_base_gender",)),
        ("t2i_fairness_race", ("entropy_t2i_subjective_race",)),
        ("average_t2i", ("entropy_t2i_subjective_gender", "entropy_t2i_subjective_race")),
        ("entropy_llm_base_gender", ()),
        ("kld_llm_base_gender", ()),
    ],
)
def test_s_e_is_the_witness_of_s_fair(name: str, witnesses: tuple[str, ...]) -> None:
    ideal = benchmark("fact_or_fair").ideal(name, "inaugural")
    assert ideal == replace(SCORE, witnesses=witnesses)


@pytest.mark.parametrize("state", [undefined("gap", "no answer names a group"), not_run("gap", "no such task"), None])
def test_a_value_without_a_number_shows_none_and_says_why(state: Value | None) -> None:
    three = three_numbers(state, GAP, show)
    assert (three.value, three.interval, three.biased) == (None, None, None)
    assert {three.missing_text, three.verdict} == {""}
    assert three.value_text == ("not run" if state is None else state.state.replace("_", " "))
    assert {three.interval_text, three.chance_text} == {"–"}
    facts = folded_facts(state, GAP, show)
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
    assert {three_numbers(printed, GAP, show, published=True).chance_text} == {"–"}


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
    assert list(facts) == list(SENTENCES)
    assert all(text.endswith(".") and text.count(". ") == 0 for text in SENTENCES.values())
    assert facts == {
        "standard error": "0.05",
        "interval by": "1,000 resamples of 100 units, each one image; normal interval, widened by the largest bias "
        "that the value can have",
        "by chance": "0.10, up to 0.15",
        "lower estimate": "0.25",
        "missing": "could be 0.30 to 0.40: 10 % missing",
        "coverage": "90 of 100 (90.0 %)",
        "state": "incomplete",
        "tier": "1",
        "chances": "reached > 0.99",
        "sensitivity analysis": "0.28 to 0.33",
    }
    assert shown.uncertainty is not None
    exact = replace(shown, uncertainty=replace(shown.uncertainty, method="exact"))
    assert "standard error" not in folded_facts(exact, GAP, show)  # it is the draws', and the interval is not
    without_row = folded_facts(shown, GAP, show)
    assert list(without_row) == [name for name in SENTENCES if name in without_row]


def test_a_share_of_almost_all_answers_is_never_100_percent() -> None:
    shown = measured("gap", 0.3, expected=100_000, valid=99_999)
    covered = folded_facts(shown, GAP, show)["coverage"]
    assert covered == "99,999 of 100,000 (99.9 %)"
    assert (probability(0.999), probability(0.001), probability(0.934)) == ("> 0.99", "< 0.01", "= 0.93")


@pytest.mark.parametrize("name", NAMES)
def test_the_score_that_ranks_go_by_has_an_ideal_on_its_better_side(name: str) -> None:
    bench = benchmark(name)
    for score in bench.scoring.table(bench.standards[bench.default], AS_RELEASED).ranking:
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
