"""What a sample can show: against values derived by hand, textbook values, and simulated tests."""

import math

import numpy as np
import pytest

from fairspace.metrics.stereotypical_association.formula import filtered_association
from fairspace.submissions.benchmarks.power import (
    calibrated,
    chance_gap,
    gap_error,
    halfway,
    mean_power,
    share_power,
    simulated,
    smallest_difference,
    smallest_share_difference,
)

TESTS = 4000
BINOMIAL = 3 * math.sqrt(0.8 * 0.2 / TESTS)
"""Three standard errors of a power of 80 % that so many simulated tests estimate."""


def test_two_means_by_hand() -> None:
    # z(0.975) + z(0.8) = 1.959964 + 0.841621; of sd 10 and n = 50: 2.801585 * 10 * sqrt(2 / 50) = 5.60317
    assert smallest_difference(10 / math.sqrt(50)) == pytest.approx(5.60317, abs=1e-5)
    # Cohen (1988), Table 2.4.1: n = 64 for d = 0.50, 26 for 0.80 and 393 for 0.20, which allow for the t
    # distribution
    for d, n in ((0.5, 64), (0.8, 26), (0.2, 393)):
        assert smallest_difference(1 / math.sqrt(n)) == pytest.approx(d, rel=0.03)


def test_two_shares_by_hand() -> None:
    # Fleiss' formula solved for n at 0.5 against 0.7:
    # (1.959964 sqrt(2 * 0.6 * 0.4) + 0.841621 sqrt(0.25 + 0.21))^2 / 0.2^2 = (1.357903 + 0.570812)^2 / 0.04 = 92.9985
    assert smallest_share_difference(0.5, 92.9985) == pytest.approx(0.2, abs=1e-5)
    assert smallest_share_difference(0.5, 3) is None
    assert smallest_share_difference(0.5, 0) is None
    for edge in (0.0, 1.0):
        found = smallest_share_difference(edge, 100)
        assert found is not None
        assert 0.04 < found < 0.1
    with pytest.raises(ValueError, match="share"):
        smallest_share_difference(1.2, 10)


def test_a_share_near_an_end_takes_the_harder_direction() -> None:
    found = smallest_share_difference(0.9, 200)
    assert found is not None
    assert share_power(0.9, 0.9 - found, 200) == pytest.approx(0.8, abs=1e-6)
    up = smallest_share_difference(0.1, 200)
    assert up == pytest.approx(found)


@pytest.mark.parametrize(("p", "n"), [(0.5, 200), (0.2, 400), (0.9, 300)])
def test_the_difference_of_shares_is_found_in_four_tests_of_five(p: float, n: int) -> None:
    difference = smallest_share_difference(p, n)
    assert difference is not None
    q = p + difference if p <= 0.5 else p - difference
    random = np.random.default_rng(1)
    first, second = random.binomial(n, p, TESTS) / n, random.binomial(n, q, TESTS) / n
    middle = (first + second) / 2
    z = np.abs(first - second) / np.sqrt(2 * middle * (1 - middle) / n)
    assert (z > 1.959964).mean() == pytest.approx(0.8, abs=BINOMIAL + 0.01)  # 0.01: steps of the binomial
    assert share_power(p, q, n) == pytest.approx(0.8, abs=0.001)


def test_the_difference_of_means_is_found_in_four_tests_of_five() -> None:
    n, sd = 100, 3.8
    difference = smallest_difference(sd / math.sqrt(n))
    random = np.random.default_rng(2)
    first = random.normal(0, sd, (TESTS, n)).mean(1)
    second = random.normal(difference, sd, (TESTS, n)).mean(1)
    z = np.abs(first - second) / (sd * math.sqrt(2 / n))
    assert (z > 1.959964).mean() == pytest.approx(0.8, abs=BINOMIAL)
    assert mean_power(difference, sd, n) == pytest.approx(0.8, abs=0.001)


def test_no_difference_is_found_as_often_as_the_level_says() -> None:
    assert share_power(0.4, 0.4, 100) == pytest.approx(0.05)
    assert mean_power(0, 2.0, 100) == pytest.approx(0.05)


def test_a_gap_between_groups_takes_its_smallest_ones() -> None:
    assert gap_error(0.5, [400, 25, 100]) == pytest.approx(math.sqrt(0.25 / 25 + 0.25 / 100))


@pytest.mark.parametrize(("k", "d2"), [(2, 1.128), (3, 1.693), (6, 2.534), (18, 3.640)])
def test_equal_groups_show_a_gap_by_chance(k: int, d2: float) -> None:
    # The expected range of k normal values, as tabled for control charts, times the error of a share.
    assert chance_gap(0.3, [500] * k) == pytest.approx(d2 * math.sqrt(0.3 * 0.7 / 500), rel=0.04)
    assert chance_gap(0.3, [500] * k) == chance_gap(0.3, [500] * k)


def test_a_simulation_has_the_errors_of_a_share() -> None:
    found = simulated(lambda counts: counts[:, 0, 0] / 50, [50], [[0.3, 0.7]], draws=4000)
    assert found.mean == pytest.approx(0.3, abs=0.005)
    assert found.sd == pytest.approx(math.sqrt(0.3 * 0.7 / 50), rel=0.04)


def test_halfway_is_the_middle_of_even_and_one_sided() -> None:
    assert halfway(3, 2).tolist() == [[0.75, 0.25], [0.25, 0.75], [0.75, 0.25]]
    assert halfway(1, 4).tolist() == [[0.625, 0.125, 0.125, 0.125]]


def test_few_items_keep_little_of_a_true_difference() -> None:
    # Two answers among four groups give S = 0.375 if alike and 0.25 if not: by hand E[S] is 0.25 + 0.125 * 0.4375 for
    # halfway shares (P(alike) = 0.625^2 + 3 * 0.125^2) and 0.25 + 0.125 / 4 for even ones; own scores: 0.1875 and 0.
    shares, even = halfway(1, 4), np.full((1, 4), 0.25)
    kept = 0.125 * (0.4375 - 0.25) / 0.1875
    error = 0.125 * math.sqrt(0.4375 * 0.5625) / kept
    found = calibrated(filtered_association, [2], shares, even, draws=20_000)
    assert found.error == pytest.approx(error, rel=0.1)
    assert found.chance == pytest.approx(0.28125, abs=0.002)


def test_one_item_in_a_cell_tells_nothing() -> None:
    shares, even = halfway(5, 2), np.full((5, 2), 0.5)
    found = calibrated(filtered_association, np.ones(5, int), shares, even)
    assert found.error == math.inf
    assert found.chance == pytest.approx(0.5)


def test_many_items_keep_all_of_it() -> None:
    shares, even = halfway(1, 2), np.full((1, 2), 0.5)
    found = calibrated(filtered_association, [10_000], shares, even)
    assert found.error == pytest.approx(math.sqrt(0.75 * 0.25 / 10_000), rel=0.1)
    # E|p - 1/2| of 10 000 even answers is sqrt(2 / pi) * 0.005
    assert found.chance == pytest.approx(math.sqrt(2 / math.pi) * 0.005, rel=0.1)
