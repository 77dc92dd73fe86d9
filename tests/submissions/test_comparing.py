from dataclasses import replace

import numpy as np
import pytest

from fairspace.metrics.intervals import Z
from fairspace.submissions.comparing import Comparison, Difference, DrawnScore, corrected, difference, differences
from fairspace.submissions.results.scoring import rescore
from tests.submissions.results.test_tiers import BENCH, board, result, waves

NO_LIMITS = (-np.inf, np.inf)


def known(
    first: DrawnScore, second: DrawnScore, limits: tuple[float, float] = NO_LIMITS, logarithmic: bool = False
) -> Difference:
    apart = difference(first, second, limits, logarithmic=logarithmic)
    assert apart is not None
    return apart


def test_a_difference_lies_in_its_interval_however_biased_the_scores_are() -> None:
    """0.05 by the values, 0.2 without their biases: the interval spans both, plus the error on either side."""
    found = known(DrawnScore(0.15, 0.3, 0.15 + waves(0.01, 3)), DrawnScore(0.1, 0.1, 0.1 + waves(0.01, 4)))
    error = Z * 0.01 * 2**0.5
    assert (found.low, found.high) == pytest.approx((0.05 - error, 0.2 + error))
    assert found.low <= found.value <= found.high


def test_scores_that_multiply_have_a_ratio_in_its_interval() -> None:
    """2 over 8 is 0.25, with an error of 0.1 in the logarithm and no bias."""
    two, eight = DrawnScore(2.0, 2.0, 2 * np.exp(waves(0.1, 3))), DrawnScore(8.0, 8.0, np.full(200, 8.0))
    found = known(two, eight, (0.0, np.inf), logarithmic=True)
    assert found.ratio
    assert (found.value, found.low, found.high) == pytest.approx(
        (0.25, 0.25 * np.exp(-Z / 10), 0.25 * np.exp(Z / 10)), rel=1e-6
    )
    assert found.verdict == "significant"


def test_no_difference_is_larger_than_the_scores_can_be_apart() -> None:
    low = DrawnScore(0.05, 0.05, np.full(200, 0.05))
    assert known(DrawnScore(0.95, 0.95, 0.95 + waves(0.2, 3)), low, (0.0, 1.0)).high == 1.0


def test_what_bias_could_explain_is_told_apart_from_what_it_could_not() -> None:
    """0.05 is 5 errors away from 0; without its bias the score is 0.01 below the other."""
    same = DrawnScore(0.1, 0.1, np.full(200, 0.1))
    found = known(DrawnScore(0.15, 0.09, 0.15 + waves(0.01, 3)), same)
    assert found.low < 0
    assert found.errors == pytest.approx(5)
    assert found.verdict == "significant if their biases are alike"


def test_what_missing_answers_could_explain_is_not_significant() -> None:
    """0.3 - 0.1 = 0.2 is 20 errors, but half of the first's answers are missing and could make it 0.05."""
    whole = DrawnScore(0.1, 0.1, np.full(200, 0.1))
    part = DrawnScore(0.3, 0.3, 0.3 + waves(0.01, 3), (0.05, 0.4))
    found = known(part, whole)
    assert (found.value, found.errors) == pytest.approx((0.2, 0))
    assert found.verdict == "not significant"
    assert (found.low, found.high) == pytest.approx((-0.05 - Z * 0.01, 0.3 + Z * 0.01), abs=1e-6)
    beyond = known(part._replace(bounds=(0.15, 0.4)), whole)
    assert beyond.errors == pytest.approx(5)
    assert beyond.verdict == "significant"
    assert known(part.of_whole(), whole).errors == pytest.approx(20)
    ratio = known(part._replace(bounds=(0.0, 0.4)), whole, (0.0, np.inf), logarithmic=True)
    assert (ratio.errors, ratio.verdict) == (0, "not significant")
    assert 0 <= ratio.low < ratio.value < ratio.high < np.inf
    assert difference(part._replace(bounds=(np.nan, 0.4)), whole, NO_LIMITS, logarithmic=False) is None


def test_with_few_common_draws_nothing_is_said() -> None:
    few, whole = (DrawnScore(0.1, 0.1, np.where(np.arange(200) < draws, 0.1, np.nan)) for draws in (19, 200))
    assert difference(few, whole, NO_LIMITS, logarithmic=False) is None


@pytest.mark.parametrize("away", [0.0, 0.02, 0.027, 0.0285, 0.0305, 0.0315, 0.04])
def test_what_tiers_separate_differs_as_a_pair_too(away: float) -> None:
    """A single pair needs 1.96 * 0.01 * sqrt(2) = 0.0277; the second row of a board 2.186 errors, 0.0309."""
    rows = board(result("a", 0.2, waves(0.01, 3)), result("b", 0.2 + away, waves(0.01, 4)))
    results = [made for name in ("a", "b") if (made := rows[name].result) is not None]
    found = differences(BENCH, results, "up_to_twenty")[1]["total"]
    assert found.value == pytest.approx(away, abs=1e-9)
    assert (found.verdict != "not significant") == (away > 0.0277)
    assert (rows["b"].tier == 2) == (away > 0.0309)


def test_of_three_tests_the_smallest_p_counts_three_times_and_no_p_overtakes_a_smaller_one() -> None:
    """Two-sided p of 2.8, 2.4 and 2.39 errors: .00511, .01640, .01685. Holm: times 3, 2, 1, and never falling."""
    away = {"a": 2.4, "b": 2.8, "c": 2.39}
    found = corrected([{}, {name: Difference(1.0, 0.5, 1.5, False, errors) for name, errors in away.items()}])
    assert found[0] == {}
    assert found[1] == pytest.approx({"a": 0.0328, "b": 0.01533, "c": 0.0328}, abs=5e-5)


def test_no_corrected_p_exceeds_one() -> None:
    alike = Difference(0.0, -1.0, 1.0, False, 0.1)
    assert corrected([{}, {"a": alike}, {"a": alike}])[1:] == [{"a": 1.0}, {"a": 1.0}]


SURE = "b against a: sure differences, the biggest first:"


@pytest.mark.parametrize(
    ("levels", "answer", "each"),
    [
        ((0.2, 0.3), SURE, "0.3000 against 0.2000, less even (difference +0.1000"),
        ((0.3, 0.2), SURE, "0.2000 against 0.3000, more even (difference −0.1000"),
        ((0.2, 0.201), "b against a: no difference is sure.", ""),
        ((0.2, None), "7 of 7 values are open: numbers or answers are missing.", ""),
    ],
)
def test_a_comparison_answers_first_and_nothing_counts_without_a_number(
    levels: tuple[float, float | None], answer: str, each: str
) -> None:
    made = [result("a", levels[0], waves(0.01, 3)), result("b", levels[1] or 0.0, waves(0.01, 4))]
    if levels[1] is None:
        gone = {
            name: replace(value, value=None, state="undefined", reason="none") for name, value in made[1].values.items()
        }
        made[1] = replace(made[1], values=gone)
    results = [rescore(each, "up_to_twenty") for each in made]
    first, *differences_of = Comparison(results).sentences
    assert first == answer
    assert len(differences_of) == (7 if each else 0)
    assert sum(each in sentence for sentence in differences_of) == (6 if each else 0)  # the total has no direction
    printed = Comparison([replace(each, draws=None) for each in results]).sentences[0]
    assert levels[1] is None or "nobody knows whether these differences are real" in printed
