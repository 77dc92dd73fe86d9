"""Attacks by trying again and again: the best of many attempts ranks no better than one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.result_events import result_draft
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.results.attempts import expected_maximum
from fairspace.submissions.results.ranked_errors import ranked_errors
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


@pytest.mark.parametrize(("n", "printed"), [(1, 0.0), (2, 0.56419), (3, 0.84628), (10, 1.53875), (100, 2.50759)])
def test_expected_maxima_are_those_of_the_tables(n: int, printed: float) -> None:
    assert expected_maximum(n) == pytest.approx(printed, abs=1e-4)


def test_the_best_of_a_hundred_equal_models_gains_nothing() -> None:
    scores = np.random.default_rng(0).normal(0.0, 1.0, (2_000, 100)).max(axis=1)
    assert scores.mean() > 2.4
    assert abs(scores.mean() - expected_maximum(100)) < 0.05


def test_the_newest_attempt_is_ranked_and_allows_for_those_before(state: State) -> None:
    honest = add(state, "honest", "1", "bob")
    tries = [add(state, model, revision, "eve") for model, revision in (("mine", "1"), ("Mine", "2"), ("MI-NE", "3"))]
    found = rows(state)
    assert [found[entry].attempt for entry in (honest, *tries)] == [1, 1, 2, 3]
    assert [found[entry].rank for entry in (honest, *tries)] == [1, None, None, 2]
    assert found[tries[0]].unranked == (f"an earlier attempt at this model; its newest is row {tries[2]}",)
    last, first = found[tries[2]], found[honest]
    assert last.ranked is not None
    assert first.ranked is not None
    [error] = ranked_errors([last], BENCH, state_standard(last))
    assert error > 0
    assert last.ranked - first.ranked == pytest.approx(expected_maximum(3) * error)
    assert last.remarks == ("attempt 3 at this model: its rank allows for the best of 3",)


def state_standard(row: Row) -> str:
    assert row.result is not None
    return row.result.standard


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
