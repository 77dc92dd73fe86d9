import json
import re
import subprocess
import sys
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


def child(benchmark: str, *words: str, stdin: str | None = None) -> dict[str, Any]:
    """Figures of a benchmark's part in a process of its own, which prints them last, as JSON."""
    command = [sys.executable, "-m", f"tests.benchmarks.{benchmark}", *words]
    ended = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(ended.stdout.splitlines()[-1]))


def line(what: str, seconds: float, beside: str = "") -> None:
    print(f"{what:<72}{seconds:9.3f} s  {beside}")
