"""Ctrl-C during a run: the first press stops it, and a second one right behind it cannot break that.

The event loop turns the first press into a cancellation, which ends requests and writes the log. It raises every
further one wherever the loop stands, even between the moment when a step is taken off its list and the moment when it
runs: that step is lost, and who waits for it waits for ever.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import FrameType

PATIENCE = 30.0
"""Seconds after the first press in which further ones do nothing: what a busy machine takes to end a run."""


@contextmanager
def one_press_is_enough() -> Iterator[None]:
    """Spare the screen a later press that falls into a place where Python can only print it; put handlers back."""
    usual, handler = sys.unraisablehook, signal.getsignal(signal.SIGINT)

    def hook(what: sys.UnraisableHookArgs) -> None:
        if not isinstance(what.exc_value, KeyboardInterrupt):
            usual(what)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


def first_press_counts() -> None:
    """Called in a running event loop: presses within `PATIENCE` of the first one do nothing."""
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        return
    first, presses = math.inf, count()

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal first
        now = time.monotonic()
        if next(presses) and now - first < PATIENCE:  # a press may come while this function runs for the first one
            return
        first = min(first, now)
        usual(number, frame)

    signal.signal(signal.SIGINT, press)
