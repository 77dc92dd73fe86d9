"""Whether threads share heaps, asked of the C library itself."""

import subprocess
import sys

import pytest

from fairspace.leaderboard_space.operation.heaps import HEAPS

SCRIPT = """
import ctypes, sys, threading
from fairspace.leaderboard_space.operation.heaps import share_heaps
assert sys.argv[1] == "own" or share_heaps()
library, ready = ctypes.CDLL(None), threading.Barrier(12)
def take():
    ready.wait()
    library.malloc(100_000)
    ready.wait()
threads = [threading.Thread(target=take) for _ in range(12)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
library.malloc_stats()
"""


def heaps(how: str) -> int:
    """Heaps of a process with twelve threads."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, how], capture_output=True, text=True, check=True, timeout=60)
    return done.stderr.count("Arena ")


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone has such heaps")
def test_threads_share_a_few_heaps() -> None:
    assert heaps("shared") <= HEAPS < heaps("own")
