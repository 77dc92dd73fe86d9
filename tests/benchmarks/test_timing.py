"""Peak memory is of one process."""

from __future__ import annotations

import subprocess
import sys

from tests.benchmarks.timing import peak_gib


def test_peak_memory_does_not_hold_that_of_the_process_that_started_it() -> None:
    large = bytearray(b"x") * 2**28
    assert peak_gib() > len(large) / 2**30
    command = [sys.executable, "-c", "from tests.benchmarks.timing import peak_gib; print(peak_gib())"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert 0 < float(told) < 0.1
