"""Columns of Parquet at the ends of their types, and texts at their limits."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairspace.submissions.format.collector import Collector, RefusedError
from fairspace.submissions.format.schema import SCHEMAS
from fairspace.submissions.reading.limits import LIMITS, Limits
from fairspace.submissions.reading.parquet import read_parquet

RESPONSES = {"task": ["t"] * 4, "id": ["a", "b", "c", "d"], "response": ["w", "x", None, "z"]}


def read(
    columns: dict[str, Any] | pa.Table, table: str = "responses", limits: Limits = LIMITS, **how: Any
) -> tuple[pa.Table, list[int], list[tuple[str, str]], list[tuple[int, int]]]:
    """The rows, their numbers, codes and places of the faults, and what was spent."""
    stream, faults = BytesIO(), Collector(LIMITS.faults)
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), stream, **how)
    spent: list[tuple[int, int]] = []
    pieces = list(
        read_parquet(
            stream, "f", (table, SCHEMAS[table]), limits, faults, lambda size, rows: spent.append((size, rows))
        )
    )
    rows = pa.concat_tables([SCHEMAS[table].empty_table(), *(piece for piece, _ in pieces)])
    numbers = [int(number) for _, places in pieces for number in places.to_pylist()]
    return rows, numbers, [(fault.code, fault.where) for fault in faults.all()], spent


@pytest.mark.parametrize(
    ("kind", "numbers", "good"),
    [
        (pa.int64(), [-(2**31), 2**31 - 1, 2**31, -(2**31) - 1], 2),
        (pa.uint64(), [0, 2**31 - 1, 2**31, 2**64 - 1], 2),
        (pa.uint32(), [0, 2**31 - 1, 2**31, 2**32 - 1], 2),
        (pa.int8(), [-128, 127, 0, 1], 4),
    ],
    ids=str,
)
def test_integers_of_32_bits_are_read_whatever_their_column(kind: pa.DataType, numbers: list[int], good: int) -> None:
    rows, places, faults, _ = read(RESPONSES | {"sample": pa.array(numbers, kind)})
    assert rows["sample"].to_pylist() == numbers[:good]
    assert places == list(range(1, good + 1))
    assert [code for code, _ in faults] == (["HUGE_NUMBER"] if good < 4 else [])
    assert all("row 3" in where for _, where in faults)


@pytest.mark.parametrize(("together", "reads"), [(3, [2, 2]), (4, [4])])
def test_numbers_of_rows_go_on_over_row_groups_and_nulls_are_no_numbers(
    together: int, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairspace.submissions.reading.parquet.ROWS", together)
    sample = pa.array([0, None, 2**40, 3], pa.int64())
    rows, places, faults, spent = read(RESPONSES | {"sample": sample}, row_group_size=2)
    assert rows["id"].to_pylist() == ["a", "d"]
    assert places == [1, 4]
    assert {code for code, _ in faults} == {"NULL_VALUE", "HUGE_NUMBER"}
    assert [number for _, number in spent] == reads


def test_what_a_row_group_costs_is_its_texts_spelt_out() -> None:
    """Eight bytes a row and column, and each text as often as it stands there; nulls have none."""
    columns = {
        "task": ["t"] * 4,
        "id": ["aa", "aa", "aa", "b"],
        "sample": [0, 1, 2, 0],
        "response": ["x", None, None, "é"],
    }
    spent = read(columns)[3]
    assert spent == [(4 * 4 * 8 + 4 * 1 + 3 * 2 + 1 + 1 + 2, 4)]


@pytest.mark.parametrize(("most", "refused"), [(5, False), (4, True)])
def test_a_text_may_be_as_long_as_a_row(most: int, refused: bool) -> None:
    limits = replace(LIMITS, row_bytes=most)
    columns = RESPONSES | {"sample": [0] * 4, "response": ["12345", "é", None, ""]}
    if refused:
        with pytest.raises(RefusedError, match="a text of 5 bytes") as raised:
            read(columns, limits=limits)
        assert raised.value.code == "ROW_TOO_LONG"
    else:
        assert read(columns, limits=limits)[0].num_rows == 4


def test_numbers_that_are_none_and_texts_with_nul_leave_their_rows_out() -> None:
    annotations = {
        "task": ["t"] * 4,
        "id": ["a", "b", "c", "d"],
        "sample": [0] * 4,
        "face": [0] * 4,
        "status": ["ok"] * 4,
        "image_quality": [0.5, np.nan, np.inf, None],
    }
    rows, places, faults, _ = read(annotations, "annotations")
    assert rows["image_quality"].to_pylist() == [0.5, None]
    assert places == [1, 4]
    assert [code for code, _ in faults] == ["NOT_FINITE"]
    rows, places, faults, _ = read(RESPONSES | {"sample": [0] * 4, "response": ["a", "b\0", None, "\0"]})
    assert places == [1, 3]
    assert [code for code, _ in faults] == ["NUL_IN_TEXT"]


@pytest.mark.parametrize(
    ("columns", "codes"),
    [
        ({"task": ["t"], "id": ["a"]}, ["MISSING_FIELD", "MISSING_FIELD"]),
        ({"task": ["t"], "id": ["a"], "sample": [0], "response": ["x"], "other": [1]}, ["UNKNOWN_FIELD"]),
        ({"task": ["t"], "id": ["a"], "sample": [0.0], "response": ["x"]}, ["WRONG_TYPE"]),
        ({"task": ["t"], "id": [1], "sample": [0], "response": ["x"]}, ["WRONG_TYPE"]),
        ({"task": ["t"], "id": ["a"], "sample": [0], "response": pa.nulls(1)}, []),
    ],
)
def test_columns_that_do_not_fit_are_faults(columns: dict[str, Any], codes: list[str]) -> None:
    rows, _, faults, _ = read(columns)
    assert [code for code, _ in faults] == codes
    assert rows.num_rows == (0 if codes else 1)


def test_a_column_that_stands_there_twice_is_a_fault() -> None:
    twice = pa.Table.from_arrays(
        [pa.array(["t"]), pa.array(["a"]), pa.array([0]), pa.array(["x"]), pa.array(["y"])],
        names=["task", "id", "sample", "response", "response"],
    )
    assert [code for code, _ in read(twice)[2]] == ["DUPLICATE_FIELD"]


def test_bytes_that_are_no_text_are_refused() -> None:
    broken = pa.array([b"a", b"\xff\xfe"], pa.binary()).view(pa.string())
    columns = {"task": ["t"] * 2, "id": ["a", "b"], "sample": [0] * 2, "response": broken}
    with pytest.raises(RefusedError) as raised:
        read(pa.table(columns))
    assert raised.value.code == "BROKEN_UTF8"
