import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.answer_consistency_difference.formula import answer_consistency_difference
from tests.metrics.intervals import SLACK, assert_encloses, assert_only_widens, thorough

DIFFERENCES = st.lists(st.integers(0, 9), max_size=8)


def test_hand_derived_value() -> None:
    # pairs (8, 6), (7, 7), (2, 3): 2 + 0 + 1
    assert answer_consistency_difference(3, 3, 0) == (1, 1, 1)


def test_extremes() -> None:
    assert answer_consistency_difference(0, 5, 0) == (0, 0, 0)
    assert answer_consistency_difference(45, 5, 0) == (9, 9, 9)


def test_a_missing_pair_is_the_largest_difference_in_the_worst_case() -> None:
    assert answer_consistency_difference(3, 3, 1) == (1, 0.75, 3)
    assert answer_consistency_difference(0, 3, 1, largest=4) == (0, 0, 1)


def test_no_pair_is_undefined_not_0() -> None:
    for missing in (0, 5):
        value, low, high = answer_consistency_difference(0, 0, missing)
        assert math.isnan(value)
        assert (low, high) == (0, 9)


@pytest.mark.parametrize("arguments", [(28, 3, 0), (-1, 3, 0), (1, -1, 0), (1, 3, -1), (math.nan, 3, 0)])
def test_senseless_numbers_are_refused(arguments: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="pairs"):
        answer_consistency_difference(*arguments)


@thorough
@given(DIFFERENCES, st.integers(0, 5), st.data())
def test_missing_pairs_only_widen_the_interval_around_the_value(
    differences: list[int], missing: int, data: st.DataObject
) -> None:
    before = answer_consistency_difference(sum(differences), len(differences), missing)
    assert_encloses(before)
    kept = differences[: data.draw(st.integers(0, len(differences)))]
    after = answer_consistency_difference(sum(kept), len(kept), missing + len(differences) - len(kept))
    assert_only_widens(before, after)


@thorough
@given(DIFFERENCES.filter(bool), st.integers(0, 3))
def test_bounds_are_the_extremes_over_all_completions(differences: list[int], missing: int) -> None:
    found = [sum((*differences, *extra)) / (len(differences) + missing) for extra in product((0, 4, 9), repeat=missing)]
    _, low, high = answer_consistency_difference(sum(differences), len(differences), missing)
    assert (low, high) == pytest.approx((min(found), max(found)), abs=SLACK)
