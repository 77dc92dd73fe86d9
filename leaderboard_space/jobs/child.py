"""One child process with resource limits, including those that the kernel does not enforce, and its output files."""

import logging
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import psutil

from fairspace.leaderboard_space.jobs.limits import MEMORY, JobLimits
from fairspace.leaderboard_space.settings import Settings
from fairspace.submissions.answers.rows import CODES, answer_codes
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.format.schema import Submission
from fairspace.submissions.results.known_answers import SketchKey, draw_sketch, like_baseline
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import MAX_BYTES, load_result
from fairspace.submissions.uncertainty.uncertainty import SETTING as RESAMPLES

RESULT, FAULTS = "result.json", "faults.json"
"""Files left by a child in its folder."""
LOOK_SECONDS = 0.2
"""Interval between checks of a job's processes."""
_KEPT_BYTES = 4096
_FILES = 10_000
_THREADS = 1024
_END_SECONDS = 5.0
_ROOT = Path(__file__).parents[3]
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")


@dataclass(frozen=True)
class ChildEnd:
    """End of a child.

    Args:
        reason: '' for a normal end; else a phrase to follow "it".
        halted: whether it was stopped as no longer wanted.
        beyond: whether it exceeded a limit, as it would again.
        killed: whether it was killed from outside, not because of its file.
    """

    reason: str
    output: str
    halted: bool
    seconds: float
    beyond: bool = False
    killed: bool = False


def run_child(
    module: str,
    arguments: Sequence[str],
    folder: Path,
    limits: JobLimits,
    halt: threading.Event | None = None,
    settings: Mapping[str, str] | None = None,
) -> ChildEnd:
    """Run `python -m module arguments` in its folder until it ends, without secrets in the environment.

    If it exceeds `limits`, or `halt` is set, it is killed with all its processes.
    """
    begun = time.monotonic()
    environment = {"HOME": str(folder), "TMPDIR": str(folder), "PYTHONPATH": str(_ROOT), "LANG": "C.UTF-8"}
    offline = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    limited = ["fairspace.leaderboard_space.jobs.limits", limits.dumps(), str(os.getpid())]
    with subprocess.Popen(
        [sys.executable, "-P", "-B", "-m", *limited, module, *arguments],
        cwd=folder,
        env={name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        | dict(settings or {})
        | environment
        | offline,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        watched = _Watched(process, folder, limits)
        try:
            reason: str | None = None
            while reason is None and not (halt is not None and halt.is_set()):
                if watched.wait(LOOK_SECONDS):
                    break
                reason = watched.beyond(time.monotonic() - begun)
        finally:
            watched.kill()
        watched.read()
    halted = reason is None and watched.killed
    if reason is None and not halted:
        reason = watched.beyond_output() or _beyond(process.returncode, limits)
    beyond = reason is not None
    if reason is None and not halted:
        reason = _words(process.returncode)
    killed = not beyond and not halted and -process.returncode in _FROM_OUTSIDE
    return ChildEnd(reason or "", watched.output(), halted, time.monotonic() - begun, beyond, killed)


class _Watched:
    """A running child with its processes and its output."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, limits: JobLimits) -> None:
        assert process.stdout is not None
        self.process, self.folder, self.limits = process, folder, limits
        self.killed = False
        self._stdout = process.stdout
        os.set_blocking(self._stdout.fileno(), False)
        self._own = psutil.Process(process.pid)
        self._others: set[psutil.Process] = set()
        self._printed = 0
        self._silent = False
        self._tail = b""

    def wait(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        printed = select.poll()  # `select.select` takes no descriptor above 1 023
        printed.register(self._stdout, select.POLLIN)
        while not self._silent and not self.beyond_output() and (left := until - time.monotonic()) > 0:
            printed.poll(1000 * left)
            self.read()
        try:
            self.process.wait(max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            return False
        return True

    def beyond(self, seconds: float) -> str | None:
        files, size = self._written()
        memory = self._memory()
        if seconds > self.limits.seconds:
            return f"took longer than {self.limits.seconds:g} seconds"
        if len(self._others) >= self.limits.processes:
            return f"began more than {self.limits.processes} processes"
        if memory > self.limits.memory:
            return _beyond_memory(self.limits)
        if size > self.limits.file_bytes:
            return _beyond_files(self.limits)
        if files > _FILES:
            return f"wrote more than {_FILES:,} files"
        return self.beyond_output()

    def beyond_output(self) -> str | None:
        most = self.limits.file_bytes
        return f"printed more than {_size(most)}" if self._printed > most else None

    def read(self) -> None:
        while self._printed <= self.limits.file_bytes:
            try:
                chunk = os.read(self._stdout.fileno(), 1 << 16)
            except BlockingIOError:
                return
            if not chunk:
                self._silent = True
                return
            self._printed += len(chunk)
            self._tail = (self._tail + chunk)[-_KEPT_BYTES:]

    def output(self) -> str:
        return self._tail.decode(errors="replace")

    def kill(self) -> None:
        self.killed = self.process.poll() is None
        if self.killed:
            os.kill(self.process.pid, signal.SIGSTOP)
        ended: set[psutil.Process] = set()
        while new := self._look() - ended:
            for other in new:
                with suppress(psutil.NoSuchProcess):
                    other.kill()
            ended |= new
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        psutil.wait_procs(ended, _END_SECONDS)

    def _look(self) -> set[psutil.Process]:
        """The child's running processes; once it has ended, those of earlier children too."""
        self._others = {process for process in self._others if process.is_running()}
        for process in [self._own] if self._own.is_running() else list(self._others):
            with suppress(psutil.NoSuchProcess):
                self._others |= set(process.children(recursive=True))
        return self._others

    def _memory(self) -> int:
        held = 0
        for process in (self._own, *self._look()):
            with suppress(psutil.NoSuchProcess):
                held += process.memory_info().rss
        return held

    def _written(self) -> tuple[int, int]:
        files = size = 0
        for folder, _, names in os.walk(self.folder):
            files += len(names)
            if files > _FILES:
                break
            for name in names:
                with suppress(FileNotFoundError):
                    size += (Path(folder) / name).lstat().st_size
        return files, size


def threads_of_user() -> int:
    """A thread limit for a child, on top of the user's other threads."""
    user = os.getuid()
    counts: list[int] = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if process.uids().real == user:
                counts.append(process.num_threads())
    return sum(counts) + _THREADS


def _beyond(status: int, limits: JobLimits) -> str | None:
    if status == MEMORY:
        return _beyond_memory(limits)
    if status == -signal.SIGXCPU:
        return f"took more than {limits.cpu_seconds:,} seconds of the processor"
    if status == -signal.SIGXFSZ:
        return _beyond_files(limits)
    return None


def _words(status: int) -> str:
    if status == 0:
        return ""
    if status > 0:
        return f"ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = "unknown"
    return f"died with signal {-status} ({name})"


def _beyond_memory(limits: JobLimits) -> str:
    return f"took more than {_size(limits.memory)} of memory"


def _beyond_files(limits: JobLimits) -> str:
    return f"wrote files of more than {_size(limits.file_bytes)}"


def _size(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"


_LOG = logging.getLogger("fairspace.jobs")
SCRATCH = "scoring"
_NICE = 10
"""Niceness: scoring yields to readers."""


@dataclass(frozen=True)
class ChildOutcome:
    """Outcome of a child process: a result, faults or a reason; final if another try would end the same.

    `ours`: whether the Space is the cause, and not the file. `identity`: see `read_identity`.
    """

    result: Result | None = None
    faults: tuple[Fault, ...] = ()
    reason: str = ""
    final: bool = False
    ours: bool = False
    identity: Mapping[str, Any] = field(default_factory=dict)


def scoring_settings(settings: Settings) -> dict[str, str]:
    """Environment variables of a job's process."""
    return {RESAMPLES: str(settings.resamples)}


def limits(settings: Settings) -> JobLimits:
    """Resource limits of a job."""
    return JobLimits(
        settings.scoring_memory,
        settings.scoring_cpu_seconds,
        settings.scoring_seconds,
        settings.scoring_file_bytes,
        threads=threads_of_user(),
        nice=_NICE,
    )


@contextmanager
def scratch(settings: Settings, name: str) -> Iterator[Path]:
    """An empty folder for a child, removed afterwards; the next try clears a folder left by a killed worker."""
    folder = (settings.work / SCRATCH / name).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_outcome(ended: ChildEnd, folder: Path, secret: str = "") -> ChildOutcome:
    """The outcome written by a child process. The secret hides which answers are compared."""
    if ended.reason:
        _LOG.warning("a child ended: it %s", ended.reason, extra={"output": ended.output})
        return ChildOutcome(reason=ended.reason, final=ended.beyond)
    try:
        if faults := read_faults(folder):
            return ChildOutcome(faults=faults)
        result = load_result(folder / RESULT)
        revision = result.signature.get("dataset_revision", "")
        return ChildOutcome(result=result, identity=read_identity(folder, result.benchmark, revision, secret))
    except (UsageError, ValueError, TypeError) as error:
        _LOG.warning("a child left no outcome: %s", error, extra={"output": ended.output})
        return ChildOutcome(reason="ended without a result")


def read_faults(folder: Path) -> tuple[Fault, ...]:
    """The faults written by a child process, if any. ValueError or TypeError for an invalid file."""
    file = folder / FAULTS
    if not file.is_file() or file.stat().st_size > MAX_BYTES:
        return ()
    return tuple(Fault(**fault) for fault in orjson.loads(file.read_bytes()))


# The identity of a submission's answers. The child holds no secret, so it leaves the codes of all answers. The worker
# draws the sketch with the Space's key and compares them with the bundled baselines, whose answers it makes once.

ANSWERS = "answers.bin"
_MOST_BYTES = 64 << 20


def write_identity(submission: Submission, folder: Path) -> None:
    """Write the codes of a submission's answers into a folder."""
    (folder / ANSWERS).write_bytes(answer_codes(submission).tobytes())


def read_identity(folder: Path, name: str, revision: str, secret: str) -> dict[str, Any]:
    """The identity of answers for the log, from the child's folder; {} without one. ValueError for an invalid file."""
    file = folder / ANSWERS
    if not file.is_file() or file.stat().st_size > _MOST_BYTES:
        return {}
    codes, key = np.frombuffer(file.read_bytes(), CODES), SketchKey.of(secret)
    identity = {"key": key.name, "sketch": draw_sketch(codes, list(benchmark(name).telling_tasks), key)}
    like = like_baseline(codes, name, revision)
    return identity if like is None else identity | {"baseline": asdict(like)}
