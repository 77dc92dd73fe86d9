"""Trying mutants: each in a scratch copy of the project, in a forked process that has the libraries loaded already."""

from __future__ import annotations

import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.chosen import ROOT
from tests.mutants.drawing import Mutant

LIBRARIES = ("numpy", "pyarrow.compute", "pyarrow.parquet", "scipy.special", "scipy.stats", "hypothesis", "PIL.Image")
"""What every test loads; nothing of this project is among it."""
CPU_SECONDS, WALL_SECONDS = 120, 1_200
"""The most that the tests of one mutant may take; a slip that makes a loop endless is killed by it."""
OPTIONS = (
    *("-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not browser", "--hypothesis-seed=0"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of what is loaded before
)


@dataclass(frozen=True)
class Trial:
    """The tests of one file, with a slip in it or, for the check before, without one."""

    tests: tuple[str, ...]
    mutant: Mutant | None


@dataclass(frozen=True)
class Fate:
    """What became of a trial.

    Args:
        fate: `survived`, `killed`, `killed by time`, or `broken` if the tests could not be run.
        seconds: of the clock.
        by: the first test that failed.
    """

    fate: str
    seconds: float
    by: str = ""


def load_libraries() -> None:
    """Load what forked processes share. Not called by tests: threads of libraries do not survive a fork."""
    for name in LIBRARIES:
        importlib.import_module(name)


def copy_project(folder: Path) -> Path:
    """A copy of what git would know of the project, links as links."""
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
    """Try one after the other, as many at a time as there are copies; no further one begins once nothing goes on."""
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
    """Put the slip into a copy and fork the tests; the id of the process."""
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

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                first.append(report.nodeid)

    code = pytest.main([*OPTIONS, "--basetemp", str(copy / ".tmp"), *tests], plugins=[Failures()])
    strays = [name for name, module in sys.modules.items() if name.startswith("fairspace.") and _is_stray(module, copy)]
    (copy / ".fate").write_text(json.dumps(first[:1] or strays[:1]))
    return 98 if strays else int(code)


def _is_stray(module: Any, copy: Path) -> bool:
    """Whether a module of the project was loaded from elsewhere, so that no test has seen the slip."""
    file = getattr(module, "__file__", None)
    return bool(file) and not str(file).startswith(str(copy))


def _end(trial: Trial, copy: Path, code: int, seconds: float) -> Fate:
    """Take the slip back."""
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
