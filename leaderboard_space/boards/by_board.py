"""What was made of a board's rows, kept as long as these are the rows of the board."""

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
    return _BY_ENTRY.of((id(rows),), lambda: rows, _indexed)


def _indexed(rows: Rows) -> dict[str, Row]:
    return {row.entry: row for row in rows}


class ByBoard(Generic[Made]):
    """What was made last of the rows of several boards. Safe for several threads.

    Args:
        most: how many are kept, those that were asked for last.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[Key, tuple[Rows, Made]] = OrderedDict()
        self._making: dict[Key, threading.Lock] = {}
        self._lock = threading.Lock()

    def of(self, key: Key, rows: Callable[[], Rows], make: Callable[[Rows], Made]) -> Made:
        """What was made of a board's rows under that key; who asks while it is made waits for it.

        Args:
            key: benchmark, standard, and what is made of the board.
            rows: those of the board now.
            make: may raise, and is called again then for the next one who asks.
        """
        found = self._find(key, rows())
        if found is not None:
            return found[1]
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                own = rows()  # which may have changed while another one was making
                found = self._find(key, own) or (own, make(own))
                self._keep(key, found)
        finally:
            with self._lock:
                self._making.pop(key, None)
        return found[1]

    def _find(self, key: Key, rows: Rows) -> tuple[Rows, Made] | None:
        with self._lock:
            found = self._kept.get(key)
            return found if found is not None and found[0] is rows else None

    def _keep(self, key: Key, made: tuple[Rows, Made]) -> None:
        with self._lock:
            for other, (rows, _) in list(self._kept.items()):  # what is left of the board before
                if other[:2] == key[:2] and rows is not made[0]:
                    del self._kept[other]
            self._kept[key] = made
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)


_BY_ENTRY: ByBoard[dict[str, Row]] = ByBoard(8)
