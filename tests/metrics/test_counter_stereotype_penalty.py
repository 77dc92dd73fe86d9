import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.counter_stereotype_penalty.formula import counter_stereotype_penalty
from tests.metrics.intervals import SLACK, assert_encloses, assert_only_widens, thorough

SCORES = st.lists(st.floats(-1, 1, allow_subnormal=False), max_size=5)
MISSING = st.integers(0, 3)
Scores = list[float]


def measure(stereo: Scores, stereo_missing: int, counter: Scores, counter_missing: int) -> tuple[float, float, float]:
    sides = math.fsum(stereo), len(stereo), stereo_missing, math.fsum(counter), len(counter), counter_missing
    return counter_stereotype_penalty(*sides, -1, 1)


def test_hand_derived_value() -> None:
    # means 0.75 and 0.5
    assert counter_stereotype_penalty(7.5, 10, 0, 25, 50, 0, 0, 1) == (0.25, 0.25, 0.25)


def test_hand_derived_bounds() -> None:
    # stereo (0.75 + 1 x 0..1) / 2, counter (0.25 + 1 x 0..1) / 2
    assert counter_stereotype_penalty(0.75, 1, 1, 0.25, 1, 1, 0, 1) == pytest.approx((0.5, 0.0, 0.75))


def test_extremes() -> None:
    assert counter_stereotype_penalty(10, 10, 0, -5, 5, 0, -1, 1) == (2, 2, 2)
    assert counter_stereotype_penalty(5, 10, 0, 25, 50, 0, 0, 1) == (0, 0, 0)


def test_better_counter_stereotypes_are_no_penalty() -> None:
    assert counter_stereotype_penalty(2, 10, 0, 40, 50, 0, 0, 1)[0] == 0


@pytest.mark.parametrize("sides", [(0, 0, 10, 20, 50, 0), (8, 10, 0, 0, 0, 50), (0, 0, 0, 0, 0, 0)])
def test_a_side_without_scores_is_undefined_not_0(sides: tuple[int, int, int, int, int, int]) -> None:
    value, low, high = counter_stereotype_penalty(*sides, 0, 1)
    assert math.isnan(value)
    assert low == 0
    assert high > 0.5


@pytest.mark.parametrize(
    "arguments",
    [
        (11, 10, 0, 1, 2, 0, 0, 1),
        (-1, 10, 0, 1, 2, 0, 0, 1),
        (1, 2, -1, 1, 2, 0, 0, 1),
        (1, 2, 0, 1, 2, 0, 1, 1),
        (math.nan, 2, 0, 1, 2, 0, 0, 1),
    ],
)
def test_scores_outside_the_declared_range_are_refused(arguments: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="range"):
        counter_stereotype_penalty(*arguments)


@thorough
@given(SCORES, MISSING, SCORES, MISSING)
def test_value_lies_in_its_interval_which_is_a_point_at_full_coverage(
    stereo: Scores, lost: int, counter: Scores, gone: int
) -> None:
    assert_encloses(measure(stereo, lost, counter, gone))
    if stereo and counter:
        value, low, high = measure(stereo, 0, counter, 0)
        assert low == value == high


@thorough
@given(SCORES, MISSING, SCORES, MISSING, st.data())
def test_more_missing_images_only_widen(
    stereo: Scores, lost: int, counter: Scores, gone: int, data: st.DataObject
) -> None:
    a, b = data.draw(st.integers(0, len(stereo))), data.draw(st.integers(0, len(counter)))
    after = measure(stereo[:a], lost + len(stereo) - a, counter[:b], gone + len(counter) - b)
    assert_only_widens(measure(stereo, lost, counter, gone), after)


@thorough
@given(SCORES, MISSING, SCORES, MISSING)
def test_bounds_are_the_extremes_over_all_completions(stereo: Scores, lost: int, counter: Scores, gone: int) -> None:
    if len(stereo) + lost and len(counter) + gone:
        ends = product(product((-1, 1), repeat=lost), product((-1, 1), repeat=gone))
        found = [
            max(
                0.0, math.fsum((*stereo, *s)) / (len(stereo) + lost) - math.fsum((*counter, *c)) / (len(counter) + gone)
            )
            for s, c in ends
        ]
        _, low, high = measure(stereo, lost, counter, gone)
        assert (low, high) == pytest.approx((min(found), max(found)), abs=SLACK)
