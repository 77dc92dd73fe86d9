from dataclasses import replace
from pathlib import Path

import pytest

from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.results.row import Row
from tests.submissions.results.test_tiers import BENCH, result, waves


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(LocalStorage(tmp_path / "store"))


def add(state: State, model: str, revision: str, user: str) -> str:
    scored = result(model, 0.3, waves(0.02, 3), revision=revision)
    draft, files = result_draft(replace(scored, signature={**scored.signature, "submission": revision}), user)
    entry = str(draft.body["entry"])
    released = Draft("released", f"released:{entry}", {"entry": entry, "by": "m", "reason": "for the test"})
    state.storage.append([draft, released], files)
    state.refresh()
    return entry


def rows(state: State) -> dict[str, Row]:
    return {row.entry: row for row in state.board(BENCH) if row.result is not None}


def test_the_newest_attempt_is_ranked_and_those_before_are_counted(state: State) -> None:
    honest = add(state, "honest", "1", "bob")
    tries = [add(state, model, revision, "eve") for model, revision in (("mine", "1"), ("Mine", "2"), ("MI-NE", "3"))]
    found = rows(state)
    assert [found[entry].attempt for entry in (honest, *tries)] == [1, 1, 2, 3]
    assert [found[entry].rank for entry in (honest, *tries)] == [1, None, None, 1]
    assert found[tries[0]].unranked == (f"an earlier attempt at this model; its newest is row {tries[2]}",)
    assert found[tries[2]].ranked == found[honest].ranked


def test_withdrawn_attempts_count_and_leave_a_trace_and_other_accounts_count_for_nothing(state: State) -> None:
    first = add(state, "mine", "1", "eve")
    event = {"entry": first, "by": "m", "reason": "asked for"}
    state.storage.append([Draft("withdrawn", "withdrawn:x:1", event)])
    second = add(state, "mine", "2", "eve")
    other = add(state, "mine", "3", "ada")
    found = rows(state)
    assert (found[second].attempt, found[second].account_attempt, found[other].attempt) == (2, 2, 1)
    assert [logged.entry for logged in state.withdrawn(BENCH)] == [first]
    assert [logged.entry for logged in state.withdrawn_attempts(second)] == [first]
    assert state.withdrawn_attempts(other) == []
