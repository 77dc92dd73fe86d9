"""The boards as they are shown: one thread makes the next snapshot of a board while readers get the one before.

What most readers will ask for is made with it, before anybody can see it: so nobody waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from fairspace.leaderboard_space.boards.board_cache import Board as Rows

PART = 8
"""Times as long as the last snapshot took to make, the next one waits at least: boards of 50 000 rows take seconds."""
Board = tuple[str, str]


class Snapshots:
    """Rows by benchmark and standard. Safe for several threads; what it gives never changes afterwards.

    Args:
        make: benchmark and standard -> the rows as the log has them now.
        pace: least seconds between two snapshots of a board; 0: the next reader gets, and waits for, what has changed.
        clock: monotonic seconds.

    `prepare`, if it is set, is called with the benchmark of a new snapshot, which only its thread sees meanwhile.
    """

    def __init__(
        self, make: Callable[[str, str], Rows], pace: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._make, self.pace, self._clock = make, pace, clock
        self.prepare: Callable[[str], object] | None = None
        self._next = threading.local()
        """`boards` of a thread: those of the snapshot that it makes."""
        self._boards: dict[Board, Rows] = {}
        self._versions: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        """Benchmark -> the last event that no snapshot shows yet."""
        self._made: dict[str, float] = {}
        self._took: dict[str, float] = {}
        self._dropped = 0
        self._lock, self._making = threading.Lock(), threading.RLock()  # what prepares a board may ask for others

    def version(self, benchmark: str = "") -> int:
        """The last event that the boards of a benchmark show, or all boards: it or a later one is in what is made."""
        versions = self._versions
        return versions.get(benchmark, 0) if benchmark else max(versions.values(), default=0)

    def rows(self, benchmark: str, standard: str) -> Rows:
        """The rows of a board; the first reader waits for them."""
        board = (benchmark, standard)
        if (coming := getattr(self._next, "boards", {}).get(board)) is not None:
            return coming
        if (kept := self._boards.get(board)) is not None:
            return kept
        with self._making:
            if (kept := self._boards.get(board)) is not None:
                return kept
            dropped = self._dropped
            rows = self._make(benchmark, standard)
            with self._lock:
                if dropped == self._dropped:  # else they may lack what has come meanwhile
                    self._boards = {**self._boards, board: rows}
            return rows

    def change(self, benchmark: str, number: int) -> None:
        """An event changes the boards of a benchmark."""
        with self._lock:
            if not self.pace or not any(board[0] == benchmark for board in self._boards):
                self._place(benchmark, number, {})
                self._dropped += 1
                return
            waits = benchmark in self._changed
            self._changed[benchmark] = number
            pace = max(self.pace, PART * self._took.get(benchmark, 0.0))
            seconds = self._made.get(benchmark, -pace) + pace - self._clock()
        if not waits:
            timer = threading.Timer(max(0.0, seconds), self.renew, (benchmark,))
            timer.daemon = True
            timer.start()

    def renew(self, benchmark: str) -> bool:
        """Make the next snapshot now; whether there was anything that the last one did not show."""
        with self._making:
            with self._lock:
                number = self._changed.pop(benchmark, None)
            if number is None:
                return False
            boards: dict[Board, Rows] = {}
            began = self._clock()
            try:
                boards = {board: self._make(*board) for board in self._boards if board[0] == benchmark}
                self._prepare(benchmark, boards)
            finally:  # what could not be made, the next reader makes, and is told why not
                with self._lock:
                    self._place(benchmark, number, boards)
                    self._took[benchmark] = self._clock() - began
        return True

    def _prepare(self, benchmark: str, boards: dict[Board, Rows]) -> None:
        if self.prepare is None or not boards:
            return
        self._next.boards = boards
        try:
            self.prepare(benchmark)
        finally:
            del self._next.boards

    def _place(self, benchmark: str, number: int, boards: dict[Board, Rows]) -> None:
        others = {board: rows for board, rows in self._boards.items() if board[0] != benchmark}
        self._boards = others | boards
        self._versions = {**self._versions, benchmark: number}
        self._made[benchmark] = self._clock()
