"""Run every `bench_*.py` beside this file, each in a process of its own for its peak memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

for script in sorted(Path(__file__).parent.glob("bench_*.py")):
    sys.stdout.write(f"\n{script.stem}\n")
    sys.stdout.flush()
    subprocess.run([sys.executable, "-m", f"tests.benchmarks.{script.stem}"], check=True)
