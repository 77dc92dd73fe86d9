import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.stereotype_drift.formula import absolute_drift, stereotype_drift
from tests.metrics.intervals import SLACK, assert_encloses, assert_only_widens, thorough

DRIFT = st.integers(-4, 4).map(lambda n: n / 4)
SURE = st.lists(st.tuples(DRIFT, st.integers(0, 5)), max_size=4)
OPEN = st.lists(st.tuples(DRIFT, DRIFT, st.integers(0, 5)).map(lambda t: (min(t[:2]), max(t[:2]), t[2])), max_size=4)
Sure = list[tuple[float, int]]
Open = list[tuple[float, float, int]]


def measure(sure: Sure, free: Open) -> tuple[float, float, float]:
    drift, counts = ([row[i] for row in sure] for i in range(2))
    low, high, possible = ([row[i] for row in free] for i in range(3))
    return stereotype_drift(drift, counts, low, high, possible)


def test_hand_derived_value() -> None:
    # one answer drifts by 0.5, three by -0.1: 0.2 / 4
    assert stereotype_drift([0.5, -0.1], [1, 3]) == pytest.approx((0.05, 0.05, 0.05))


def test_hand_derived_bounds() -> None:
    # two open answers in [-0.2, 0.6]: (0.2 - 0.4) / 6 and (0.2 + 1.2) / 6
    assert stereotype_drift([0.5, -0.1], [1, 3], [-0.2], [0.6], [2]) == pytest.approx((0.05, -0.2 / 6, 1.4 / 6))


def test_an_open_answer_that_cannot_worsen_the_mean_may_be_right_instead() -> None:
    assert stereotype_drift([0.5], [1], [0.5], [0.5], [9]) == (0.5, 0.5, 0.5)
    assert stereotype_drift([0.5], [1], [0.1], [0.2], [1]) == pytest.approx((0.5, 0.3, 0.5))


def test_extremes() -> None:
    assert stereotype_drift([1.0], [7])[0] == 1
    assert stereotype_drift([-1.0], [7])[0] == -1
    assert stereotype_drift([0.3, -0.3], [2, 2])[0] == pytest.approx(0)


def test_no_wrong_answer_is_undefined_not_0() -> None:
    assert all(math.isnan(x) for x in stereotype_drift([], []))
    assert all(math.isnan(x) for x in stereotype_drift([0.5], [0], [0.1], [0.2], [0]))
    value, low, high = stereotype_drift([], [], [-0.2], [0.6], [2])
    assert math.isnan(value)
    assert (low, high) == (-0.2, 0.6)


def test_order_and_merging_of_kinds_change_nothing() -> None:
    drift, counts, low, high, free = [0.5, -0.25, 0.0], [1, 3, 2], [-0.5, -1.0], [0.75, 0.25], [2, 1]
    expected = stereotype_drift(drift, counts, low, high, free)
    assert stereotype_drift(drift[::-1], counts[::-1], low[::-1], high[::-1], free[::-1]) == expected
    assert stereotype_drift([*drift, 0.5], [0, 3, 2, 1], [*low, -0.5], [*high, 0.75], [1, 1, 1]) == expected


@pytest.mark.parametrize(
    ("signed", "expected"),
    [((0.1, -0.3, 0.2), (0.1, 0.0, 0.3)), ((-0.4, -0.6, -0.1), (0.4, 0.1, 0.6)), ((0.2, 0.2, 0.2), (0.2, 0.2, 0.2))],
)
def test_absolute_drift_is_the_size_of_the_signed_one(
    signed: tuple[float, float, float], expected: tuple[float, float, float]
) -> None:
    assert absolute_drift(*signed) == expected


def test_absolute_drift_of_undefined_is_undefined() -> None:
    assert all(math.isnan(x) for x in absolute_drift(math.nan, math.nan, math.nan))


@pytest.mark.parametrize(
    "columns",
    [
        ([0.5], [1, 2]),
        ([0.5], [-1]),
        ([1.5], [1]),
        ([math.nan], [1]),
        ([], [], [0.5], [0.1], [1]),
        ([], [], [0], [2], [1]),
    ],
)
def test_senseless_columns_are_refused(columns: tuple[list[float], ...]) -> None:
    with pytest.raises(ValueError, match=r"length|at least 0|drift"):
        stereotype_drift(*columns)


@thorough
@given(SURE, OPEN)
def test_value_lies_in_its_interval(sure: Sure, free: Open) -> None:
    bounds = measure(sure, free)
    if not math.isnan(bounds[1]):
        assert_encloses(bounds)
        assert_encloses(absolute_drift(*bounds))


@thorough
@given(SURE, OPEN, st.data())
def test_more_open_answers_only_widen(sure: Sure, free: Open, data: st.DataObject) -> None:
    kept = [(d, data.draw(st.integers(0, n))) for d, n in sure]
    lost = [(-1.0, data.draw(st.sampled_from([d, 1.0])), n - k) for (d, n), (_, k) in zip(sure, kept, strict=True)]
    before, after = measure(sure, free), measure(kept, free + lost)
    if not math.isnan(before[1]):
        assert_only_widens(before, after)
        assert_only_widens(absolute_drift(*before), absolute_drift(*after))


@thorough
@given(SURE, st.lists(st.tuples(DRIFT, DRIFT).map(sorted), max_size=5))
def test_bounds_are_the_extremes_over_all_completions(sure: Sure, free: list[list[float]]) -> None:
    _, low, high = measure(sure, [(a, b, 1) for a, b in free])
    total, weight = sum(d * n for d, n in sure), sum(n for _, n in sure)
    means = []
    for choice in product(*((None, a, b) for a, b in free)):  # right, or wrong with either end of the interval
        wrong = [d for d in choice if d is not None]
        if weight + len(wrong):
            means.append((total + sum(wrong)) / (weight + len(wrong)))
    if means:
        assert (low, high) == pytest.approx((min(means), max(means)), abs=SLACK)
    else:
        assert math.isnan(low)
        assert math.isnan(high)
