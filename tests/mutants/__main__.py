"""Run the untried mutants of a seeded sample, and print the survivors. See README.md beside this file.

Each is tried in a scratch copy of the project, in a forked process with loaded libraries.
"""

import argparse
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.chosen import ROOT, SAMPLE, tests_of
from tests.mutants.drawing import Mutant, sample

LIBRARIES = ("numpy", "pyarrow.compute", "pyarrow.parquet", "scipy.special", "scipy.stats", "hypothesis", "PIL.Image")
"""Libraries that every test loads, none of this project."""
CPU_SECONDS, WALL_SECONDS = 120, 1_200
"""Limits for the tests of one mutant; they end endless loops."""
OPTIONS = (
    *("-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not browser", "--hypothesis-seed=0"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of what is loaded before
)


@dataclass(frozen=True)
class Trial:
    tests: tuple[str, ...]
    mutant: Mutant | None


@dataclass(frozen=True)
class Fate:
    """Outcome of a trial: `survived`, `killed`, `killed by time`, or `broken`; `by` is the first failed test."""

    fate: str
    seconds: float
    by: str = ""


def load_libraries() -> None:
    """Load shared libraries. Tests do not call this: threads of libraries do not survive a fork."""
    for name in LIBRARIES:
        importlib.import_module(name)


def copy_project(folder: Path) -> Path:
    """A copy of the project as git sees it, links as links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if os.path.lexists(ROOT / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def try_all(trials: Iterable[Trial], copies: list[Path], goes_on: Callable[[], bool]) -> Iterator[tuple[Trial, Fate]]:
    """Run trials, one per copy at a time, as long as `goes_on`."""
    waiting = iter(trials)
    free, running = list(copies), dict[int, tuple[Trial, Path, float]]()
    while True:
        while free and goes_on() and (trial := next(waiting, None)) is not None:
            copy = free.pop()
            running[_begin(trial, copy)] = (trial, copy, time.monotonic())
        if not running:
            return
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            for worker, (_, _, began) in running.items():
                if time.monotonic() - began > WALL_SECONDS:
                    os.killpg(worker, signal.SIGKILL)
            time.sleep(0.05)
            continue
        trial, copy, began = running.pop(pid)
        yield trial, _end(trial, copy, os.waitstatus_to_exitcode(status), time.monotonic() - began)
        free.append(copy)


def _begin(trial: Trial, copy: Path) -> int:
    if trial.mutant is not None:
        (copy / trial.mutant.file).write_text(trial.mutant.code)
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
        os._exit(_run(trial.tests, copy))
    except BaseException:  # noqa: BLE001 -- a forked process must never come back into the run
        (copy / ".fate").write_text(json.dumps([traceback.format_exc()]))
        os._exit(99)


def _run(tests: tuple[str, ...], copy: Path) -> int:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(copy)
    os.environ |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path[:] = [str(copy), *(place for place in sys.path if place not in ("", str(ROOT)))]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "fairspace")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    first: list[str] = []

    class Failures:
        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                first.append(report.nodeid)

        pytest_collectreport = pytest_runtest_logreport

    code = pytest.main([*OPTIONS, "--basetemp", str(copy / ".tmp"), *tests], plugins=[Failures()])
    strays = [name for name, module in sys.modules.items() if name.startswith("fairspace.") and _is_stray(module, copy)]
    (copy / ".fate").write_text(json.dumps(first[:1] or strays[:1]))
    return 98 if strays else int(code)


def _is_stray(module: Any, copy: Path) -> bool:
    """Whether a module came from outside the copy, so that no test has seen the slip."""
    file = getattr(module, "__file__", None)
    return bool(file) and not str(file).startswith(str(copy))


def _end(trial: Trial, copy: Path, code: int, seconds: float) -> Fate:
    if trial.mutant is not None:
        shutil.copy2(ROOT / trial.mutant.file, copy / trial.mutant.file)
    report = copy / ".fate"
    by = "".join(json.loads(report.read_text())) if report.exists() else ""
    report.unlink(missing_ok=True)
    if code < 0:
        return Fate("killed by time", seconds, by)
    # 2 and 4: the code, or what loads the tests, cannot be imported any more; 5: no test was left to run
    fates = {0: "survived", 1: "killed", 2: "killed", 4: "killed", 5: "survived"}
    return Fate(fates.get(code, "broken"), seconds, by or (f"exit code {code}" if code else ""))


KEPT = ROOT / "build" / "mutants.jsonl"
LEAST_KILLED = 0.85


def main() -> int:
    """Return 0 if all of the sample was tried and enough of it was killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--areas", nargs="+", choices=SAMPLE, default=list(SAMPLE), help="which areas are sampled")
    parser.add_argument("--minutes", type=float, default=30, help="after which no further mutant is begun")
    parser.add_argument("--workers", type=int, default=2, help="mutants at a time")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the file of fates, by which a run goes on")
    parser.add_argument("--again", action="store_true", help="try those again that survived")
    options = parser.parse_args()
    mutants = sample(options.seed, tuple(options.areas))
    fates = _read(options.kept)
    if options.again:
        fates = {key: fate for key, fate in fates.items() if fate["fate"].startswith("killed")}
    left = [mutant for mutant in mutants if _key(mutant) not in fates]
    print(f"{len(mutants)} mutants, {len(left)} of them without a fate")
    end = time.monotonic() + 60 * options.minutes
    if left:
        load_libraries()
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            copies = [copy_project(Path(folder) / str(number)) for number in range(options.workers)]
            _check(left, copies)
            _try(left, copies, options.kept, fates, end)
    return _report(mutants, fates)


def _check(mutants: list[Mutant], copies: list[Path]) -> None:
    """Whether all tests pass without a slip; else every mutant would look killed."""
    files = dict.fromkeys(test for mutant in mutants for test in tests_of(mutant.file))
    print(f"first {len(files)} files of tests without a slip", flush=True)
    for trial, fate in try_all((Trial((test,), None) for test in files), copies, lambda: True):
        if fate.fate != "survived":
            raise SystemExit(f"These tests do not pass without a slip: {trial.tests[0]} {fate.by}")


def _try(mutants: list[Mutant], copies: list[Path], kept: Path, fates: dict[str, Any], end: float) -> None:
    trials = (Trial(tests_of(mutant.file), mutant) for mutant in mutants)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("a", encoding="utf-8") as file:
        for trial, fate in try_all(trials, copies, lambda: time.monotonic() < end):
            assert trial.mutant is not None
            data = _data(trial.mutant, fate)
            if fate.fate != "broken":
                fates[data["key"]] = data
                file.write(json.dumps(data) + "\n")
                file.flush()
            print(f"{fate.seconds:6.1f} s {fate.fate}: {trial.mutant.file}:{trial.mutant.line} {fate.by}", flush=True)


def _key(mutant: Mutant) -> str:
    """A mutant is the same as long as its whole file is."""
    return hashlib.sha256(f"{mutant.file}\0{mutant.code}".encode()).hexdigest()[:20]


def _data(mutant: Mutant, fate: Fate) -> dict[str, Any]:
    about = {name: part for name, part in vars(mutant).items() if name != "code"}
    return {"key": _key(mutant), **about, **vars(fate), "seconds": round(fate.seconds, 1)}


def _read(kept: Path) -> dict[str, dict[str, Any]]:
    """Key -> the last written fate; a truncated line is ignored."""
    fates = {}
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        try:
            data = json.loads(line)
        except ValueError:
            continue
        fates[data["key"]] = data
    return fates


def _report(mutants: list[Mutant], fates: dict[str, Any]) -> int:
    counts: dict[str, Counter[str]] = {}
    tried = [(mutant, fates[_key(mutant)]) for mutant in mutants if _key(mutant) in fates]
    for mutant, fate in tried:
        for where in (mutant.file, f"all of {mutant.area}", "all"):
            counts.setdefault(where, Counter())[fate["fate"].partition(" ")[0]] += 1
    print("\nkilled  survived")
    for where, count in sorted(counts.items(), key=lambda item: (item[0].startswith("all"), item[0])):
        print(f"{count['killed']:6d}  {count['survived']:8d}  {where}")
    for mutant, fate in tried:
        if fate["fate"] == "survived":
            print(f"\nsurvived: {mutant.file}:{mutant.line} ({mutant.operator})\n{mutant.change}")
    killed = sum(fate["fate"].startswith("killed") for _, fate in tried)
    print(
        f"\n{killed} of {len(tried)} killed, {killed / max(1, len(tried)):.1%}; {len(mutants) - len(tried)} not tried"
    )
    return 0 if len(tried) == len(mutants) and killed >= LEAST_KILLED * len(tried) else 1


if __name__ == "__main__":
    raise SystemExit(main())
