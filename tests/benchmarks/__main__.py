"""Run every `bench_*.py` beside this file, each in a process of its own for its peak memory, and record its ratios."""

import os
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.record import KEEP

failed = []
for script in sorted(Path(__file__).parent.glob("bench_*.py")):
    sys.stdout.write(f"\n{script.stem}\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", f"tests.benchmarks.{script.stem}"]
    if subprocess.run(command, env=os.environ | {KEEP: "1"}).returncode:
        failed.append(script.stem)
subprocess.run([sys.executable, "-m", "tests.benchmarks.record", "--write"], check=True)
if failed:
    sys.exit(f"Less than promised, or ended early: {', '.join(failed)}.")
