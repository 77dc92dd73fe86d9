"""The log folded: boards, rows, submissions and errors from events, with scores in them or in files beside them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import orjson
import pytest

from fairspace.leaderboard_space import state as state_module
from fairspace.leaderboard_space.boards.figures import FigureInput
from fairspace.leaderboard_space.boards.views import VIEWS
from fairspace.leaderboard_space.events import Draft, Kind, sealed
from fairspace.leaderboard_space.events import Event as LogEvent
from fairspace.leaderboard_space.intake import result_draft, shown_values
from fairspace.leaderboard_space.logged import LoggedRow, LoggedSubmission, board_values, join_errors
from fairspace.leaderboard_space.state import Board, LogState, State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.metrics.intervals import Uncertainty
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results import row_errors, scoring
from fairspace.submissions.results.board import UNSCORABLE, published_rows
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import Errors, with_errors
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.results.shipped import shipped_results
from fairspace.submissions.results.three_numbers import is_biased
from fairspace.submissions.uncertainty.uncertainty import Variant
from fairspace.submissions.values import Value, number_of
from tests.leaderboard_space.factory import add, earlier_draft, result, state_of
from tests.papers import NAMES
from tests.submissions.benchmarks.iris.results import iris_result
from tests.submissions.results.test_tiers import BENCH as TIERS
from tests.submissions.results.test_tiers import result as measured
from tests.submissions.results.test_tiers import waves

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


def state_by(root: Path, made: Made, **body: str) -> State:
    storage = LocalStorage(root)
    for draft, files in map(made, results()):
        storage.append([replace(draft, body={**draft.body, **body})], files)
    return state_of(root)


def own_draft(scored: Result) -> tuple[Draft, dict[str, bytes]]:
    return result_draft(scored, own=True)


@pytest.fixture(scope="module")
def slim(tmp_path_factory: pytest.TempPathFactory) -> State:
    return state_by(tmp_path_factory.mktemp("slim"), own_draft)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> State:
    return state_by(tmp_path_factory.mktemp("earlier"), earlier_draft)


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
    states = [state_by(tmp_path / made.__name__, made, scored_by="0.0.1") for made in (own_draft, earlier_draft)]
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
    state = state_by(tmp_path, own_draft)
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
        values: Mapping[str, Value] = {}
        for each in results():
            values = {**values, **each.values, **each.scored.scores} if each.benchmark == name else values
        kinds = shown_values(name) - values.keys()
        assert all("t2i" in kind or kind.startswith("average") for kind in kinds), kinds


FULL = Uncertainty("image", 52, 200, 3, 0.1, 0.2, 0.6, "bca", 0.25, 0.55, 0.38, 0.05, 0.12, "of images alone")
BARE = Uncertainty("item", 9, 100, 0, 0.0, -1.5, 2.0, "exact", -1.5, 2.0)


def full() -> Result:
    notes = [Variant("judge", name, {"RD_gender": 0.1}, {"RD_gender": (0.0, 0.2)}, "A note. " * 20) for name in "ab"]
    return replace(iris_result("one", "tests", error=0.1), variants=tuple(notes))


def logged(draft: Draft) -> LoggedRow:
    event = sealed(LogEvent(1, "2026-01-31T12:00:00.000Z", draft.kind, draft.key, "", draft.body))
    folded = LogState()
    folded.fold(LogEvent.of_line(event.line()))
    (entry,) = folded.entries.values()
    return entry


def test_a_result_from_an_earlier_log_says_what_the_log_says() -> None:
    given = full()
    draft = earlier_draft(given)[0]
    again, values = logged(draft).result, json.loads(draft.body["result"]["values"])
    assert again.to_json()["draws"] == given.to_json()["draws"]
    assert {name: value.to_json() for name, value in again.values.items()} == values
    assert again.values == board_values(given)
    listed = {**draft.body, "result": {**draft.body["result"], "values": [*values.values()]}}
    assert logged(replace(draft, body=listed)).result.values == again.values


def test_a_new_event_has_neither_values_nor_draws_and_no_part_that_only_the_file_needs() -> None:
    body = result_draft(full())[0].body
    assert body["result"].keys() == {"benchmark", "standard", "meta", "signature"}
    assert b"A note" not in orjson.dumps(body)
    assert logged(Draft("result", "result:x", body)).tasks == tuple(body["tasks"])


def test_the_number_of_a_logged_value_is_that_of_the_value() -> None:
    values = logged(earlier_draft(full())[0]).result.values
    assert {name: number_of(values, name) for name in values} == {name: one.value for name, one in values.items()}
    assert number_of(values, "no such value") is None


def test_errors_from_the_log_are_what_was_logged() -> None:
    errors = Errors({"total": FULL, "part": BARE}, {"profile F": 0.93})
    scored = full()
    content = orjson.dumps({"errors": {scored.standard: json.loads(json.dumps(errors.to_json()))}})
    join_errors(replace(scored, standard="another"), content)
    join_errors(scored, content)
    joined = scored.derived["errors"]
    assert dict(joined.scores) == errors.scores
    assert joined.to_json() == errors.to_json()
    assert ("part" in joined.scores, "other" in joined.scores, len(joined.scores)) == (True, False, 2)
    with pytest.raises(KeyError):
        joined.scores["other"]


ABOUT = {"user": "ada", "organisation": "", "sha256": "0" * 64, "size": 1}


def folded(folder: Path, *events: tuple[Kind, int, dict[str, Any]]) -> LoggedSubmission:
    storage = LocalStorage(folder)
    for number, (kind, attempt, body) in enumerate(events):
        storage.append([Draft(kind, str(number), {"id": "one", "attempt": attempt, **body})])
    (submission,) = state_of(folder).submissions()
    return submission


ACCEPTED: list[tuple[Kind, int, dict[str, Any]]] = [
    ("accepted", 1, {**ABOUT, "clock": "then"}),
    ("failed", 1, {"reason": "It died.", "tries": 3}),
    ("accepted", 2, ABOUT),
]


@pytest.mark.parametrize(("kind", "body"), [("failed", {"reason": "late"}), ("refused", {"faults": []})])
def test_a_late_end_of_an_earlier_attempt_changes_nothing(kind: Kind, body: dict[str, Any], tmp_path: Path) -> None:
    waiting = folded(tmp_path / "before", *ACCEPTED)
    late = folded(tmp_path / "after", *ACCEPTED, (kind, 1, body))
    assert (late.outcome, late.attempt, late.reason, late.failed) == ("waiting", 2, "", ("then",))
    assert (waiting.outcome, waiting.attempt, waiting.failed) == (late.outcome, late.attempt, late.failed)


def test_the_end_of_the_attempt_that_waits_is_its_outcome_and_a_second_end_is_not(tmp_path: Path) -> None:
    ended = folded(tmp_path, *ACCEPTED, ("failed", 2, {"reason": "Again.", "tries": 1}), ("refused", 2, {"faults": []}))
    assert (ended.outcome, ended.reason, ended.tries, ended.faults) == ("failed", "Again.", 1, ())


def scored_row(storage: LocalStorage) -> Row:
    (row,) = (row for row in state_of(storage.root).board(TIERS, "up_to_twenty") if row.result is not None)
    return with_errors([row], "up_to_twenty")[0]


def test_errors_are_made_with_the_result_and_those_of_an_older_log_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = rescore(measured("far", 0.3, waves(0.01, 5)), "up_to_twenty")
    draft, files = result_draft(scored, own=True)
    older = replace(draft, body={**earlier_draft(scored)[0].body, "errors": {}})
    stores = {name: LocalStorage(tmp_path / name) for name in ("new", "old")}
    stores["new"].append([draft], files)
    stores["old"].append([older], files)
    computed = scored_row(stores["old"])
    monkeypatch.setattr(row_errors, "many_score_draws", lambda *given: pytest.fail("computed again"))
    logged = scored_row(stores["new"])
    errors = {name: value.uncertainty for name, value in logged.scores.items()}
    assert any(errors.values())
    for name, value in computed.scores.items():
        again, first = errors[name], value.uncertainty
        assert (again is None) == (first is None)
        if again is not None and first is not None:
            assert (again.low, again.high, again.error) == pytest.approx((first.low, first.high, first.error), rel=1e-5)
    assert logged.chances == pytest.approx(dict(computed.chances))
    found_row = state_of(stores["new"].root).find_row(TIERS, "up_to_twenty", logged.entry)
    shown = with_errors([found_row], "up_to_twenty")[0]
    assert {name: value.uncertainty for name, value in shown.scores.items()} == errors


def test_a_value_of_a_board_is_made_once_until_others_were_made_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(state_module, "MOST", 2)
    board = Board(published_rows("iris", "inaugural"))
    made: list[str] = []

    def of(name: str) -> int:
        def make() -> int:
            made.append(name)
            if made == ["a"]:
                raise ValueError("not yet")
            return len(board)

        return board.get_or_make(name, make)

    with pytest.raises(ValueError, match="not yet"):
        of("a")
    assert [of(name) for name in "abab"] == [len(board)] * 4
    assert made == ["a", "a", "b"]
    assert of("c") == of("b") == len(board) == len(board.by_entry)
    of("a")
    assert made == ["a", "a", "b", "c", "a"]


def test_a_board_and_a_piece_are_made_again_once_what_they_show_has_changed(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    state = State(storage)
    first = state.board(TIERS)
    assert state.board(TIERS) is first
    add(State(storage), rescore(measured("far", 0.3, waves(0.01, 5)), "up_to_twenty"))
    assert state.board(TIERS) is first, "nobody has read the log"
    state.refresh()
    assert (state.version(TIERS), state.version("iris"), state.version()) == (1, 0, 1)
    assert len(state.board(TIERS)) == len(first) + 1
    pieces = [state.piece("line", marks, lambda: [marks]) for marks in (1, 1, 2)]  # noqa: B023 called at once
    assert pieces[0] is pieces[1] is not pieces[2]
