"""`record.csv`: ratios of the benchmarks with commit and machine. Names benchmarks older than the code that they time.

`--write` makes the README's table of the last ratios.
"""

import csv
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FILE, README = (Path(__file__).with_name(name) for name in ("record.csv", "README.md"))
TIMED = {
    "bench_ares": ("ares/modeling_ares.py", "ares/routing_ares.py"),
    "bench_command": ("submissions/commands", "pyproject.toml"),
    "bench_fairlearn": (
        "metrics/resampling.py",
        "submissions/uncertainty",
        "submissions/benchmarks/iris/answer_quantities.py",
    ),
    "bench_gguf": ("submissions/running/local/llama_cpp.py", "submissions/running/local/ending.py"),
    "bench_iris": ("submissions/benchmarks/iris", "submissions/answers", "submissions/results", "builders/iris"),
    "bench_local_models": ("submissions/running/local",),
    "bench_run": ("submissions/running/asking",),
}
"""Benchmark -> paths of the code that it times."""
KEEP = "FAIRSPACE_KEEP_BENCHMARKS"


def git(*words: str) -> str:
    """Output of git; '' where the history does not reach so far, as in a shallow clone."""
    root = Path(__file__).parents[2]
    return subprocess.run(["git", *words], cwd=root, check=False, capture_output=True, text=True).stdout.strip()


def keep(what: str, measured: str) -> None:
    """Add a ratio of the running benchmark, under `make bench` alone."""
    if KEEP in os.environ:
        cpu = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        machine = f"{os.cpu_count()} cores, {cpu[1] if cpu else 'not stated'}"
        with FILE.open("a", encoding="utf-8", newline="") as stream:
            row = (Path(sys.argv[0]).stem, what, measured, git("rev-parse", "--short=8", "HEAD"), machine)
            csv.writer(stream, lineterminator="\n").writerow(row)


def last() -> dict[str, list[list[str]]]:
    """Benchmark -> its rows of the last commit that it has."""
    rows: dict[str, list[list[str]]] = {}
    for row in csv.reader(FILE.read_text(encoding="utf-8").splitlines()[1:]):
        rows[row[0]] = [kept for kept in rows.get(row[0], []) if kept[3] == row[3] and kept[1] != row[1]] + [row]
    return rows


def older() -> Iterator[str]:
    for name, paths in TIMED.items():
        commit = last()[name][-1][3] if name in last() else ""
        if not commit or git("log", "-1", "--format=%h", f"{commit}..HEAD", "--", *paths):
            yield f"{name}: what it times changed after its record ({commit or 'none'}); run make bench\n"


if __name__ == "__main__" and "--write" in sys.argv:
    table = "".join(f"| {' | '.join(row)} |\n" for rows in last().values() for row in rows)
    marks = re.compile(r"(?<=<!-- record -->\n).*?(?=<!-- end of record -->)", re.DOTALL)
    head = "| benchmark | what | measured | commit | machine |\n|---|---|---|---|---|\n"
    README.write_text(marks.sub(lambda _: head + table, README.read_text(encoding="utf-8")), encoding="utf-8")
elif __name__ == "__main__":
    print(*older(), sep="", end="")
