"""What the log says of a submission that was tried more than once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space.events import Draft, Kind
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage

ABOUT = {"user": "ada", "organisation": "", "sha256": "0" * 64, "size": 1}


def folded(folder: Path, *events: tuple[Kind, int, dict[str, Any]]) -> Submission:
    """The only submission of a log of these (kind, attempt, what the event says)."""
    storage = LocalStorage(folder)
    for number, (kind, attempt, body) in enumerate(events):
        storage.append([Draft(kind, str(number), {"id": "one", "attempt": attempt, **body})])
    state = State(storage)
    state.refresh()
    (submission,) = state.submissions()
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
