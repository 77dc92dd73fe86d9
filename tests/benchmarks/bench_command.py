"""CPU seconds of the command before it does anything, beside other commands on the same machine.

Targets: `--help` 0.4 s, `score` 1.0 s before it reads. Compare machines by the ratio to `import typer`.
"""

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.record import keep
from tests.benchmarks.timing import line

MAIN = "from fairspace.submissions.commands.main import main; main()"
BEFORE_READING = """
import sys, time
import fairspace.submissions.reading.containers as containers
def stop(*arguments, **options):
    print(time.process_time())
    sys.exit()
containers.open_container = stop
from fairspace.submissions.commands.main import main
main()
"""
RUNS = 5
PROMISED = {"--help": 4.0, "score, before it reads": 7.0}
"""Multiples of the CPU seconds of `import typer` with its help."""


def cpu_seconds(*words: str) -> float:
    return min(_cpu_seconds(words) for _ in range(RUNS))


def _cpu_seconds(words: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def before_reading(folder: str) -> float:
    """Least CPU seconds of `fairspace score` until it opens the submission."""
    words = (sys.executable, "-c", BEFORE_READING, "score", folder)
    runs = (subprocess.run(words, capture_output=True, text=True, check=True) for _ in range(RUNS))
    return min(float(run.stdout) for run in runs)


def main() -> None:
    python = sys.executable
    typer = cpu_seconds(python, "-c", "import typer, typer.rich_utils")
    line("import typer with its help", typer)
    ours = [(words, cpu_seconds(python, "-c", MAIN, *words.split())) for words in ("--version", "--help", "run --help")]
    with tempfile.TemporaryDirectory() as folder:
        ours.append(("score, before it reads", before_reading(folder)))
    slow = []
    for words, seconds in ours:
        line(f"fairspace {words}", seconds, f"{seconds / typer:.1f} times typer")
        keep(
            f"`fairspace {words}`", f"{seconds / typer:.1f} times `import typer` (promised: {PROMISED.get(words, '')})"
        )
        if seconds > PROMISED.get(words, float("inf")) * typer:
            slow.append(words)
    for peer in ("hf", "inspect", "accelerate"):
        command = shutil.which(peer, path=str(Path(python).parent))
        if command is not None:
            seconds = cpu_seconds(command, "--help")
            line(f"{peer} --help", seconds, f"{seconds / typer:.1f} times typer")
    if slow:
        sys.exit(f"Slower than promised: {', '.join(slow)}.")


if __name__ == "__main__":
    main()
