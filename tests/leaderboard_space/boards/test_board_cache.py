"""What is made of a board is made once, and the least used values go."""

import pytest

from fairspace.leaderboard_space.boards import board_cache
from fairspace.leaderboard_space.boards.board_cache import Board
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.board import published_rows


def test_a_value_is_made_once_until_others_were_used_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_cache, "MOST", 2)
    board = Board(published_rows("iris", benchmark("iris").default))
    made: list[str] = []

    def of(name: str) -> int:
        def make() -> int:
            made.append(name)
            return len(board)

        return board.get_or_make(name, make)

    assert [of(name) for name in "abab"] == [len(board)] * 4
    assert made == ["a", "b"]
    assert of("c") == of("b") == len(board) == len(board.by_entry)
    of("a")
    assert made == ["a", "b", "c", "a"]


def test_what_could_not_be_made_is_tried_again() -> None:
    board, fails = Board(()), [True]

    def make() -> int:
        if fails.pop():
            raise ValueError("not yet")
        return 1

    with pytest.raises(ValueError, match="not yet"):
        board.get_or_make("a", make)
    fails.append(False)
    assert board.get_or_make("a", make) == 1
