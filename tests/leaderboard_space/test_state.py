from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space import state as state_module
from fairspace.leaderboard_space.events import Draft, Kind
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.state import Board, State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.results import row_errors
from fairspace.submissions.results.board import published_rows
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_errors import with_errors
from fairspace.submissions.results.scoring import rescore
from tests.leaderboard_space.factory import earlier_draft
from tests.submissions.results.test_tiers import BENCH, result, waves

ABOUT = {"user": "ada", "organisation": "", "sha256": "0" * 64, "size": 1}


def folded(folder: Path, *events: tuple[Kind, int, dict[str, Any]]) -> LoggedSubmission:
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


def scored_row(storage: LocalStorage) -> Row:
    state = State(storage)
    state.refresh()
    (row,) = (row for row in state.board(BENCH, "up_to_twenty") if row.result is not None)
    return with_errors([row], "up_to_twenty")[0]


def test_errors_are_made_with_the_result_and_those_of_an_older_log_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = rescore(result("far", 0.3, waves(0.01, 5)), "up_to_twenty")
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
    state = State(stores["new"])
    state.refresh()
    shown = with_errors([state.find_row(BENCH, "up_to_twenty", logged.entry)], "up_to_twenty")[0]
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
    first = state.board(BENCH)
    assert state.board(BENCH) is first
    draft, files = result_draft(rescore(result("far", 0.3, waves(0.01, 5)), "up_to_twenty"), own=True)
    storage.append([draft], files)
    assert state.board(BENCH) is first, "nobody has read the log"
    state.refresh()
    assert (state.version(BENCH), state.version("iris"), state.version()) == (1, 0, 1)
    assert len(state.board(BENCH)) == len(first) + 1
    pieces = [state.piece("line", marks, lambda: [marks]) for marks in (1, 1, 2)]  # noqa: B023 called at once
    assert pieces[0] is pieces[1] is not pieces[2]
