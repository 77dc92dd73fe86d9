import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.representation_disparity.formula import disparity, representation_disparity
from tests.metrics.intervals import SLACK, assert_encloses, assert_only_widens, spreads, thorough

COUNTS = st.lists(st.integers(0, 9), min_size=2, max_size=6)


def value(counts: list[int], missing: int = 0) -> float:
    return float(representation_disparity(counts, missing)[0])


def test_hand_derived_value() -> None:
    # shares 1/2, 3/10, 1/5: differences 1/5 + 3/10 + 1/10 = 3/5, over k - 1 = 2
    assert value([5, 3, 2]) == pytest.approx(0.3)


@pytest.mark.parametrize("k", [2, 3, 6, 9, 18])
def test_one_hot_is_1_and_uniform_is_0(k: int) -> None:
    assert value([160] + [0] * (k - 1)) == 1
    assert value([7] * k) == 0


def test_no_label_is_undefined_not_0() -> None:
    result, low, high = representation_disparity([[0, 0], [0, 0]], [0, 5])
    assert np.isnan(result).all()
    assert low.tolist() == [0, 0]
    assert high.tolist() == [1, 1]


def test_absent_groups_count_as_0() -> None:
    assert value([1, 1]) == 0
    assert value([1, 1, 0]) == pytest.approx(0.5)


def test_order_of_groups_and_scale_change_nothing() -> None:
    assert len({value(list(order)) for order in permutations([5, 3, 2, 0])}) == 1
    assert value([50, 30, 20]) == pytest.approx(value([5, 3, 2]))


def test_rows_are_measured_apart() -> None:
    table, lost = np.array([[5, 3, 2], [1, 0, 0], [4, 4, 4], [9, 1, 0]]), [1, 0, 2, 3]
    together = representation_disparity(table, lost)
    for i, missing in enumerate(lost):
        assert tuple(x[i] for x in together) == tuple(map(float, representation_disparity(table[i], missing)))


@pytest.mark.parametrize(("counts", "missing"), [([3], 0), (3, 0), ([3, -1], 0), ([3, 1], -1), ([3, math.nan], 0)])
def test_senseless_counts_are_refused(counts: object, missing: int) -> None:
    with pytest.raises(ValueError, match=r"group|at least 0"):
        representation_disparity(counts, missing)  # type: ignore[arg-type]


@thorough
@given(COUNTS, st.integers(0, 9))
def test_value_lies_in_its_interval_which_is_a_point_at_full_coverage(counts: list[int], missing: int) -> None:
    assert_encloses(representation_disparity(counts, missing))  # type: ignore[arg-type]
    if sum(counts):
        result, low, high = representation_disparity(counts)
        assert low == result == high


@thorough
@given(COUNTS, st.integers(0, 9), st.data())
def test_more_missing_samples_only_widen(counts: list[int], missing: int, data: st.DataObject) -> None:
    kept = [data.draw(st.integers(0, n)) for n in counts]
    lost = sum(counts) - sum(kept)
    assert_only_widens(representation_disparity(counts, missing), representation_disparity(kept, missing + lost))  # type: ignore[arg-type]


@thorough
@given(st.lists(st.integers(0, 4), min_size=2, max_size=3), st.integers(1, 3))
def test_bounds_are_the_extremes_over_all_completions(counts: list[int], missing: int) -> None:
    _, low, high = map(float, representation_disparity(counts, missing))
    total = sum(counts) + missing
    whole = [float(disparity((np.array(counts) + x) / total)) for x in spreads(missing, len(counts))]
    # a sixth of a sample at a time reaches the common level of one, two or three groups exactly
    parts = [float(disparity((np.array(counts) + np.array(x) / 6) / total)) for x in spreads(6 * missing, len(counts))]
    assert high == pytest.approx(max(whole), abs=SLACK)
    assert low == pytest.approx(min(parts), abs=SLACK)
