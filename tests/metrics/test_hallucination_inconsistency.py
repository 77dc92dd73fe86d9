import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.hallucination_inconsistency.formula import hallucination_inconsistency
from tests.metrics.intervals import SLACK, assert_encloses, assert_only_widens, thorough

Pairs = tuple[int, int, int]
PAIRS = st.tuples(*[st.integers(0, 8)] * 3)
"""Inconsistent, consistent and missing pairs."""


def measure(pairs: Pairs) -> tuple[float, float, float]:
    return hallucination_inconsistency(pairs[0], pairs[0] + pairs[1], pairs[2])


def test_hand_derived_value() -> None:
    # (right, wrong), (right, right), (wrong, wrong), (wrong, right)
    assert hallucination_inconsistency(2, 4, 0) == (0.5, 0.5, 0.5)


def test_extremes() -> None:
    assert hallucination_inconsistency(0, 7, 0) == (0, 0, 0)
    assert hallucination_inconsistency(7, 7, 0) == (1, 1, 1)


def test_a_missing_pair_is_inconsistent_in_the_worst_case() -> None:
    assert hallucination_inconsistency(1, 3, 1) == (1 / 3, 0.25, 0.5)


def test_no_pair_is_undefined_not_0() -> None:
    for missing in (0, 5):
        value, low, high = hallucination_inconsistency(0, 0, missing)
        assert math.isnan(value)
        assert (low, high) == (0, 1)


@pytest.mark.parametrize("arguments", [(4, 3, 0), (-1, 3, 0), (1, 3, -1), (math.nan, 3, 0)])
def test_senseless_numbers_are_refused(arguments: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="pairs"):
        hallucination_inconsistency(*arguments)


@thorough
@given(PAIRS, st.data())
def test_missing_pairs_only_widen_the_interval_around_the_value(pairs: Pairs, data: st.DataObject) -> None:
    assert_encloses(measure(pairs))
    kept = [data.draw(st.integers(0, n)) for n in pairs[:2]]
    assert_only_widens(measure(pairs), measure((kept[0], kept[1], sum(pairs) - sum(kept))))


@thorough
@given(PAIRS.filter(any))
def test_bounds_are_the_extremes_over_all_completions(pairs: Pairs) -> None:
    found = [(pairs[0] + extra) / sum(pairs) for extra in range(pairs[2] + 1)]
    _, low, high = measure(pairs)
    assert (low, high) == pytest.approx((min(found), max(found)), abs=SLACK)
