"""Scoring reads each table of a submission once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.short_answers import item_index
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.scoring import score_submission


def one_in_48(rows: pa.Table) -> pa.Table:
    """Rows of every task, and few narratives to parse."""
    return rows.take(list(range(0, rows.num_rows, 48)))


@pytest.mark.parametrize("benchmark", ["fact_or_fair", "genres", "stereotypical_bias"])
def test_scoring_reads_the_rows_of_each_task_once(
    benchmark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_submission(write_baseline("random", benchmark, tmp_path / "baseline"))
    submission = replace(whole, tables={name: one_in_48(rows) for name, rows in whole.tables.items()})
    reads: Counter[tuple[str, str]] = Counter()
    select = Submission._select

    def counted(self: Submission, table: str, task: str) -> pa.Table:
        reads[table, task] += self is submission  # with reading errors, another submission is measured
        return select(self, table, task)

    monkeypatch.setattr(Submission, "_select", counted)
    score_submission(submission, resamples=100)
    assert set(reads.values()) == {1}
    assert {table for table, _ in reads} >= set(submission.tables)


@pytest.mark.parametrize("rows", [["a", "b", "c"], ["c", "a", "b"], ["b", "a", "a"], ["b"], []], ids="".join)
def test_each_row_finds_its_item_whatever_the_order_and_number_of_rows(rows: list[str]) -> None:
    ids = ["b", "c", "a"]
    table = pa.table({"id": pa.chunked_array([pa.array(rows[:2], pa.string()), pa.array(rows[2:], pa.string())])})
    assert item_index(pa.array(ids), table).tolist() == [ids.index(row) for row in rows]
