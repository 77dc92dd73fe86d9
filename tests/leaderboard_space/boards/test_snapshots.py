"""Snapshots of boards: when they are made, by which thread, and the answers readers get meanwhile."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from fairspace.leaderboard_space import state
from fairspace.leaderboard_space.state import Board, Snapshots
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.board import published_rows


class Log:
    """Builds boards from the events so far, and counts the builds."""

    def __init__(self) -> None:
        self.came: Any = ("first",)
        self.made = 0
        self.fails = False
        self.waits: threading.Event | None = None
        self.making = threading.Event()

    def board(self, benchmark: str, standard: str) -> Board:
        self.made += 1
        self.making.set()
        if self.waits is not None:
            self.waits.wait(20)
        if self.fails:
            raise ValueError("a board that cannot be made")
        rows: Board = self.came
        return rows


def shown_by(boards: Snapshots) -> Any:
    return boards.rows("iris", "inaugural")


def snapshots(pace: float) -> tuple[Log, Snapshots]:
    """A log with a second event that no snapshot shows yet, and its snapshots."""
    log = Log()
    boards = Snapshots(log.board, pace)
    boards.change("iris", 1)
    assert shown_by(boards) == ("first",)
    log.came += ("second",)
    boards.change("iris", 2)
    return log, boards


def test_without_a_pace_the_next_reader_gets_what_has_come() -> None:
    log, boards = snapshots(0)
    assert shown_by(boards) == ("first", "second")
    assert (boards.version("iris"), boards.version("genres"), log.made) == (2, 0, 2)
    assert not boards.renew("iris")


def test_readers_get_the_snapshot_before_until_the_next_is_made_and_who_misses_a_row_waits_for_it() -> None:
    log, boards = snapshots(60)
    boards.change("iris", 3)
    assert (shown_by(boards), boards.version(), log.made) == (("first",), 1, 1)
    log.waits = threading.Event()
    log.making.clear()
    maker = threading.Thread(target=boards.renew, args=("iris",))
    maker.start()
    log.making.wait(20)
    assert (shown_by(boards), boards.version()) == (("first",), 1)

    def board(benchmark: str, standard: str) -> Any:
        rows = shown_by(boards)
        looked.set()
        return SimpleNamespace(by_entry={name: name for name in rows})

    looked, found = threading.Event(), list[Any]()
    space: Any = SimpleNamespace(snapshots=boards, board=board)
    reader = threading.Thread(target=lambda: found.append(state.State.row(space, "iris", "inaugural", "second")))
    reader.start()
    looked.wait(20)
    log.waits.set()
    maker.join(20)
    reader.join(20)
    assert found == ["second"]
    assert (shown_by(boards), boards.version(), log.made) == (("first", "second"), 3, 2)
    assert not boards.renew("iris")


def test_what_prepares_a_snapshot_alone_sees_it_before_it_is_shown() -> None:
    _, boards = snapshots(60)
    prepared: list[Any] = []

    def prepare(benchmark: str) -> None:
        others: list[Any] = []
        reader = threading.Thread(target=lambda: others.append(shown_by(boards)))
        reader.start()
        reader.join(20)
        boards.rows("genres", "inaugural")
        prepared.append((benchmark, shown_by(boards), *others))

    boards.prepare = prepare
    assert boards.renew("iris")
    assert prepared == [("iris", ("first", "second"), ("first",))]
    assert shown_by(boards) == ("first", "second")


def test_a_board_that_cannot_be_made_is_made_by_who_asks_for_it() -> None:
    log, boards = snapshots(0.01)
    log.fails = True
    with pytest.raises(ValueError, match="cannot be made"):
        boards.renew("iris")
    with pytest.raises(ValueError, match="cannot be made"):
        shown_by(boards)
    log.fails = False
    assert shown_by(boards) == ("first", "second")


def test_a_change_comes_by_itself_once_its_time_has_come_and_a_failure_stops_no_later_one() -> None:
    log, boards = snapshots(0.01)
    stop, failed, shown = threading.Event(), threading.Event(), threading.Event()

    def prepare(benchmark: str) -> None:
        if not failed.is_set():
            failed.set()
            raise ValueError(f"a page of {benchmark} that cannot be made")
        shown.set()

    boards.prepare = prepare
    following = threading.Thread(target=boards.follow, args=(stop,))
    following.start()
    assert failed.wait(20)
    log.came += ("third",)
    boards.change("iris", 3)
    boards.rows("iris", "inaugural")
    boards.change("iris", 4)
    assert shown.wait(20)
    stop.set()
    following.join(20)
    assert shown_by(boards)[-1] == "third"


def test_a_value_of_a_board_is_made_once_until_others_were_made_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(state, "MOST", 2)
    board = Board(published_rows("iris", benchmark("iris").default))
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
