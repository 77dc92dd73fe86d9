"""A cache per board, dropped when the rows of the board change."""

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
        self._kept: OrderedDict[Key, tuple[Rows, Made]] = OrderedDict()
        self._making: dict[Key, threading.Lock] = {}
        self._lock = threading.Lock()

    def get_or_make(self, key: Key, rows: Callable[[], Rows], make: Callable[[Rows], Made]) -> Made:
        """The value of a key for the current rows; it is computed once, and other threads wait for it.

        Args:
            key: benchmark, standard, and a name for the value.
            rows: gives the current rows of the board.
            make: computes the value. If it raises, the next call tries again.
        """
        kept = self._find(key, rows())
        if kept is not None:
            return kept[1]
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                current = rows()  # they may have changed while another thread computed
                kept = self._find(key, current) or (current, make(current))
                self._keep(key, kept)
        finally:
            with self._lock:
                self._making.pop(key, None)
        return kept[1]

    def _find(self, key: Key, rows: Rows) -> tuple[Rows, Made] | None:
        with self._lock:
            kept = self._kept.get(key)
            return kept if kept is not None and kept[0] is rows else None

    def _keep(self, key: Key, value: tuple[Rows, Made]) -> None:
        with self._lock:
            for other, (rows, _) in list(self._kept.items()):  # values of the board's earlier rows
                if other[:2] == key[:2] and rows is not value[0]:
                    del self._kept[other]
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)


_BY_ENTRY: BoardCache[dict[str, Row]] = BoardCache(8)
