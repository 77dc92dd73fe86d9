from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.accuracy_disparity.formula import accuracy_disparity
from fairspace.metrics.accuracy_disparity.formula import left_out as left_out_of_accuracies
from fairspace.metrics.distribution_divergence.formula import distribution_divergence
from fairspace.metrics.representation_disparity.formula import representation_disparity
from fairspace.metrics.statistical_parity_difference.formula import left_out, statistical_parity_difference
from fairspace.metrics.stereotype_drift.formula import stereotype_drift
from tests.metrics.intervals import SLACK, thorough


def distance(counts: list[int], reference: list[float]) -> float:
    return float(distribution_divergence(counts, reference)[0])


def test_small_groups_are_left_out_and_dropped_answers_leave_none_out() -> None:
    correct, wrong, none = [8, 4, 1], [2, 6, 0], [0, 0, 0]
    assert left_out_of_accuracies(correct, wrong, none, none).tolist() == [False, False, True]
    assert not left_out_of_accuracies(correct, wrong, none, none, minimum=1).any()
    assert not left_out_of_accuracies(correct, wrong, none, [0, 0, 9]).any()
    assert left_out_of_accuracies([0], [0], [0], [0], minimum=0).tolist() == [True]
    counts = [[5, 5], [2, 8], [1, 0]]
    assert left_out(counts, [0, 0, 0], [0, 0, 0]).tolist() == [False, False, True]
    assert not left_out(counts, [0, 0, 0], [0, 0, 1]).any()


@st.composite
def cases(draw: st.DrawFn, largest: int = 9, groups: int = 5) -> tuple[list[int], list[int]]:
    """Counts, and a reference that may lack a group but not all."""
    k = draw(st.integers(2, groups))
    counts = draw(st.lists(st.integers(0, largest), min_size=k, max_size=k))
    return counts, draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any))


def test_order_of_groups_of_accuracies_changes_nothing() -> None:
    table = np.array([[8, 4, 6, 1], [2, 6, 6, 1], [1, 0, 0, 3], [0, 5, 0, 1]])
    assert accuracy_disparity(*table[:, [2, 0, 3, 1]]) == accuracy_disparity(*table)


def test_merging_groups_of_like_accuracy_changes_nothing() -> None:
    assert accuracy_disparity([4, 4, 6], [1, 1, 6], [0] * 3, [0] * 3)[0] == pytest.approx(
        accuracy_disparity([8, 6], [2, 6], [0] * 2, [0] * 2)[0]
    )


@thorough
@given(cases())
def test_a_divergence_is_the_square_of_scipys_distance(case: tuple[list[int], list[int]]) -> None:
    from scipy.spatial.distance import jensenshannon

    counts, reference = case
    if sum(counts):
        # SciPy loses half of the digits in the square root near 0
        assert distance(counts, reference) == pytest.approx(float(jensenshannon(counts, reference)) ** 2, abs=1e-7)  # type: ignore[arg-type]


def test_a_reference_is_divided_by_its_sum() -> None:
    # the printed US skin row of astronauts adds up to 96.6
    shares = [66.80, 23.30, 6.50]
    assert distance([5, 3, 2], shares) == pytest.approx(distance([5, 3, 2], [x / 96.6 for x in shares]))


def test_order_and_scale_of_a_divergence_change_nothing() -> None:
    pairs = list(zip([5, 3, 2], [0.2, 0.2, 0.6], strict=True))
    found = [distance([c for c, _ in order], [q for _, q in order]) for order in permutations(pairs)]
    assert found == pytest.approx([found[0]] * 6, abs=SLACK)
    assert distance([50, 30, 20], [1, 1, 3]) == pytest.approx(found[0], abs=SLACK)


def test_merging_two_groups_never_raises_a_divergence() -> None:
    assert distance([5, 3 + 2], [0.2, 0.8]) <= distance([5, 3, 2], [0.2, 0.2, 0.6])


def test_order_of_groups_and_scale_change_nothing() -> None:
    assert len({float(representation_disparity(order)[0]) for order in permutations([5, 3, 2, 0])}) == 1
    assert np.array(representation_disparity([50, 30, 20])) == pytest.approx(
        np.array(representation_disparity([5, 3, 2]))
    )


def test_order_of_groups_and_names_of_classes_change_nothing() -> None:
    counts, unmappable, missing = np.array([[5, 5, 1], [2, 8, 0], [3, 3, 3]]), np.array([1, 0, 2]), np.array([0, 3, 1])
    expected = statistical_parity_difference(counts, unmappable, missing)
    order = [2, 0, 1]
    assert statistical_parity_difference(counts[order], unmappable[order], missing[order]) == expected
    assert statistical_parity_difference(counts[:, order], unmappable, missing) == expected


def test_merging_groups_of_like_answers_changes_nothing() -> None:
    split = statistical_parity_difference([[5, 5], [5, 5], [2, 8]], [0] * 3, [0] * 3)
    assert statistical_parity_difference([[10, 10], [2, 8]], [0] * 2, [0] * 2) == pytest.approx(split)


def test_order_and_merging_of_kinds_change_nothing() -> None:
    drift, counts, low, high, free = [0.5, -0.25, 0.0], [1, 3, 2], [-0.5, -1.0], [0.75, 0.25], [2, 1]
    expected = stereotype_drift(drift, counts, low, high, free)
    assert stereotype_drift(drift[::-1], counts[::-1], low[::-1], high[::-1], free[::-1]) == expected
    assert stereotype_drift([*drift, 0.5], [0, 3, 2, 1], [*low, -0.5], [*high, 0.75], [1, 1, 1]) == expected
