"""Attacks with scores that are too good: they wait for a maintainer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.result_events import result_draft
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.results.board import board
from fairspace.submissions.results.quarantine import IN_QUARANTINE, quarantined
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import measured
from tests.leaderboard_space.factory import result

BEST = 95.94
"""Of the printed rows of IRIS."""


def handed_in(model: str, number: float, **about: Any) -> Row:
    scores = {"iris_score": measured("iris_score", number)}
    return replace(Row(model, model, "", "scored here", "", scores, ranked=number), **about)


def waiting(*rows: Row, released: tuple[str, ...] = ()) -> set[str]:
    return quarantined([*board("iris", "inaugural"), *rows], "iris", "inaugural", released)


def test_a_score_beyond_every_printed_row_waits_and_what_is_below_does_not() -> None:
    assert waiting(handed_in("forged", 147_306.0), handed_in("honest", 80.0)) == {"forged"}


def test_a_forged_row_lets_in_no_other_and_a_released_one_does() -> None:
    forged = [handed_in("one", 147_306.0), handed_in("two", 147_305.0)]
    assert waiting(*forged) == {"one", "two"}
    assert waiting(*forged, released=("two",)) == {"one"}
    assert waiting(*(replace(row, verified=True) for row in forged)) == set()


def test_without_a_row_that_anybody_answers_for_nothing_waits() -> None:
    assert quarantined([handed_in("one", 147_306.0)], "iris", "inaugural", ()) == set()


def test_a_row_waits_unranked_until_a_maintainer_releases_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = State(LocalStorage(tmp_path / "store"))
    draft, files = result_draft(result("fact_or_fair", "balanced", "too good"), "eve")
    state.storage.append([draft], files)
    state.refresh()
    entry = draft.body["entry"]

    def row() -> Row:
        return next(row for row in state.board("fact_or_fair") if row.entry == entry)

    assert (row().rank, row().ranked, row().unranked) == (None, None, (IN_QUARANTINE,))
    event = maintaining.release(state, entry, User("m"), "we ran a part of it again")
    assert maintaining.release(state, entry, User("m"), "again") == event
    assert (row().rank, row().kept_out) == (1, ())
    again = State(state.storage)
    again.refresh()
    assert again.snapshot() == state.snapshot()
