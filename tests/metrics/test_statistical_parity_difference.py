import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.statistical_parity_difference.formula import left_out, statistical_parity_difference
from tests.metrics.intervals import SLACK, assert_encloses, assert_only_widens, spreads, thorough

Case = tuple[np.ndarray, np.ndarray, np.ndarray]


@st.composite
def cases(draw: st.DrawFn, largest: int = 6, groups: int = 4, classes: int = 4) -> Case:
    """Mapped, unmappable and missing answers of two or more groups."""
    k, c = draw(st.integers(2, groups)), draw(st.integers(1, classes))
    cells = draw(st.lists(st.integers(0, largest), min_size=k * (c + 2), max_size=k * (c + 2)))
    table = np.array(cells).reshape(k, c + 2)
    return table[:, :c], table[:, c], table[:, c + 1]


def test_hand_derived_value() -> None:
    # class 0: 1/2 against 1/5; class 1: 1/2 against 3/5; class 2: 0 against 1/5
    assert statistical_parity_difference([[5, 5, 0], [2, 6, 2]], [0, 0], [0, 0])[0] == pytest.approx(0.3)


def test_same_answers_are_0_and_a_class_of_one_group_is_1() -> None:
    assert statistical_parity_difference([[4, 2], [2, 1]], [0, 0], [0, 0]) == (0, 0, 0)
    assert statistical_parity_difference([[5, 0], [0, 5]], [0, 0], [0, 0]) == (1, 1, 1)


def test_unmappable_and_refused_are_two_classes() -> None:
    counts, some, none = [[5, 0], [5, 0]], [0, 5], [0, 0]
    assert statistical_parity_difference(counts, some, none) == pytest.approx((0.5, 0.5, 0.5))
    assert statistical_parity_difference(counts, none, none, refused=some) == pytest.approx((0.5, 0.5, 0.5))
    apart = statistical_parity_difference(counts, [5, 0], none, refused=some)
    assert apart == pytest.approx((0.5, 0.5, 0.5))


def test_without_an_answer_that_fits_a_class_it_is_undefined_not_0() -> None:
    assert math.isnan(statistical_parity_difference([[0, 0], [0, 0]], [3, 2], [0, 0], refused=[0, 1])[0])


def test_fewer_than_two_groups_with_answers_is_undefined_not_0() -> None:
    for missing in ([0, 0], [0, 4]):
        value, low, high = statistical_parity_difference([[5, 5], [0, 0]], [0, 0], missing)
        assert math.isnan(value)
        assert (low, high) == (0, 1)


def test_small_groups_are_left_out_but_not_by_dropping_their_answers() -> None:
    counts = [[5, 5], [2, 8], [1, 0]]
    assert left_out(counts, [0, 0, 0], [0, 0, 0]).tolist() == [False, False, True]
    assert statistical_parity_difference(counts, [0, 0, 0], [0, 0, 0])[0] == pytest.approx(0.3)
    assert not left_out(counts, [0, 0, 0], [0, 0, 1]).any()


def test_order_of_groups_and_names_of_classes_change_nothing() -> None:
    counts, unmappable, missing = np.array([[5, 5, 1], [2, 8, 0], [3, 3, 3]]), np.array([1, 0, 2]), np.array([0, 3, 1])
    expected = statistical_parity_difference(counts, unmappable, missing)
    order = [2, 0, 1]
    assert statistical_parity_difference(counts[order], unmappable[order], missing[order]) == expected
    assert statistical_parity_difference(counts[:, order], unmappable, missing) == expected


def test_merging_like_groups_changes_nothing() -> None:
    split = statistical_parity_difference([[5, 5], [5, 5], [2, 8]], [0] * 3, [0] * 3)
    assert statistical_parity_difference([[10, 10], [2, 8]], [0] * 2, [0] * 2) == pytest.approx(split)


@pytest.mark.parametrize(
    ("counts", "unmappable", "missing"),
    [
        ([1, 2], [0, 0], [0, 0]),
        ([[1, 2], [2, 1]], [0], [0, 0]),
        ([[1, 2], [2, 1]], [0, 0], [0]),
        ([[1, -1], [2, 1]], [0, 0], [0, 0]),
        ([[1, 2], [2, 1]], [0, -1], [0, 0]),
        ([[1, 2], [2, 1]], [0, 0], [-1, 0]),
    ],
)
def test_senseless_counts_are_refused(counts: list[int], unmappable: list[int], missing: list[int]) -> None:
    with pytest.raises(ValueError, match=r"are needed|at least 0"):
        statistical_parity_difference(counts, unmappable, missing)


def test_tables_along_leading_axes_are_measured_apart() -> None:
    random = np.random.default_rng(0)
    counts, open_answers = random.integers(0, 9, (2, 3, 4, 5)), random.integers(0, 3, (2, 2, 3, 4))
    together = statistical_parity_difference(counts, *open_answers)
    assert [part.shape for part in together] == [(2, 3)] * 3
    for place in np.ndindex(2, 3):
        alone = statistical_parity_difference(counts[place], *open_answers[(slice(None), *place)])
        assert [part[place] for part in together] == pytest.approx(alone)


@thorough
@given(cases())
def test_value_lies_in_its_interval_which_is_a_point_at_full_coverage(case: Case) -> None:
    assert_encloses(statistical_parity_difference(*case))
    value, low, high = statistical_parity_difference(case[0], 0 * case[1], 0 * case[2])
    assert math.isnan(value) or low == value == high


@thorough
@given(cases(), st.data())
def test_more_missing_samples_only_widen(case: Case, data: st.DataObject) -> None:
    counts, unmappable, missing = case
    kept = np.array([[data.draw(st.integers(0, int(n))) for n in row] for row in counts]).reshape(counts.shape)
    read = np.array([data.draw(st.integers(0, int(n))) for n in unmappable])
    lost = (counts - kept).sum(1) + unmappable - read
    after = statistical_parity_difference(kept, read, missing + lost)
    assert_only_widens(statistical_parity_difference(*case), after)


@thorough
@given(cases(largest=1, groups=3, classes=2), st.integers(1, 3))
def test_high_is_the_maximum_over_all_completions_and_low_a_lower_bound(case: Case, times: int) -> None:
    counts, unmappable, missing = times * case[0], case[1], case[2]
    _, low, high = statistical_parity_difference(counts, unmappable, missing)
    keep = ~left_out(counts, unmappable, missing)
    if keep.sum() < 2:
        assert (low, high) == (0, 1)
        return
    sure = np.column_stack([counts, unmappable])[keep]
    free, total = missing[keep], (counts.sum(1) + unmappable + missing)[keep]
    gaps = [
        float(np.ptp((sure + np.array(extra)) / total[:, None], axis=0).max())
        for extra in product(*(list(spreads(int(n), sure.shape[1])) for n in free))
    ]
    assert high == pytest.approx(max(gaps), abs=SLACK)
    assert low <= min(gaps) + SLACK
