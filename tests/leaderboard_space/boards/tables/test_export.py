"""A cell of CSV never begins a formula, also where it is made of a list."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.leaderboard_space.boards.tables import export
from fairspace.leaderboard_space.boards.tables.export import as_csv
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.results.board import published_rows
from fairspace.submissions.results.by_result import ByResult
from fairspace.submissions.results.row_errors import with_errors
from tests.leaderboard_space.boards.tables.test_table import add


def test_no_text_of_a_list_begins_a_formula(tmp_path: Path) -> None:
    state = State(LocalStorage(tmp_path))
    row = replace(
        published_rows("stereotypical_bias", "inaugural")[0],
        unranked=("=cmd()", "@SUM(A1)"),
        remarks=("plain", " +1"),
        tier=3,
    )
    (cells,) = csv.DictReader(io.StringIO(as_csv([row], state).decode("utf-8-sig"), newline=""))
    assert cells["unranked"] == "'=cmd(); '@SUM(A1)"
    assert cells["remarks"] == "plain;  '+1"
    assert cells["tier"] == "3"
    assert cells["by"] == ""


def test_a_line_that_was_kept_has_the_cells_of_a_fresh_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a new row, of the other columns of two tables, and of rows in another order."""
    state = State(LocalStorage(tmp_path))
    add(state, "model 1", "random")
    add(state, "=model 2", "stereotyped")

    def downloaded() -> list[bytes]:
        rows = with_errors(state.board("fact_or_fair", "inaugural"), "inaugural")
        some = [row for row in rows if row.result is not None]
        return [as_csv(rows, state), as_csv(rows[::-1], state, {"adjusted": "by us"}), as_csv(some, state)]

    before = downloaded()
    assert downloaded() == before
    add(state, "model 3", "balanced")
    kept = downloaded()
    monkeypatch.setattr(export, "_LINES", ByResult())
    assert downloaded() == kept != before
    lines = [len(line) for line in csv.reader(io.StringIO(kept[0].decode("utf-8-sig"), newline=""))]
    assert len(set(lines)) == 1
