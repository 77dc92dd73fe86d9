import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.distribution_divergence.formula import distribution_divergence, divergence
from tests.metrics.intervals import SLACK, assert_encloses, assert_only_widens, spreads, thorough


@st.composite
def cases(draw: st.DrawFn, largest: int = 9, groups: int = 5) -> tuple[list[int], list[int]]:
    """Counts, and a reference that may lack a group but not all."""
    k = draw(st.integers(2, groups))
    counts = draw(st.lists(st.integers(0, largest), min_size=k, max_size=k))
    return counts, draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any))


def value(counts: list[int], reference: list[float]) -> float:
    return float(distribution_divergence(counts, reference)[0])


def test_hand_derived_value() -> None:
    # p = (1, 0), q = (1/2, 1/2), m = (3/4, 1/4): (ln(4/3) + ln(2/3)/2 + ln(2)/2) / 2
    assert value([3, 0], [1, 1]) == pytest.approx((math.log(4 / 3) + math.log(2 / 3) / 2 + math.log(2) / 2) / 2)


def test_equal_is_0_and_disjoint_is_ln_2() -> None:
    assert value([10, 30, 60], [0.1, 0.3, 0.6]) == pytest.approx(0, abs=SLACK)
    assert value([4, 0, 0], [0, 1, 1]) == pytest.approx(math.log(2), abs=SLACK)


@thorough
@given(cases())
def test_is_the_square_of_scipys_distance(case: tuple[list[int], list[int]]) -> None:
    from scipy.spatial.distance import jensenshannon

    counts, reference = case
    if sum(counts):
        # SciPy loses half of the digits in the square root near 0
        assert value(counts, reference) == pytest.approx(float(jensenshannon(counts, reference)) ** 2, abs=1e-7)  # type: ignore[arg-type]


def test_reference_is_divided_by_its_sum() -> None:
    # the printed US skin row of astronauts adds up to 96.6
    shares = [66.80, 23.30, 6.50]
    assert value([5, 3, 2], shares) == pytest.approx(value([5, 3, 2], [x / 96.6 for x in shares]))


def test_no_label_is_undefined_not_0() -> None:
    result, low, high = map(float, distribution_divergence([0, 0], [1, 3], 7))
    assert math.isnan(result)
    assert low == pytest.approx(0, abs=SLACK)
    assert high == pytest.approx(float(divergence(np.array([1.0, 0.0]), np.array([0.25, 0.75]))))


def test_no_sample_at_all_has_the_bounds_of_one_unknown_sample() -> None:
    nothing, one = (list(map(float, distribution_divergence([0, 0], [1, 3], missing))) for missing in (0, 1))
    assert nothing == pytest.approx(one, nan_ok=True)
    assert math.isnan(nothing[0])


def test_order_of_groups_and_scale_change_nothing() -> None:
    pairs = list(zip([5, 3, 2], [0.2, 0.2, 0.6], strict=True))
    found = [value([c for c, _ in order], [q for _, q in order]) for order in permutations(pairs)]
    assert found == pytest.approx([found[0]] * 6, abs=SLACK)
    assert value([50, 30, 20], [1, 1, 3]) == pytest.approx(found[0], abs=SLACK)


def test_merging_two_groups_never_raises_it() -> None:
    assert value([5, 3 + 2], [0.2, 0.8]) <= value([5, 3, 2], [0.2, 0.2, 0.6])


def test_rows_are_measured_apart() -> None:
    counts, shares, missing = (
        np.array([[5, 3, 2], [0, 0, 0], [4, 4, 4]]),
        np.array([[1, 1, 1], [1, 0, 2], [0, 0, 5]]),
        [1, 2, 0],
    )
    together = distribution_divergence(counts, shares, missing)
    for i in range(3):
        alone = distribution_divergence(counts[i], shares[i], missing[i])
        np.testing.assert_equal([x[i] for x in together], list(map(float, alone)))


@pytest.mark.parametrize(
    ("counts", "reference", "missing"),
    [
        ([1, 2], [1, 2, 3], 0),
        ([1, -2], [1, 2], 0),
        ([1, 2], [0, 0], 0),
        ([1, 2], [1, math.nan], 0),
        ([1, 2], [1, 1], -1),
    ],
)
def test_senseless_input_is_refused(counts: list[float], reference: list[float], missing: int) -> None:
    with pytest.raises(ValueError, match=r"groups|reference row|at least 0"):
        distribution_divergence(counts, reference, missing)


@thorough
@given(cases(), st.integers(0, 9))
def test_value_lies_in_its_interval_which_is_a_point_at_full_coverage(
    case: tuple[list[int], list[int]], missing: int
) -> None:
    counts, reference = case
    assert_encloses(distribution_divergence(counts, reference, missing))  # type: ignore[arg-type]
    if sum(counts):
        result, low, high = map(float, distribution_divergence(counts, reference))
        assert (low, high) == pytest.approx((result, result), abs=SLACK)


@thorough
@given(cases(), st.integers(0, 9), st.data())
def test_more_missing_samples_only_widen(case: tuple[list[int], list[int]], missing: int, data: st.DataObject) -> None:
    counts, reference = case
    kept = [data.draw(st.integers(0, n)) for n in counts]
    lost = sum(counts) - sum(kept)
    before = distribution_divergence(counts, reference, missing)
    assert_only_widens(before, distribution_divergence(kept, reference, missing + lost))  # type: ignore[arg-type]


@thorough
@given(cases(largest=4, groups=3), st.integers(1, 3))
def test_bounds_are_the_extremes_over_all_completions(case: tuple[list[int], list[int]], missing: int) -> None:
    counts, reference = case
    q, total = np.array(reference) / sum(reference), sum(counts) + missing
    _, low, high = map(float, distribution_divergence(counts, reference, missing))
    whole = [float(divergence((np.array(counts) + x) / total, q)) for x in spreads(missing, len(counts))]
    parts = [
        float(divergence((np.array(counts) + np.array(x) / 8) / total, q)) for x in spreads(8 * missing, len(counts))
    ]
    assert high == pytest.approx(max(whole), abs=SLACK)
    assert min(parts) >= low - SLACK
    assert min(parts) <= low + 0.02  # an eighth of a sample is as near as the grid comes
