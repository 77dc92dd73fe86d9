"""Seconds of the fastest of a few runs, and peak memory of this process."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
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
    """Peak resident memory of this process so far, in GiB, as Linux counts it.

    Not `getrusage`: its peak outlives `exec`, so a process that a large one started would begin at that one's peak.
    """
    peak = re.search(r"^VmHWM:\s*(\d+) kB$", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    if peak is None:
        raise OSError("/proc/self/status tells no VmHWM")
    return int(peak[1]) / 2**20


def line(what: str, seconds: float, beside: str = "") -> None:
    """Print one figure."""
    print(f"{what:<72}{seconds:9.3f} s  {beside}")
