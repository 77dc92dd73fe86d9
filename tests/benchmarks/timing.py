import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def fastest(run: Callable[[], Any], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_gib() -> float:
    """Peak resident memory of this process so far, in GiB.

    Not `getrusage`: its peak outlives `exec`, so a child process would begin at its parent's peak.
    """
    peak = re.search(r"^VmHWM:\s*(\d+) kB$", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    if peak is None:
        raise OSError("/proc/self/status tells no VmHWM")
    return int(peak[1]) / 2**20


def line(what: str, seconds: float, beside: str = "") -> None:
    print(f"{what:<72}{seconds:9.3f} s  {beside}")
