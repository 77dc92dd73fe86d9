"""A plugin of pytest: CPU seconds of each test's set-up and call, with those of ended child processes.

Every run updates `.pytest_cache/seconds.json`; the next run's workers begin with the longest files. `python -m
tests.cpu_seconds`, part of `make check`, fails if a test without the mark `slow`, `process` or `browser` took more than
`LIMIT` seconds. Fixtures of a wider scope than a function, and first imports, are not counted.
"""

import builtins
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.machine_speed import slowness

ROOT = Path(__file__).parents[1]
FILE = ROOT / ".pytest_cache" / "seconds.json"
LIMIT = 3.0
"""CPU seconds, on a machine of the reference speed."""
MARKS = ("slow", "process", "browser")
_PROPERTY = "seconds"


def _seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Clock:
    def __init__(self) -> None:
        self.began = self.shared = 0.0
        self.is_sharing = False

    def start(self) -> None:
        self.began, self.shared = _seconds(), 0.0

    @property
    def seconds(self) -> float:
        return _seconds() - self.began - self.shared

    @contextmanager
    def sharing(self) -> Iterator[None]:
        if self.is_sharing:
            yield
            return
        start, self.is_sharing = _seconds(), True
        try:
            yield
        finally:
            self.is_sharing = False
            self.shared += _seconds() - start


CLOCK = Clock()
_import = builtins.__import__


def _timed_import(name: str, *rest: Any, **named: Any) -> Any:
    if name in sys.modules or CLOCK.is_sharing:
        return _import(name, *rest, **named)
    with CLOCK.sharing():
        return _import(name, *rest, **named)


def pytest_configure(config: pytest.Config) -> None:
    """Time first imports from now on, and let the process that sees all reports write the file."""
    builtins.__import__ = _timed_import
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Writer(), "cpu-seconds-writer")


def pytest_unconfigure() -> None:
    builtins.__import__ = _import


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin a worker's items with the longest files, so that no worker waits at the end."""
    if not hasattr(config, "workerinput"):
        return
    known = _read()
    wall: defaultdict[str, float] = defaultdict(float)
    for item in items:
        wall[_file(item.nodeid)] += known.get(item.nodeid, {}).get("wall", _guess(item))
    items.sort(key=lambda item: -wall[_file(item.nodeid)])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart() -> None:
    CLOCK.start()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    if fixturedef.scope == "function":
        return (yield)
    with CLOCK.sharing():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: Any = yield
    if call.when == "call":
        report.user_properties.append((_PROPERTY, (CLOCK.seconds, _mark(item))))
    return report


class _Writer:
    def __init__(self) -> None:
        self.wall: defaultdict[str, float] = defaultdict(float)
        self.tests: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.wall[report.nodeid] += report.duration
        for name, value in report.user_properties:
            if name == _PROPERTY and isinstance(value, (tuple, list)):
                self.tests[report.nodeid] = {"cpu": round(value[0] / slowness(), 2), "mark": value[1]}

    def pytest_sessionfinish(self) -> None:
        if not self.tests:
            return
        for name, test in self.tests.items():
            test["wall"] = round(self.wall[name], 2)
        whole = {name: test for name, test in (_read() | self.tests).items() if (ROOT / _file(name)).is_file()}
        FILE.parent.mkdir(exist_ok=True)
        part = FILE.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(dict(sorted(whole.items()))) + "\n", encoding="utf-8")
        part.replace(FILE)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for line in too_long(self.tests):
            terminalreporter.write_line(line, yellow=True)


def too_long(tests: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [
        f"{name} took {test['cpu']:.1f} CPU seconds: mark it slow, or make it lighter than {LIMIT:g}"
        for name, test in sorted(tests.items())
        if test["cpu"] > LIMIT and not test["mark"]
    ]


def _read() -> dict[str, dict[str, Any]]:
    tests: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return tests


def _file(name: str) -> str:
    return name.partition("::")[0]


def _mark(item: pytest.Item) -> str:
    return next((name for name in MARKS if item.get_closest_marker(name)), "")


def _guess(item: pytest.Item) -> float:
    """Seconds of a test that nobody measured: those that its mark `slow` states, else ten of any marked one."""
    slow = item.get_closest_marker("slow")
    stated = slow.kwargs.get("seconds") if slow else None
    return float(stated or (10.0 if _mark(item) else 0.1))


def main() -> None:
    tests = _read()
    lines = too_long(tests)
    print(*lines, sep="\n", end="\n" if lines else "")
    print(f"{len(tests)} tests measured in {FILE.relative_to(ROOT)}, {len(lines)} over {LIMIT:g} CPU seconds unmarked")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
