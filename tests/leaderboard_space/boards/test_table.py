from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import QueryParams

from fairspace.leaderboard_space.boards.table import BoardColumn, BoardTable, board_table
from fairspace.leaderboard_space.boards.views import BoardQuery
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from tests.leaderboard_space.factory import result

BENCHMARK = "fact_or_fair"


@pytest.fixture
def state(tmp_path: Path) -> State:
    state = State(LocalStorage(tmp_path))
    for number, answers in enumerate(("random", "constant", "stereotyped", "balanced", "random")):
        add(state, f"model {number}", answers)
    return state


def add(state: State, model: str, answers: Any) -> None:
    draft, files = result_draft(result(BENCHMARK, answers, model), own=True)
    state.storage.append([draft], files)
    state.refresh()


def query(text: str = "") -> BoardQuery:
    return BoardQuery.read(QueryParams(text), BENCHMARK)


def table(state: State) -> BoardTable:
    return board_table(state, query())[1]


def in_order(rows: Sequence[Row], column: BoardColumn, falling: bool, standard: str) -> list[str]:
    """Entries by class, then by key, missing keys last; equal ones keep their order."""
    keys = [column.sort_by(row) for row in with_errors(rows, standard)]
    pairs = [(key, row) for key, row in zip(keys, rows, strict=True) if key is not None]
    ordered = [row for _, row in sorted(pairs, key=lambda pair: pair[0], reverse=falling)]
    ordered += [row for key, row in zip(keys, rows, strict=True) if key is None]
    return [row.entry for row in sorted(ordered, key=lambda row: row.part)]


def test_every_order_of_every_snapshot_is_that_of_the_keys(state: State) -> None:
    for again in range(2):
        made = table(state)
        for column in made.columns.values():
            for falling in (False, True):
                sort = f"-{column.key}" if falling else column.key
                expected = in_order(made.rows, column, falling, query().standard)
                assert [row.entry for row in made.select(query(f"sort={sort}"))] == expected, (again, sort)
        add(state, "a later model", "balanced")
