import math

import numpy as np
import pytest

from fairspace.metrics.columns import (
    MetricInputError,
    check_count,
    check_lengths,
    check_names,
    cross_count,
    distinct,
    encode,
    mean_of,
    numbers,
    outcome,
)


def test_labels_become_places_and_missing_ones_minus_1() -> None:
    assert encode(["b", "", "a", None], "column", ["a", "b"]).tolist() == [1, -1, 0, -1]
    assert encode(np.array(["b", "a"]), "column", ["a", "b"]).tolist() == [1, 0]  # type: ignore[arg-type]


@pytest.mark.parametrize("label", ["c", 1, math.nan, ["a"], ""])
def test_a_label_that_is_not_in_the_list_is_an_error_with_its_row(label: object) -> None:
    with pytest.raises(MetricInputError, match=r"^METRIC_UNKNOWN_LABEL: column\[1\]"):
        encode(["a", label], "column", ["a", "b"], missing=False)


def test_distinct_labels_are_sorted_and_without_missing_ones() -> None:
    assert distinct(["b", "", "a", None, "b"], "column") == ("a", "b")
    with pytest.raises(MetricInputError, match="METRIC_LABEL_TYPE"):
        distinct(["a", 0], "column")


@pytest.mark.parametrize("names", [None, "ab", ["a"], ["a", "a"], ["a", ""], ["a", 1]])
def test_a_list_of_names_must_be_two_different_words_or_more(names: object) -> None:
    with pytest.raises(MetricInputError, match="METRIC_NAMES"):
        check_names(names, "groups")  # type: ignore[arg-type]


def test_lengths_must_agree() -> None:
    assert check_lengths(a=[1, 2], b=("x", "y")) == 2
    with pytest.raises(MetricInputError, match=r"METRIC_LENGTH: .*'a': 2, 'b': 1"):
        check_lengths(a=[1, 2], b=[1])


def test_numbers_keep_missing_ones_and_refuse_others_outside_the_range() -> None:
    assert np.isnan(numbers([1, None, math.nan], "column", 0, 1)).tolist() == [False, True, True]
    with pytest.raises(MetricInputError, match=r"METRIC_RANGE: column\[2\] is 7, outside \[0, 1\]"):
        numbers([1, None, 7], "column", 0, 1)


@pytest.mark.parametrize("count", [-1, 1.0, True, "3", None])
def test_a_count_is_a_whole_number(count: object) -> None:
    with pytest.raises(MetricInputError, match="METRIC_COUNT"):
        check_count(count, "missing")


def test_cross_count_is_a_table_and_the_missing_of_each_row() -> None:
    table, missing = cross_count(np.array([0, 0, 1, 1, 1]), 3, np.array([0, 1, 1, 1, -1]), 2)
    assert table.tolist() == [[1, 1], [0, 2], [0, 0]]
    assert missing.tolist() == [0, 1, 0]


def test_mean_leaves_undefined_rows_out_of_the_value_only() -> None:
    value, low, high = np.array([1.0, math.nan]), np.array([0.5, 0.0]), np.array([1.0, 1.0])
    assert mean_of(value, low, high) == (1.0, 0.25, 1.0)
    assert math.isnan(mean_of(value[1:], low[1:], high[1:])[0])


def test_outcome_of_nan_is_undefined_with_its_reason() -> None:
    result = outcome("x", (math.nan, 0.0, 1.0), valid=0, expected=4, reason="no answer", evidence={"by_group": {}})
    assert result == {
        "x": None,
        "if_missing_low": 0.0,
        "if_missing_high": 1.0,
        "state": "undefined",
        "reason": "no answer",
        "coverage": 0.0,
        "counts": {"expected": 4, "valid": 0, "missing": 4},
        "by_group": {},
    }
    assert outcome("x", (0.5, 0.5, 0.5), valid=0, expected=0, reason="", evidence={})["coverage"] is None
