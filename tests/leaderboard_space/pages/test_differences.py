"""Differences of two models: they lie in their intervals, allow for bias, and test as tiers do."""

from __future__ import annotations

import numpy as np
import pytest

from fairspace.leaderboard_space.boards.comparison import lines
from fairspace.leaderboard_space.boards.differences import Z, difference, differences
from fairspace.submissions.uncertainty.bootstrap import TIED
from tests.submissions.results.test_tiers import BENCH, board, result, waves

NO_LIMITS = (-np.inf, np.inf)


def test_a_difference_lies_in_its_interval_however_biased_its_draws_are() -> None:
    """Draws turned round about 0.1 and 0.3 say 0.2; the values say 0.05: from 0.05 to 0.05 + 0.15 (1 + sqrt 2)."""
    found = difference((0.15, 0.3 + waves(0.01, 3)), (0.1, 0.1 + waves(0.01, 4)), NO_LIMITS, logarithmic=False)
    assert found is not None
    error = Z * 0.01 * 2**0.5
    assert (found.low, found.high) == pytest.approx((0.05 - error, 0.05 + 0.15 * TIED + error))
    assert found.low <= found.value <= found.high


def test_scores_that_multiply_have_a_ratio_in_its_interval() -> None:
    """2 over 8 is 0.25, with an error of 0.1 in the logarithm and no bias."""
    found = difference((2.0, 2 * np.exp(waves(0.1, 3))), (8.0, np.full(200, 8.0)), (0.0, np.inf), logarithmic=True)
    assert found is not None
    assert found.ratio
    assert (found.value, found.low, found.high) == pytest.approx(
        (0.25, 0.25 * np.exp(-Z / 10), 0.25 * np.exp(Z / 10)), rel=1e-6
    )
    assert found.verdict == "significant"


def test_no_difference_is_larger_than_the_scores_can_be_apart() -> None:
    found = difference((0.95, 0.95 + waves(0.2, 3)), (0.05, np.full(200, 0.05)), (0.0, 1.0), logarithmic=False)
    assert found is not None
    assert found.high == 1.0


def test_what_bias_could_explain_is_told_apart_from_what_it_could_not() -> None:
    """0.05 is 5 errors away from 0; turned round, the draws say 0.01, so 0.05 - 0.04 (1 + sqrt 2) is below 0."""
    found = difference((0.15, 0.11 + waves(0.01, 3)), (0.1, np.full(200, 0.1)), NO_LIMITS, logarithmic=False)
    assert found is not None
    assert found.low < 0
    assert found.errors == pytest.approx(5)
    assert found.verdict == "significant if their biases are alike"


def test_with_few_common_draws_nothing_is_said() -> None:
    few = np.where(np.arange(200) < 19, 0.1, np.nan)
    assert difference((0.1, few), (0.1, np.full(200, 0.1)), NO_LIMITS, logarithmic=False) is None


@pytest.mark.parametrize("away", [0.0, 0.02, 0.027, 0.0285, 0.04])
def test_two_models_are_told_apart_where_their_tiers_are(away: float) -> None:
    """Two models are one pair, so tiers ask for 1.96 errors, too: 1.96 * 0.01 * sqrt(2) is 0.0277."""
    rows = board(result("a", 0.2, waves(0.01, 3)), result("b", 0.2 + away, waves(0.01, 4)))
    chosen = [rows["a"], rows["b"]]
    found = differences(BENCH, chosen, "inaugural")[1]["total"]
    assert found.value == pytest.approx(away, abs=1e-9)
    assert (found.verdict != "not significant") == (rows["b"].tier == 2) == (away > 0.0277)


def test_the_comparison_prints_a_difference_within_its_interval() -> None:
    """The second's draws lie 0.1 above its value, as those of a biased score do."""
    rows = board(result("a", 0.2, waves(0.01, 3)), result("b", 0.3, 0.1 + waves(0.01, 4)))
    line = next(line for line in lines(BENCH, [rows["a"], rows["b"]], "inaugural")["Scores"] if line.name == "total")
    cell = line.cells[1]
    low, _, high = cell.between.removeprefix("difference ").partition(":")[0].partition(" to ")
    numbers = [float(text.replace("\N{MINUS SIGN}", "-")) for text in (low, cell.difference, high)]
    assert numbers == sorted(numbers)
    assert cell.difference == "+0.1000"
