"""Garbage collection while much is loaded that stays: a look at all of it stops every thread for half a second."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 100_000
"""Objects that are worth to be left out of every later collection."""


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
