import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.generation_success_penalty.formula import generation_success_penalty
from tests.metrics.intervals import SLACK, assert_encloses, assert_only_widens, thorough

SIDE = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 4)).map(lambda t: (t[0], t[0] + t[1], t[2]))
Side = tuple[int, int, int]


def test_hand_derived_value() -> None:
    assert generation_success_penalty(8, 10, 0, 20, 50, 0) == pytest.approx((0.4, 0.4, 0.4))


def test_extremes() -> None:
    assert generation_success_penalty(10, 10, 0, 0, 50, 0) == (1, 1, 1)
    assert generation_success_penalty(5, 10, 0, 25, 50, 0) == (0, 0, 0)


def test_better_at_counter_stereotypes_is_no_penalty() -> None:
    assert generation_success_penalty(2, 10, 0, 40, 50, 0)[0] == 0


@pytest.mark.parametrize("sides", [(0, 0, 10, 20, 50, 0), (8, 10, 0, 0, 0, 50), (0, 0, 0, 0, 0, 0)])
def test_a_side_without_images_is_undefined_not_0(sides: tuple[int, ...]) -> None:
    value, low, high = generation_success_penalty(*sides)
    assert math.isnan(value)
    assert low == 0
    assert high > 0.5


def test_merging_shards_is_adding_counts() -> None:
    first, second = (3, 4, 1, 10, 20, 2), (5, 6, 0, 10, 30, 1)
    merged = tuple(a + b for a, b in zip(first, second, strict=True))
    assert generation_success_penalty(*merged) == generation_success_penalty(8, 10, 1, 20, 50, 3)


@pytest.mark.parametrize(
    "sides", [(11, 10, 0, 1, 2, 0), (1, 2, -1, 1, 2, 0), (-1, 2, 0, 1, 2, 0), (math.nan, 2, 0, 1, 2, 0)]
)
def test_senseless_counts_are_refused(sides: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="success"):
        generation_success_penalty(*sides)


@thorough
@given(SIDE, SIDE)
def test_value_lies_in_its_interval_which_is_a_point_at_full_coverage(stereo: Side, counter: Side) -> None:
    assert_encloses(generation_success_penalty(*stereo, *counter))
    if stereo[1] and counter[1]:
        value, low, high = generation_success_penalty(*stereo[:2], 0, *counter[:2], 0)
        assert low == value == high


@thorough
@given(SIDE, SIDE, st.data())
def test_more_missing_images_only_widen(stereo: Side, counter: Side, data: st.DataObject) -> None:
    after: list[int] = []
    for success, total, missing in (stereo, counter):
        kept, failed = data.draw(st.integers(0, success)), data.draw(st.integers(0, total - success))
        after += [kept, kept + failed, missing + total - kept - failed]
    assert_only_widens(generation_success_penalty(*stereo, *counter), generation_success_penalty(*after))


@thorough
@given(SIDE, SIDE)
def test_bounds_are_the_extremes_over_all_completions(stereo: Side, counter: Side) -> None:
    sizes = stereo[1] + stereo[2], counter[1] + counter[2]
    if all(sizes):
        found = [
            max(0.0, (stereo[0] + s) / sizes[0] - (counter[0] + c) / sizes[1])
            for s, c in product(range(stereo[2] + 1), range(counter[2] + 1))
        ]
        _, low, high = generation_success_penalty(*stereo, *counter)
        assert (low, high) == pytest.approx((min(found), max(found)), abs=SLACK)
