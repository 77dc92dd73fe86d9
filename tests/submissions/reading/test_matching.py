import pyarrow as pa
import pytest

from fairspace.submissions.reading.canonical import matched


def table(*rows: tuple[str, int]) -> pa.Table:
    return pa.table({"id": pa.array([name for name, _ in rows], pa.string()), "sample": [number for _, number in rows]})


@pytest.mark.parametrize(
    ("rows", "among", "expected"),
    [
        ([("a", 0), ("b", 1)], [("b", 1), ("a", 0)], [1, 0]),
        ([("a", 1), ("b", 0)], [("a", 0), ("b", 1)], [-1, -1]),
        ([("z", 9), ("a", 0), ("0", -1)], [("a", 0), ("b", 1)], [-1, 0, -1]),
        ([("a", 0), ("a", 0)], [("b", 0), ("a", 0), ("a", 0)], [1, 1]),
        ([("a", 5), ("a", 6), ("b", 5)], [("b", 5)], [-1, -1, 0]),
        ([("a", 0)], [], [-1]),
        ([], [("a", 0)], []),
    ],
)
def test_rows_are_matched_with_the_first_of_the_same_keys(
    rows: list[tuple[str, int]], among: list[tuple[str, int]], expected: list[int]
) -> None:
    own = table(*rows) if rows else table(("a", 0)).slice(0, 0)
    others = table(*among) if among else table(("a", 0)).slice(0, 0)
    assert matched(own, others, ["id", "sample"]).tolist() == expected
