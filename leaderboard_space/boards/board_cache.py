"""The rows of a board as one snapshot shows them, with what was made of them: it goes when the snapshot does."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import Any, TypeVar

from fairspace.submissions.results.row import Row

Made = TypeVar("Made")
MOST = 96
"""Values that a board keeps, those that were used last: the address of a page decides on some of them."""


class Kept:
    """A value that is made when it is asked for first."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.made = False
        self.value: Any = None


class Board(tuple[Row, ...]):
    """The rows of a board, or of one of its tables, in their order. Safe for several threads."""

    def __new__(cls, rows: Iterable[Row]) -> Board:
        """The board of some rows."""
        board = super().__new__(cls, rows)
        board._kept, board._lock = OrderedDict(), threading.Lock()
        return board

    _kept: OrderedDict[Hashable, Kept]
    _lock: threading.Lock

    @cached_property
    def by_entry(self) -> dict[str, Row]:
        """The rows by their entries."""
        return {row.entry: row for row in self}

    def get_or_make(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The value of a key; it is made once, and other threads wait for it. If `make` raises, the next call tries."""
        with self._lock:
            kept = self._kept.setdefault(key, Kept())
            self._kept.move_to_end(key)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
        with kept.lock:
            if not kept.made:
                kept.value, kept.made = make(), True
            value: Made = kept.value
            return value
