import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity, left_out
from tests.metrics.intervals import SLACK, assert_encloses, assert_only_widens, thorough

Table = list[list[int]]


def tables(largest: int = 6, groups: int = 5) -> st.SearchStrategy[Table]:
    """Four columns (correct, wrong, unmappable, missing) for two or more groups."""
    return st.integers(2, groups).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, largest), min_size=k, max_size=k), min_size=4, max_size=4)
    )


def measure(table: Sequence[ArrayLike]) -> tuple[float, float, float]:
    correct, wrong, unmappable, missing = table
    return accuracy_disparity(correct, wrong, unmappable, missing)


def omitted(table: Sequence[ArrayLike], minimum: int = 2) -> list[bool]:
    correct, wrong, unmappable, missing = table
    return left_out(correct, wrong, unmappable, missing, minimum).tolist()


def test_hand_derived_value() -> None:
    # accuracies 8/10, 4/10 and 6/12
    assert accuracy_disparity([8, 4, 6], [2, 6, 6], [0, 0, 0], [0, 0, 0])[0] == pytest.approx(0.4)


def test_same_accuracy_is_0_and_all_against_nothing_is_1() -> None:
    assert accuracy_disparity([8, 4], [2, 1], [0, 0], [0, 0]) == (0, 0, 0)
    assert accuracy_disparity([5, 0], [0, 5], [0, 0], [0, 0]) == (1, 1, 1)


def test_unmappable_answer_is_wrong() -> None:
    assert accuracy_disparity([2, 2], [0, 0], [0, 2], [0, 0]) == pytest.approx((0.5, 0.5, 0.5))


def test_without_an_answer_that_fits_a_class_it_is_undefined_not_0() -> None:
    assert math.isnan(accuracy_disparity([0, 0], [0, 0], [3, 4], [0, 0])[0])
    assert accuracy_disparity([0, 0], [1, 0], [3, 4], [0, 0])[0] == 0


def test_fewer_than_two_groups_with_answers_is_undefined_not_0() -> None:
    unanswered = accuracy_disparity([3, 0], [1, 0], [0, 0], [0, 4])
    assert math.isnan(unanswered[0])
    assert unanswered[1:] == (0, 0.75)
    for wrong in ([1, 0], []):
        value, low, high = accuracy_disparity([0] * len(wrong), wrong, [0] * len(wrong), [0] * len(wrong))
        assert math.isnan(value)
        assert (low, high) == (0, 1)


def test_small_groups_are_left_out_but_not_by_dropping_their_answers() -> None:
    small = [[8, 4, 1], [2, 6, 0], [0, 0, 0], [0, 0, 0]]
    assert omitted(small) == [False, False, True]
    assert measure(small)[0] == pytest.approx(0.4)
    assert omitted(small, minimum=1) == [False] * 3
    dropped = [[8, 4, 1], [2, 6, 0], [0, 0, 0], [0, 0, 9]]
    assert not any(omitted(dropped))
    assert measure(dropped)[2] == pytest.approx(0.7)  # all nine wrong: 8/10 against 1/10
    assert left_out([0], [0], [0], [0], minimum=0).tolist() == [True]


def test_order_of_groups_changes_nothing() -> None:
    table = np.array([[8, 4, 6, 1], [2, 6, 6, 1], [1, 0, 0, 3], [0, 5, 0, 1]])
    assert measure(list(table[:, [2, 0, 3, 1]])) == measure(list(table))


def test_merging_like_groups_changes_nothing() -> None:
    assert accuracy_disparity([4, 4, 6], [1, 1, 6], [0] * 3, [0] * 3)[0] == pytest.approx(
        accuracy_disparity([8, 6], [2, 6], [0] * 2, [0] * 2)[0]
    )


@pytest.mark.parametrize("table", [[[1, 2], [1], [0, 0], [0, 0]], [[1, -2], [1, 1], [0, 0], [0, 0]], [1] * 4])
def test_senseless_counts_are_refused(table: Table) -> None:
    with pytest.raises(ValueError, match=r"per group|at least 0"):
        measure(table)


@thorough
@given(tables())
def test_value_lies_in_its_interval_which_is_a_point_at_full_coverage(table: Table) -> None:
    assert_encloses(measure(table))
    nothing = [0] * len(table[0])
    value, low, high = accuracy_disparity(table[0], table[1], nothing, nothing)
    assert math.isnan(value) or low == value == high


@thorough
@given(tables(), st.data())
def test_more_missing_samples_only_widen(table: Table, data: st.DataObject) -> None:
    kept = [[data.draw(st.integers(0, n)) for n in column] for column in table[:3]]
    lost = np.array(table[:3]).sum(0) - np.array(kept).sum(0)
    assert_only_widens(measure(table), measure([*kept, np.array(table[3]) + lost]))


@thorough
@given(tables(largest=2, groups=3))
def test_bounds_are_the_extremes_over_all_completions(table: Table) -> None:
    _, low, high = measure(table)
    correct, _, _, missing = np.array(table)
    free, total = missing, np.array(table).sum(0)
    keep = ~np.array(omitted(table))
    if keep.sum() > 1:
        gaps = [
            float(np.ptp(((correct + right) / np.maximum(total, 1))[keep]))
            for right in product(*(range(n + 1) for n in free))
        ]
        assert high == pytest.approx(max(gaps), abs=SLACK)
        assert low <= min(gaps) + SLACK
    else:
        assert (low, high) == (0, 1)
