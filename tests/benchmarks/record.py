"""Record of the benchmarks' ratios: `record.csv`, a row for each with its commit and machine, the table of the README.

python -m tests.benchmarks.record            names each benchmark whose last row is older than the code that it times
python -m tests.benchmarks.record --write    the README's table from the last rows
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("record.csv")
README = Path(__file__).with_name("README.md")
TIMED = {
    "bench_ares": ("ares/modeling_ares.py", "ares/routing_ares.py"),
    "bench_command": ("submissions/commands", "pyproject.toml"),
    "bench_fairlearn": ("submissions/uncertainty", "submissions/benchmarks/iris/resample.py"),
    "bench_iris": ("submissions/benchmarks/iris", "submissions/answers", "submissions/results", "builders/iris"),
    "bench_local_models": ("submissions/running/local",),
    "bench_run": ("submissions/running/asking",),
}
"""Benchmark -> paths of the code that it times."""
KEEP = "FAIRSPACE_KEEP_BENCHMARKS"
_TABLE = re.compile(r"(?<=<!-- record -->\n).*?(?=<!-- end of record -->)", re.DOTALL)


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def keep(benchmark: str, what: str, against: str, measured: str, promised: str = "") -> None:
    """Add a row for this commit and machine, under `make bench` alone."""
    if KEEP not in os.environ:
        return
    cpu = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    machine = f"{os.cpu_count()} cores, {cpu[1] if cpu else 'processor not stated'}"
    row = (benchmark, what, against, measured, promised, git("rev-parse", "--short=8", "HEAD"), machine)
    with FILE.open("a", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerow(row)


def last() -> list[dict[str, str]]:
    """The rows of each benchmark's last commit."""
    with FILE.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    newest = {row["benchmark"]: row["commit"] for row in rows}
    kept = [row for row in rows if row["commit"] == newest[row["benchmark"]]]
    return list({(row["benchmark"], row["what"]): row for row in kept}.values())


def older(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """A line for each benchmark without a row, or with one of a commit before the last change of what it times."""
    commits = {row["benchmark"]: row["commit"] for row in rows}
    for name, paths in TIMED.items():
        changed = git("log", "-1", "--format=%h", f"{commits[name]}..HEAD", "--", *paths) if name in commits else "HEAD"
        if changed:
            yield f"{name}: recorded at {commits.get(name, 'no commit')}, before {changed}; run make bench"


def table(rows: Sequence[Mapping[str, str]]) -> str:
    cells = "".join(
        "| `{benchmark}`: {what} | {against} | {measured} | {promised} | {commit} |\n".format(**r) for r in rows
    )
    return f"| benchmark | against | measured | promised | commit |\n|---|---|---|---|---|\n{cells}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        README.write_text(_TABLE.sub(lambda _: table(last()), README.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(*older(last()), sep="\n")
