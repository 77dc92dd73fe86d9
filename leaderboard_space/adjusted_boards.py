"""Adjusted boards: a few are cached, one is computed at a time, and requests beyond a short queue are refused.

A reader's adjustment is one of endlessly many, so none of this may cost who reads the released boards: not their
threads (few requests wait here), not their memory (few boards are kept), not the lock of the state.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.submissions.benchmarks.adjustment import Adjustment
from fairspace.submissions.results.attempts import allow_for_attempts
from fairspace.submissions.results.board import adjusted_row, ranked
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.tiers import tiered

ADJUSTED = 4
"""Boards under readers' adjustments that are kept, those that were asked for last; as many requests may wait for one
or make one."""
Rows = tuple[Row, ...]
Key = tuple[str, str, Adjustment]


class AdjustedBoards:
    """Cache of adjusted boards. Safe for several threads.

    Args:
        released: benchmark, standard -> the rows of the released board; the same tuple as long as they are the same.

    `making` is held while one is made; `waiting` says how many requests make one or wait for it.
    """

    def __init__(self, released: Callable[[str, str], Rows]) -> None:
        self.released = released
        self.making = threading.Lock()
        self.waiting = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, tuple[Rows, Rows]] = OrderedDict()

    def __len__(self) -> int:
        """Number of cached boards."""
        return len(self._kept)

    def of(self, benchmark: str, standard: str, changed: Adjustment) -> Rows:
        """Rows of the released board under an adjustment.

        Args:
            benchmark: of the board.
            standard: its name.
            changed: as `check_adjustment` gives it.

        Raises:
            SpaceError: ADJUSTED_BUSY if it is not kept, and as many as may wait for such boards already.
        """
        about = (benchmark, standard, changed)
        adjusted_rows = self._find(about, self.released(benchmark, standard))
        if adjusted_rows is not None:
            return adjusted_rows
        if not self._enter():
            what = f"{ADJUSTED} other adjusted boards are being computed"
            expected, mend = "fewer at a time", "try again in a few seconds; released boards are not affected"
            raise SpaceError("ADJUSTED_BUSY", "the adjusted board", what, expected, mend)
        try:
            with self.making:
                released = self.released(benchmark, standard)  # which may have changed meanwhile
                adjusted_rows = self._find(about, released)
                if adjusted_rows is None:
                    changed_rows = [adjusted_row(row, benchmark, standard, changed) for row in released]
                    rows = ranked(allow_for_attempts(changed_rows, benchmark, standard, changed), benchmark, standard)
                    adjusted_rows = tuple(tiered(rows, benchmark, standard, changed))
                    self._keep(about, released, adjusted_rows)
                return adjusted_rows
        finally:
            with self._lock:
                self.waiting -= 1

    def _enter(self) -> bool:
        """Take a place in the queue; whether there was one."""
        with self._lock:
            room = self.waiting < ADJUSTED
            self.waiting += room
            return room

    def _find(self, about: Key, released: Rows) -> Rows | None:
        with self._lock:
            kept = self._kept.get(about)
            if kept is None or kept[0] is not released:
                return None
            self._kept.move_to_end(about)
            return kept[1]

    def _keep(self, about: Key, released: Rows, adjusted_rows: Rows) -> None:
        with self._lock:
            for other, (rows, _) in list(self._kept.items()):  # what is left of the board before
                if other[:2] == about[:2] and rows is not released:
                    del self._kept[other]
            self._kept[about] = released, adjusted_rows
            self._kept.move_to_end(about)
            while len(self._kept) > ADJUSTED:
                self._kept.popitem(last=False)
