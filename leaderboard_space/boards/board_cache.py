"""A cache per board, dropped when the rows of the board have changed twice.

So the next snapshot's values can be made while readers are given those of the one before.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from fairspace.submissions.results.row import Row

Made = TypeVar("Made")
Rows = tuple[Row, ...]
Key = tuple[Hashable, ...]


def by_entry(rows: Rows) -> Mapping[str, Row]:
    """The rows of a board by their entries."""
    return _BY_ENTRY.get_or_make((id(rows),), lambda: rows, _indexed)


def _indexed(rows: Rows) -> dict[str, Row]:
    return {row.entry: row for row in rows}


class BoardCache(Generic[Made]):
    """Values computed from the rows of boards, the most recently used ones. Safe for several threads.

    Args:
        most: how many values are kept.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[tuple[Key, int], tuple[Rows, Made]] = OrderedDict()
        self._snapshots: dict[Key, tuple[Rows, ...]] = {}
        """Board -> its last two tuples of rows."""
        self._making: dict[tuple[Key, int], threading.Lock] = {}
        self._lock = threading.Lock()

    def get_or_make(self, key: Key, rows: Callable[[], Rows], make: Callable[[Rows], Made]) -> Made:
        """The value of a key for some rows; it is computed once, and other threads wait for it.

        Args:
            key: benchmark, standard, and a name for the value.
            rows: gives the rows of the board.
            make: computes the value. If it raises, the next call tries again.
        """
        wanted = rows()
        kept = self._find(key, wanted)
        if kept is not None:
            return kept[1]
        about = (key, id(wanted))
        with self._lock:
            making = self._making.setdefault(about, threading.Lock())
        try:
            with making:
                kept = self._find(key, wanted) or (wanted, make(wanted))
                self._keep(key, kept)
        finally:
            with self._lock:
                self._making.pop(about, None)
        return kept[1]

    def _find(self, key: Key, rows: Rows) -> tuple[Rows, Made] | None:
        with self._lock:
            kept = self._kept.get((key, id(rows)))
            if kept is None or kept[0] is not rows:
                return None
            self._kept.move_to_end((key, id(rows)))
            return kept

    def _keep(self, key: Key, value: tuple[Rows, Made]) -> None:
        board, rows = key[:2], value[0]
        with self._lock:
            last = self._snapshots.get(board, ())
            if not any(rows is other for other in last):
                last = self._snapshots[board] = (*last, rows)[-2:]
                for about, (others, _) in list(self._kept.items()):
                    if about[0][:2] == board and not any(others is other for other in last):
                        del self._kept[about]
            self._kept[key, id(rows)] = value
            self._kept.move_to_end((key, id(rows)))
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
            boards = {key[:2] for key, _ in self._kept}
            self._snapshots = {board: last for board, last in self._snapshots.items() if board in boards}


_BY_ENTRY: BoardCache[dict[str, Row]] = BoardCache(8)
