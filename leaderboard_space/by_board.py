"""What was made of a board's rows, kept as long as these are the rows of the board."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from submissions.board import Row

Made = TypeVar("Made")


class ByBoard(Generic[Made]):
    """What was made last of the rows of several boards. Safe for several threads.

    Args:
        most: how many are kept, those that were asked for last.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[Hashable, tuple[tuple[Row, ...], Made]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: Hashable, rows: tuple[Row, ...], make: Callable[[], Made]) -> Made:
        """What was made of exactly these rows under that key; made now if it was not."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None and found[0] is rows:
                self._kept.move_to_end(key)
                return found[1]
        made = make()
        with self._lock:
            self._kept[key] = (rows, made)
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
        return made
