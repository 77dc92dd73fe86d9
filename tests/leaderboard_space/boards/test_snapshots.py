"""Snapshots of boards: who makes them, when, and what readers get meanwhile."""

import threading
import time
from typing import Any

import pytest

from fairspace.leaderboard_space.boards.board_cache import Board as Rows
from fairspace.leaderboard_space.boards.snapshots import PART, Snapshots


class Log:
    """Makes boards of what came so far, and counts."""

    def __init__(self) -> None:
        self.came: Any = ("first",)
        self.made = 0
        self.fails = False
        self.waits: threading.Event | None = None
        self.making = threading.Event()

    def board(self, benchmark: str, standard: str) -> Rows:
        self.made += 1
        self.making.set()
        if self.waits is not None:
            self.waits.wait(20)
        if self.fails:
            raise ValueError("a board that cannot be made")
        rows: Rows = self.came
        return rows


def shown_by(boards: Snapshots) -> Any:
    """What a reader gets."""
    return boards.rows("iris", "inaugural")


def snapshots(pace: float) -> tuple[Log, Snapshots]:
    """A log, and snapshots of it whose clock stands still."""
    log = Log()
    boards = Snapshots(log.board, pace, lambda: 0.0)
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


def test_readers_get_the_snapshot_before_until_the_next_is_made() -> None:
    log, boards = snapshots(60)
    boards.change("iris", 3)
    assert (shown_by(boards), boards.version(), log.made) == (("first",), 1, 1)
    log.waits = threading.Event()
    log.making.clear()
    maker = threading.Thread(target=boards.renew, args=("iris",))
    maker.start()
    log.making.wait(20)
    assert (shown_by(boards), boards.version()) == (("first",), 1)
    log.waits.set()
    maker.join(20)
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
        boards.rows("genres", "inaugural")  # of a board that nobody asked for before
        prepared.append((benchmark, shown_by(boards), *others))

    boards.prepare = prepare
    assert boards.renew("iris")
    assert prepared == [("iris", ("first", "second"), ("first",))]
    assert shown_by(boards) == ("first", "second")


def test_a_snapshot_that_cannot_be_prepared_is_shown() -> None:
    _, boards = snapshots(60)

    def prepare(benchmark: str) -> None:
        raise ValueError(f"a page of {benchmark} that cannot be made")

    boards.prepare = prepare
    with pytest.raises(ValueError, match="cannot be made"):
        boards.renew("iris")
    assert shown_by(boards) == ("first", "second")


def test_a_board_that_cannot_be_made_is_made_by_who_asks_for_it() -> None:
    log, boards = snapshots(60)
    log.fails = True
    with pytest.raises(ValueError, match="cannot be made"):
        boards.renew("iris")
    with pytest.raises(ValueError, match="cannot be made"):
        shown_by(boards)
    log.fails = False
    assert shown_by(boards) == ("first", "second")


def test_a_change_comes_by_itself_once_its_time_has_come() -> None:
    log, boards = snapshots(60)
    boards.pace = 0.01
    shown = threading.Event()
    boards.renew("iris")
    log.came += ("third",)
    boards.prepare = lambda benchmark: shown.set()
    boards.change("iris", 3)
    assert shown.wait(20)
    deadline = time.monotonic() + 20
    while shown_by(boards)[-1] != "third" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert shown_by(boards)[-1] == "third"


def test_a_board_that_takes_long_is_made_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    class Timer:
        def __init__(self, seconds: float, *_: object) -> None:
            waits.append(seconds)

        def start(self) -> None:
            pass

    monkeypatch.setattr(threading, "Timer", Timer)
    now = 100.0
    log = Log()
    boards = Snapshots(log.board, 5.0, lambda: now)

    def prepare(benchmark: str) -> None:
        nonlocal now
        now += 3.0

    boards.change("iris", 1)
    shown_by(boards)
    boards.prepare = prepare
    boards.change("iris", 2)
    boards.renew("iris")
    boards.change("iris", 3)
    assert waits == [5.0, 3.0 * PART]
