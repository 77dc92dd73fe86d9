"""Readings of a column, and a reading that is remembered."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pyarrow as pa

from fairspace.submissions.answers.reading import NOT_HANDED_IN, Reading, read_coded_column, read_column, read_once


def test_equal_answers_to_equal_items_are_read_once() -> None:
    read: list[tuple[str, int]] = []

    def reader(answer: str, key: int) -> Reading:
        read.append((answer, key))
        return Reading("choice", key) if answer else Reading("unusable")

    answers = pa.chunked_array([["a", "a", "b"], [None, "a", ""]])
    readings = read_column(answers, [1, 1, 1, 1, 2, 2], reader)
    assert sorted(read) == [("", 2), ("a", 1), ("a", 2), ("b", 1)]
    assert readings.outcomes().tolist() == [0, 0, 0, NOT_HANDED_IN, 0, 3]
    np.testing.assert_array_equal(readings.values(float), [1, 1, 1, np.nan, 2, np.nan])


def test_coded_keys_give_the_readings_of_the_keys_themselves() -> None:
    answers, keys = pa.chunked_array([["b", "a", None], ["b", "a", "b"]]), ["x", "y", "not asked"]
    codes = np.array([1, 0, 1, 0, 0, 1])
    coded = read_coded_column(answers, codes, keys, lambda answer, key: Reading("choice", answer + key))
    plain = read_column(answers, [keys[code] for code in codes], lambda answer, key: Reading("choice", answer + key))
    assert len(coded.distinct) == len(plain.distinct) == 3
    for row, (one, other) in enumerate(zip(coded.place, plain.place, strict=True)):
        assert (one == NOT_HANDED_IN) == (other == NOT_HANDED_IN) == (row == 2)
        assert row == 2 or coded.distinct[one] == plain.distinct[other]


class Given:
    """Something that can be told apart and go away."""


def test_what_was_read_last_is_remembered_as_long_as_it_is_there() -> None:
    times: list[int] = []

    @read_once
    def read(given: Given) -> list[int]:
        """A docstring."""
        times.append(1)
        return [len(times)]

    first, second = Given(), Given()
    assert read(first) is read(first)
    assert read(second) == [2]
    assert read(first) == [3]  # only the last one
    kept = weakref.ref(first)
    del first
    gc.collect()
    assert kept() is None
    assert read(second) == [4]
    assert read.__doc__ == "A docstring."


def test_a_result_does_not_outlive_what_it_was_read_from() -> None:
    class Result:
        """Can be watched."""

    @read_once
    def read(given: Given) -> Result:
        return Result()

    given = Given()
    result = weakref.ref(read(given))
    assert result() is not None
    del given
    gc.collect()
    assert result() is None
