"""Seconds of the fastest of a few runs, and peak memory of this process."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any


def fastest(run: Callable[[], Any], repeats: int = 3) -> float:
    """Seconds of the fastest run."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_gib() -> float:
    """Peak resident memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def line(what: str, seconds: float, beside: str = "") -> None:
    """Print one figure."""
    print(f"{what:<72}{seconds:9.3f} s  {beside}")
