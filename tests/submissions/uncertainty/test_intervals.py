from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from fairspace.metrics import intervals
from fairspace.metrics.columns import Floats

CASES: dict[str, Callable[..., Any]] = {
    "skewed to the right": np.mean,
    "skewed to the left": lambda x, axis: -np.mean(x, axis),
    "biased": np.std,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_bca_is_scipys(name: str, seed: int) -> None:
    """Both see the same sample and resamples, so they agree up to rounding."""
    statistic = CASES[name]
    sample = np.random.default_rng(seed).exponential(size=40)
    theirs = stats.bootstrap(
        (sample,), statistic, n_resamples=999, method="BCa", rng=np.random.default_rng(seed), vectorized=True
    )
    without = np.array([float(statistic(np.delete(sample, place), -1)) for place in range(len(sample))])
    ours = intervals.bca_interval(float(statistic(sample, -1)), theirs.bootstrap_distribution, without)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), rel=1e-9)
    assert ours is not None
    plain = intervals.percentile_interval(theirs.bootstrap_distribution)
    assert abs(np.subtract(ours, plain)).min() > 1e-3  # else the correction would not be seen


def test_bca_is_undefined_where_the_value_lies_outside_all_draws_or_nothing_varies() -> None:
    draws, without = np.linspace(0, 1, 101), np.array([0.4, 0.5, 0.7])
    assert intervals.bca_interval(0.5, draws, without) is not None
    assert intervals.bca_interval(-0.1, draws, without) is None
    assert intervals.bca_interval(1.1, draws, without) is None
    assert intervals.bca_interval(0.5, draws, np.full(3, 0.5)) is None
    assert intervals.bca_interval(0.5, draws, np.array([0.4, np.nan, 0.7])) is None
    assert (
        intervals.bca_interval(0.0, np.array([0.0, 1.0, 2.0]), without) is not None
    )  # half of a draw that is tied lies below
    assert intervals.interval("bca", 1.1, draws, without) == (intervals.percentile_interval(draws), "percentile")
    assert intervals.interval("bca", 0.5, draws, without)[1] == "bca"


def test_bca_is_undefined_where_its_ends_change_places() -> None:
    """One of a million draws lies above the value, and one observation decides it: the acceleration turns the ends."""
    draws = np.zeros(1_000_000)
    draws[-1] = 2.0
    without = np.ones(1_000)
    assert intervals.bca_interval(1.0, draws, np.append(without, 0.0)) is None
    assert intervals.bca_interval(1.0, draws, np.append(without, 2.0)) is not None


def test_a_percentile_interval_is_the_middle_95_percent() -> None:
    assert intervals.percentile_interval(np.arange(1001.0)) == pytest.approx((25, 975))


def test_intervals_by_hand() -> None:
    draws = np.array([1.0, 2.0, 3.0, 6.0])
    half, reach = (1.959963984540054 * part.std(ddof=1) for part in (draws, draws[:2]))
    low, high = intervals.percentile_interval(draws)
    cases: list[tuple[intervals.Method, float, Floats, tuple[float, float]]] = [
        ("percentile", 2.0, draws, (low, high)),
        ("basic", 2.0, draws, (4 - high, 4 - low)),
        ("normal", 2.0, draws, (1 - half, 1 + half)),
        ("normal", 1.5, draws[:2], (1.5 - reach, 1.5 + reach)),
        ("normal", 2.0, draws[:1], (3.0, 3.0)),
    ]
    for method, value, drawn, expected in cases:
        ends, way = intervals.interval(method, value, drawn, np.empty(0))
        assert ends == pytest.approx(expected)
        assert way == method


@pytest.mark.parametrize(("right", "answers"), [(0, 12), (1, 12), (7, 30), (29, 30), (30, 30)])
def test_a_share_of_independent_answers_has_the_interval_of_clopper_and_pearson(right: int, answers: int) -> None:
    share = right / answers
    theirs = stats.binomtest(right, answers).proportion_ci(0.95, "exact")
    ours = intervals.share_interval(share, np.sqrt(share * (1 - share) / answers), answers, answers)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_a_share_of_few_clusters_counts_as_fewer_answers_and_never_as_more_than_there_are() -> None:
    """An error of 0.1 about a half is that of 25 answers; nine clusters are unsure of it."""
    wide, narrow = intervals.share_interval(0.5, 0.1, 100, 9), intervals.share_interval(0.5, 0.1, 100, 1000)
    assert wide[1] - wide[0] > narrow[1] - narrow[0] > intervals.share_interval(0.5, 0.05, 100, 100)[1] - 0.5
    assert intervals.share_interval(0.5, 0.0001, 20, 9) == intervals.share_interval(0.5, 0.1118, 20, 10**6)
    assert intervals.share_interval(1.0, 0.0, 30, 15) == pytest.approx((0.025 ** (1 / 30), 1.0))


def test_what_nothing_contradicts_leaves_room_for_a_share_that_nobody_saw() -> None:
    """A share of 1 - .025**(1 / n) gives n equal answers in one of forty samples."""
    assert intervals.least_room(10) == pytest.approx(1 - 0.025**0.1)
    assert (1 - intervals.least_room(59)) ** 59 == pytest.approx(0.025)
    assert intervals.least_room(0) == intervals.least_room(1) == 0.975


def test_a_size_goes_from_below_its_cross_fitted_estimate_to_above_its_value() -> None:
    assert intervals.size_interval(0.5, 0.4, 0.1) == pytest.approx((0.4 - 0.1 * intervals.Z, 0.5 + 0.1 * intervals.Z))
    assert intervals.size_interval(0.5, 0.1, 0.1) == pytest.approx((0, 0.5 + 0.1 * intervals.Z))
    assert intervals.size_interval(0.5, -3, 0.1)[0] == intervals.size_interval(0.5, np.nan, 0.1)[0] == 0
