import os
import resource
import socket
import threading
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from fairspace.leaderboard_space.jobs.child import ChildEnd, run_child
from fairspace.leaderboard_space.jobs.limits import JobLimits, children_leave_network

LIMITS = JobLimits(memory=256 << 20, cpu_seconds=30, seconds=30, file_bytes=4 << 20, processes=16)
CHILDREN = "tests.leaderboard_space.jobs.children"


def run(tmp_path: Path, way: str, halt: threading.Event | None = None, **limits: int) -> ChildEnd:
    told, folder = tmp_path / "told", tmp_path / "folder"
    told.write_text(way)
    folder.mkdir()
    return run_child(CHILDREN, [str(told), str(folder)], folder, replace(LIMITS, **limits), halt)


def below(folder: Path) -> list[int]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(folder):
                found.append(process.pid)
    return found


@pytest.mark.parametrize(
    ("way", "limits", "reason"),
    [
        ("memory", {}, "took more than 256 MiB of memory"),
        ("shared_memory", {}, "took more than 256 MiB of memory"),
        ("processor", {"cpu_seconds": 1}, "took more than 1 seconds of the processor"),
        ("sleep", {"seconds": 1}, "took longer than 1 seconds"),
        ("file", {}, "wrote files of more than 4 MiB"),
        ("files", {}, "wrote files of more than 4 MiB"),
        ("output", {}, "printed more than 4 MiB"),
        ("fork", {}, "began more than 16 processes"),
        ("die", {}, "died with signal 11 (SIGSEGV)"),
        ("leave", {}, "ended with exit status 7"),
        ("nothing", {}, ""),
    ],
)
def test_a_child_beyond_a_limit_is_ended_with_all_that_it_began(
    tmp_path: Path, way: str, limits: dict[str, int], reason: str
) -> None:
    ended = run(tmp_path, way, None, **limits)
    assert (ended.reason, ended.halted) == (reason, False)
    assert below(tmp_path / "folder") == []
    assert len(ended.output) <= 4096


def test_a_child_that_is_no_longer_wanted_is_ended(tmp_path: Path) -> None:
    halt = threading.Event()
    threading.Timer(0.3, halt.set).start()
    ended = run(tmp_path, "sleep", halt)
    assert ended.halted
    assert ended.seconds < 10
    assert below(tmp_path / "folder") == []


def test_a_child_is_watched_whatever_the_number_of_its_descriptor(tmp_path: Path) -> None:
    """`select` handles 1 024 descriptors; clients can open more."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limits[1] == resource.RLIM_INFINITY or limits[1] > 1200, "this test needs 1 200 descriptors"
    with ExitStack() as opened:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 1200), limits[1]))
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        for _ in range(1050):
            opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        ended = run(tmp_path, "leave")
    assert ended.reason == "ended with exit status 7"


def test_a_child_has_no_network_where_the_system_allows_that(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = run(tmp_path, f"call\n{server.getsockname()[1]}")
    assert ended.output.startswith("nobody there" if children_leave_network() else "connected")


def test_a_child_that_was_killed_from_outside_is_told_from_one_that_broke(tmp_path: Path) -> None:
    killed = run(tmp_path, "killed")
    assert (killed.reason, killed.killed, killed.beyond) == ("died with signal 9 (SIGKILL)", True, False)
    (tmp_path / "folder").rmdir()
    assert not run(tmp_path, "die").killed


def test_a_child_sees_no_secret_and_reads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRSPACE_SECRET", "s")
    monkeypatch.setenv("HF_TOKEN", "t")
    ended = run(tmp_path, "look_around")
    assert "FAIRSPACE" not in ended.output
    assert "HF_TOKEN" not in ended.output
    assert ended.output.endswith(" '' True ['0', '1', '2', '3']\n")  # the fourth is the listed folder
