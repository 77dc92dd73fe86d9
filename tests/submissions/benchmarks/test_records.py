"""Scoring reads each table of a submission once, and items of no dataset revision that a benchmark does not have."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from fairspace.builders.errors import BuildError
from fairspace.submissions.benchmarks.baselines import write_baseline
from fairspace.submissions.benchmarks.registry import NAMES, benchmark
from fairspace.submissions.benchmarks.short_answers import item_index
from fairspace.submissions.checking.submission import read_submission
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.scoring import score_submission
from fairspace.submissions.running.asking.inspect_task import Chosen
from fairspace.submissions.running.asking.parts import parts


def one_in_48(rows: pa.Table) -> pa.Table:
    """Rows of every task, and few narratives to parse."""
    return rows.take(list(range(0, rows.num_rows, 48)))


@pytest.mark.parametrize("name", ["fact_or_fair", "genres", "stereotypical_bias"])
def test_scoring_reads_the_rows_of_each_task_once(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_submission(write_baseline("random", name, tmp_path / "baseline"))
    submission = replace(whole, tables={table: one_in_48(rows) for table, rows in whole.tables.items()})
    reads: Counter[tuple[str, str]] = Counter()
    select = Submission._select

    def counted(self: Submission, table: str, task: str) -> pa.Table:
        reads[table, task] += 1
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


@pytest.mark.parametrize("name", NAMES)
def test_ids_and_items_of_an_unknown_revision_are_refused(name: str) -> None:
    bench = benchmark(name)
    for task in bench.tasks:
        for revision in bench.revisions:
            assert len(task.ids(revision)) or revision != bench.revisions[0]
        for find in (task.ids, *([] if task.items is None else [task.items])):
            with pytest.raises(BuildError, match=r"REVISION_UNKNOWN at dataset .*'v99'"):
                find("v99")
    with pytest.raises(BuildError, match="REVISION_UNKNOWN"):
        bench.items("v99")


@pytest.mark.parametrize(
    ("name", "options"), [("fact_or_fair", {}), ("genres", {"text_only": True}), ("iris", {"tasks": ["tournament"]})]
)
def test_an_unknown_revision_is_not_asked(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(BuildError, match="REVISION_UNKNOWN"):
        parts(name, None, revision="v99", **options)


def test_the_authors_own_genres_pairs_are_scored_and_not_asked() -> None:
    assert len(benchmark("genres").task("narrative").ids("upstream")) == 1440
    assert benchmark("genres").items("upstream") == {}  # so that their answers are read and scored without the prompts
    with pytest.raises(BuildError, match="'upstream'"):
        parts("genres", None, revision="upstream", text_only=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_newest_revision_is_asked(name: str) -> None:
    assert Chosen(name).revision == benchmark(name).revisions[0]
