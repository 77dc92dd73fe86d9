"""Scores in events: a board shows what scoring the values again gives, without doing so and without their files."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from fairspace.leaderboard_space.boards.figures import FigureInput
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import result_draft, shown_values
from fairspace.leaderboard_space.state import LogState, State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results import scoring
from fairspace.submissions.results.board import UNSCORABLE
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.shipped import shipped_results
from fairspace.submissions.results.three_numbers import is_biased
from fairspace.submissions.values import Value
from tests.leaderboard_space.factory import earlier_draft, result
from tests.papers import NAMES
from tests.submissions.benchmarks.iris.results import iris_result

Made = Callable[[Result], tuple[Draft, dict[str, bytes]]]
RELEASED = [(name, of.name) for name in NAMES for of in find_benchmark(name).standards.values() if not of.draft]
DRAFTS = [(name, of.name) for name in NAMES for of in find_benchmark(name).standards.values() if of.draft]


@cache
def results() -> list[Result]:
    iris = [iris_result(name, name, error=error) for name, error in (("one", 0.1), ("two", 0.4))]
    limited = replace(iris[0], meta={**iris[0].meta, "model": "limited", "generation": {"limit": 50}})
    made = [*shipped_results(), *iris, limited, result("fact_or_fair", "constant", "constant")]
    assert {each.benchmark for each in made} == set(NAMES)
    return made


def state_of(root: Path, made: Made, **body: str) -> State:
    storage = LocalStorage(root)
    for draft, files in map(made, results()):
        storage.append([replace(draft, body={**draft.body, **body})], files)
    state = State(storage)
    state.refresh()
    return state


def own_draft(scored: Result) -> tuple[Draft, dict[str, bytes]]:
    return result_draft(scored, own=True)


@pytest.fixture(scope="module")
def slim(tmp_path_factory: pytest.TempPathFactory) -> State:
    return state_of(tmp_path_factory.mktemp("slim"), own_draft)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> State:
    return state_of(tmp_path_factory.mktemp("earlier"), earlier_draft)


def shown(state: State, name: str, standard: str) -> dict[str, Any]:
    """All that tables and figures of a board show of its rows."""
    rows = state.board(name, standard)
    with_them = with_errors(rows, standard)
    view, source = VIEWS[name], FigureInput(state, name, standard, rows)
    parts = view.slices.values()
    columns = [column for part in parts for column in (part.total, *part.columns, *(part.fair or ()))]
    bench = find_benchmark(name)
    verdicts = [
        [is_biased(value, bench.ideal(value.name, standard), row.values) for value in row.scores.values()]
        for row in with_them
    ]
    return {
        "rows": [without_result(row) for row in with_them],
        "cells": [[column.of(row) for column in columns] for row in with_them],
        "verdicts": verdicts,
        "figures": {figure.name: figure.draw(source).table.rows for figure in view.figures if not figure.needs},
    }


def without_result(row: Row) -> Row:
    return replace(row, result=None, values={})


def test_boards_of_new_events_are_those_of_earlier_ones_and_are_neither_scored_nor_read(
    slim: State, earlier: State
) -> None:
    forbidden = AssertionError("scored again, or read from its file")
    with (
        mock.patch.object(scoring, "_scored", side_effect=forbidden),
        mock.patch.object(LocalStorage, "read", side_effect=forbidden),
    ):
        boards = {board: shown(slim, *board) for board in RELEASED}
    for board, parts in boards.items():
        assert parts == shown(earlier, *board), board
    assert any(row.tier is not None for parts in boards.values() for row in parts["rows"])
    assert slim.snapshot() == earlier.snapshot()


def test_events_of_another_version_and_drafts_are_scored_from_the_files_as_earlier_events_from_their_values(
    tmp_path: Path,
) -> None:
    states = [state_of(tmp_path / made.__name__, made, scored_by="0.0.1") for made in (own_draft, earlier_draft)]
    for board in (*RELEASED, *DRAFTS):
        assert shown(states[0], *board) == shown(states[1], *board), board
    assert not any(entry.is_scored for state in states for entry in state.entries())


def test_values_that_no_board_shows_are_those_of_the_file(slim: State, earlier: State) -> None:
    for entry in slim.entries():
        logged, every = entry.result.values, earlier._folded.entries[entry.entry].result.values
        assert dict(logged) == dict(every)
        assert len(logged) == len(every)
        assert "no such value" not in logged
        names = shown_values(entry.benchmark)
        with mock.patch.object(LocalStorage, "read", side_effect=AssertionError("read")):
            assert {name: logged.get(name) for name in names} == {name: every.get(name) for name in names}


def test_a_lost_file_costs_the_scores_that_no_event_has(tmp_path: Path) -> None:
    state = state_of(tmp_path, own_draft)
    for file in (tmp_path / "results").rglob("*.json"):
        file.unlink()
    assert all(row.unranked != (UNSCORABLE,) for row in state.board("iris", "bounded"))
    rows = [row for row in state.board(*DRAFTS[0]) if row.result is not None]
    assert {(row.rank, row.unranked[0]) for row in rows} == {(None, UNSCORABLE)}


def test_without_rows_a_state_knows_the_same_entries_and_keeps_none_of_their_parts(slim: State, earlier: State) -> None:
    for full in (slim, earlier):
        bare = State(full.storage, rows=False)
        bare.refresh()
        for mine, theirs in zip(bare.entries(), full.entries(), strict=True):
            assert (mine.packed, mine.result.draws) == (b"", None)
            assert replace(mine, packed=b"", result=theirs.result) == replace(theirs, packed=b"")
            assert mine.result.meta == theirs.result.meta
            assert mine.result.signature == theirs.result.signature


def test_an_event_has_a_sixth_of_its_former_size(slim: State, earlier: State) -> None:
    sizes = [[len(event.line()) for event in state.storage.events(0)] for state in (slim, earlier)]
    assert 6 * sum(sizes[0]) < sum(sizes[1])


def test_scores_of_another_version_are_not_believed(slim: State) -> None:
    folded = LogState()
    for event in slim.storage.events(0):
        folded.fold(replace(event, body={**event.body, "scored_by": "0.0.1"}))
    assert not any(entry.is_scored for entry in folded.entries.values())


def test_names_that_boards_show_exist() -> None:
    for name in ("fact_or_fair", "genres"):
        measured: Mapping[str, Value] = {}
        for each in results():
            measured = {**measured, **each.values, **each.scored.scores} if each.benchmark == name else measured
        kinds = shown_values(name) - measured.keys()
        assert all("t2i" in kind or kind.startswith("average") for kind in kinds), kinds
