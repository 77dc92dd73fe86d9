"""The slowness of this machine, so that limits in CPU seconds mean the same everywhere."""

import time
from collections.abc import Callable
from functools import lru_cache

import numpy as np

REFERENCE_SECONDS = 0.08
"""Seconds of `_work` on the machine of the limits, a core of 2.6 GHz."""


def _work() -> float:
    start = time.process_time()
    total = 0
    for number in range(600_000):
        total += number % 7
    for _ in range(4):
        np.sort(np.random.default_rng(total).random(200_000))
    return time.process_time() - start


@lru_cache
def slowness() -> float:
    """CPU seconds of this machine per second of the reference machine; at least 1."""
    return max(1.0, min(_work() for _ in range(3)) / REFERENCE_SECONDS)


def takes_less(call: Callable[[], object], seconds: float) -> bool:
    """Whether one of three calls takes fewer CPU seconds of the reference machine; other work slows single ones."""
    for _ in range(3):
        start = time.process_time()
        call()
        if time.process_time() - start < seconds * slowness():
            return True
    return False
