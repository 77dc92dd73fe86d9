"""Commands of `fairspace` that tests start, watch, stop and kill.

`python -m tests.submissions.running.run_factory` is a process that has imported all that runs need, and forks a child,
in a process group of its own, for each command line.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[3]
_NEEDED = (
    "aiohttp",
    "fastapi",
    "inspect_ai._eval.task.run",
    "inspect_ai.agent._acp.server",
    "inspect_ai.model._providers.openai_compatible",
    "markdown_it",
    "openai",
    "pandas",
    "fairspace.submissions.benchmarks.fact_or_fair.declaration",
    "fairspace.submissions.results.result",
    "fairspace.submissions.running.images.generating",
    "fairspace.submissions.running.judging",
    "fairspace.submissions.benchmarks.fact_or_fair.ask",
    "fairspace.submissions.running.run",
    "fairspace.submissions.tasks",
    "tests.submissions.running.killing",
)


@dataclass(frozen=True)
class Command:
    """A started command; its process group has the number of its process."""

    pid: int
    log: Path
    commands: Commands

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, how)

    def wait(self, seconds: float = 120) -> int:
        """Exit status, negative for a signal. TimeoutError if it does not end."""
        status = self.commands.ask(wait=self.pid, seconds=seconds)
        if status is None:
            self.kill()
            raise TimeoutError(self.output)
        return int(status)

    @property
    def running(self) -> bool:
        return self.commands.ask(wait=self.pid, seconds=0, keep=True) is None

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def done(self, seconds: float = 120) -> str:
        assert self.wait(seconds) == 0, self.output
        return self.output


@dataclass
class Commands(AbstractContextManager["Commands"]):
    folder: Path

    def __post_init__(self) -> None:
        self._started: list[Command] = []
        self._process = _starter()

    def start(
        self,
        *words: object,
        environment: Mapping[str, str] | None = None,
        file_size: int = 0,
        program: str = "fairspace",
    ) -> Command:
        """Start `fairspace WORDS`, or `killing WORDS`; `file_size` limits bytes per file, 0 for no limit."""
        log = self.folder / f"{len(self._started) + 1}.txt"
        request = {"log": str(log), "environment": {**os.environ, **(environment or {})}, "file_size": file_size}
        pid = self.ask(words=[program, *map(str, words)], **request)
        self._started.append(Command(pid, log, self))
        return self._started[-1]

    def run(self, *words: object, environment: Mapping[str, str] | None = None) -> str:
        return self.start(*words, environment=environment).done()

    def ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for command in self._started:
            if command.running:
                command.kill()
                command.wait()


@cache
def _starter() -> subprocess.Popen[str]:
    words = [sys.executable, "-m", __name__]
    process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def end() -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait()
        process.stdout.close()

    atexit.register(end)
    return process


def start_inspect(words: Iterable[object], folder: Path, **environment: str) -> subprocess.Popen[bytes]:
    """Inspect's own program, which prints into `inspect.txt`; this checkout is installed in it, and not imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"fairspace-{project['version']}.dist-info"
    info.mkdir(exist_ok=True)
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fairspace\nVersion: {project['version']}\n")
    (info / "entry_points.txt").write_text("".join(groups))
    (info / "direct_url.json").write_text(json.dumps({"url": ROOT.as_uri(), "dir_info": {"editable": True}}))
    environment["PYTHONPATH"] = f"{folder}{os.pathsep}{ROOT}"
    program = [str(Path(sys.executable).with_name("inspect")), *map(str, words)]
    with (folder / "inspect.txt").open("wb") as printed:
        return subprocess.Popen(program, cwd=ROOT, env=os.environ | environment, stdout=printed, stderr=printed)


def run_inspect(words: Iterable[object], folder: Path, **environment: str) -> None:
    status = start_inspect(words, folder, **environment).wait()
    printed = (folder / "inspect.txt").read_text()
    assert status == 0, printed
    assert "was not found in the registry" not in printed


def until(what: Callable[[], bool], command: Command, seconds: float = 60) -> bool:
    """Wait for a condition or the end of the command; return the condition. TimeoutError has the command's output."""
    end = time.monotonic() + seconds
    while not what():
        if not command.running:
            return what()
        if time.monotonic() > end:
            command.kill()
            raise TimeoutError(command.output)
        time.sleep(0.04)
    return True


def journaled(file: Path) -> list[Any]:
    from fairspace.submissions.running.asking.journal import Journal

    with Journal(file) as journal:
        return list(journal.answers())


def manifest(folder: Path, *without: str) -> dict[str, Any]:
    """`manifest.json` without its stages' times, checkout and these fields."""
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
    for stage in content["stages"]:
        for name in ("started", "ended", "git", *without):
            del stage[name]
    return content


def assert_same(one: Path, other: Path) -> None:
    """Assert equal bytes, and equal manifests but for times, tokens and attempts (kills lose some)."""
    names = sorted(file.name for file in one.iterdir())
    assert names == sorted(file.name for file in other.iterdir())
    for name in names:
        if name != "manifest.json":
            assert (one / name).read_bytes() == (other / name).read_bytes(), name
    first, second = (manifest(folder, "input_tokens", "output_tokens", "course") for folder in (one, other))
    assert first == second


def _main() -> list[str] | None:
    children: dict[int, int | None] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "words" in request:
            pid = os.fork()
            if not pid:
                _become(request)
                return list(request["words"])
            children[pid] = None
            answer: int | None = pid
        else:
            answer = _ended(children, request["wait"], request["seconds"])
        print(json.dumps(answer), flush=True)
    for pid, status in children.items():
        if status is None and _ended(children, pid, 0) is None:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return None


def _become(request: dict[str, Any]) -> None:
    """Become an own process, as a shell would start it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    os.environ.update(request["environment"])
    if request["file_size"]:
        sys.dont_write_bytecode = True  # CPython 3.11 leaves a compiled file that a limit cut off, in its place
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_size"],) * 2)


def _ended(children: dict[int, int | None], pid: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    while children[pid] is None:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            children[pid] = os.waitstatus_to_exitcode(status)
        elif time.monotonic() >= end:
            return None
        else:
            time.sleep(0.01)
    return children[pid]


def _import() -> None:
    """Import a run's modules and their caches, but start no thread."""
    for name in _NEEDED:
        import_module(name)
    import_module("torch").set_num_threads(1)
    import_module("inspect_ai.model").get_model_info("openai/gpt-4o")
    inspect_task = import_module("fairspace.submissions.running.asking.inspect_task")
    inspect_task.open_benchmark(inspect_task.ChosenPart("fact_or_fair"))
    gc.collect()
    gc.freeze()  # or every child scans the imported modules again and again, and copies their pages


def _end(status: object) -> NoReturn:
    """End without tearing down the imported modules, which takes longer than a run."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 0 if status is None else 1)


if __name__ == "__main__":
    from fairspace.submissions.commands.main import main

    _import()
    argv = _main()
    if argv is not None:
        sys.argv = argv
        if argv[0] == "killing":
            from tests.submissions.running.killing import main
        try:
            main()
        except SystemExit as ended:
            _end(ended.code)
