"""Garbage collection while much is loaded that stays: a look at all of it stops every thread for half a second."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 100_000
"""Objects that are worth to be left out of every later collection."""
_THRESHOLDS = (20_000, 20, 20)
"""Of the three generations: a snapshot of 50 000 rows makes half a million objects, and none of them is garbage."""


def collect_rarely() -> None:
    """Let snapshots of boards cause no collection of everything, which stops every thread."""
    gc.set_threshold(*_THRESHOLDS)


@contextmanager
def pause_collector(many: bool) -> Iterator[None]:
    """Pause garbage collection during a bulk load, then freeze what was loaded."""
    if not many or not gc.isenabled():
        yield
        return
    before = gc.get_count()[0]
    gc.disable()
    try:
        yield
        if gc.get_count()[0] - before > _MANY:
            gc.freeze()
    finally:
        gc.enable()
