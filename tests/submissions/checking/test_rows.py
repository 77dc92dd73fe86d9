"""Ranges of labels, at their ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairspace.submissions.checking.submission import check_submission
from fairspace.submissions.format.schema import RANGES
from tests.submissions.sample import annotation_rows, jsonl, meta_bytes, write_folder

pytestmark = pytest.mark.usefixtures("bench")


def codes(folder: Path, column: str, number: float) -> list[str]:
    rows = annotation_rows()
    rows[0][column] = number
    files = {
        "submission.json": meta_bytes(),
        "annotations.jsonl": jsonl(rows),
    }
    return [fault.code for fault in check_submission(write_folder(folder, files)).faults]


@pytest.mark.parametrize(("column", "low", "high"), [(name, low, high) for name, (low, high) in RANGES.items()])
def test_both_ends_of_a_range_belong_to_it(column: str, low: float, high: float, tmp_path: Path) -> None:
    assert codes(tmp_path / "low", column, low) == codes(tmp_path / "high", column, high) == []
    assert (
        codes(tmp_path / "below", column, low - 1e-6)
        == codes(tmp_path / "above", column, high + 1e-6)
        == ["VALUE_RANGE"]
    )
