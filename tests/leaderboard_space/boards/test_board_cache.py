"""What is kept of a board while its next snapshot is made."""

from typing import Any

from fairspace.leaderboard_space.boards import board_cache
from fairspace.leaderboard_space.boards.board_cache import BoardCache, Rows, by_entry
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.results.board import published_rows


class Counted:
    """A cache of lengths, and how often one was made."""

    def __init__(self, most: int) -> None:
        self.cache: BoardCache[int] = BoardCache(most)
        self.made = 0

    def of(self, rows: Any, board: str = "iris", name: str = "length") -> int:
        def make(rows: Rows) -> int:
            self.made += 1
            return len(rows)

        return self.cache.get_or_make((board, "inaugural", name), lambda: rows, make)


def test_values_of_the_next_snapshot_are_made_while_those_before_are_given() -> None:
    counted = Counted(8)
    first, second, third = ("a",), ("a", "b"), ("a", "b", "c")
    assert [counted.of(rows) for rows in (first, second, first, second)] == [1, 2, 1, 2]
    assert counted.made == 2
    assert [counted.of(rows) for rows in (third, second)] == [3, 2]
    assert counted.made == 3
    assert counted.of(first) == 1
    assert counted.made == 4  # two snapshots had come since


def test_other_boards_values_stay_and_the_least_used_go() -> None:
    counted = Counted(2)
    rows = ("a",)
    assert [counted.of(rows, "iris"), counted.of(rows, "genres"), counted.of(rows, "iris")] == [1, 1, 1]
    assert counted.made == 2
    counted.of(rows, "iris", "another")
    assert counted.of(rows, "iris") == 1
    assert counted.made == 3
    assert counted.of(rows, "genres") == 1
    assert counted.made == 4
    assert len(counted.cache._snapshots) == len({key[:2] for key, _ in counted.cache._kept})


def test_the_rows_of_many_snapshots_are_not_held() -> None:
    rows = published_rows("iris", benchmark("iris").default)
    for _ in range(20):
        again = (*tuple(rows)[:3], rows[3])
        assert set(by_entry(again)) == {row.entry for row in again}
    assert len(board_cache._BY_ENTRY._snapshots) <= board_cache._BY_ENTRY.most
