"""`python -m tests.leaderboard_space.jobs.killed_server ROUNDS [SEED]`: a whole server killed at random moments.

Clients upload files throughout. Each round starts the server and kills all of its processes with SIGKILL. At the end a
server works until nothing waits: every acknowledged submission stands in the log exactly once and has ended exactly
once, the store is sound, and the boards shown equal those folded from the whole log.
"""

import multiprocessing
import os
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import orjson
import psutil

from fairspace.leaderboard_space.api.boards import board_page
from fairspace.leaderboard_space.jobs.jobs import Jobs, Timing
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.checking import check
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from tests.leaderboard_space.factory import result
from tests.leaderboard_space.jobs.children import disguised
from tests.leaderboard_space.jobs.spaces import CHILDREN, settings
from tests.leaderboard_space.waiting import free_port, until

BENCHMARK = "stereotypical_bias"
BOARD = f"/api/v1/boards/{BENCHMARK}"
CLIENTS = 3
PAUSE_SECONDS = 0.6
LIFE_SECONDS = 3.0
"""Longest life of a server after it listens."""
AT_START = 0.15
MANY = 10**6
UNNAMED = "no event names "
"""Beginning of the one note that a kill may leave: a file is stored before the event that names it."""
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["fairspace.leaderboard_space.app", __name__])


def about(folder: Path) -> Settings:
    """Settings of the server: no quotas, one try per file."""
    quotas = dict.fromkeys(("waiting", "queue_length", "valid_a_day", "faulty_a_day", "failed_a_day"), MANY)
    return replace(settings(folder, insecure_local=True, requests_a_minute=0, tries=1, workers=2), **quotas)  # type: ignore[arg-type]


def serve(folder: Path, port: int) -> None:
    from fairspace.leaderboard_space import serving, space

    os.setsid()
    log = os.open(folder / "log", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(log, stream)
    timing = Timing(sweep=0.2, poll=0.05)
    space.Jobs = partial(Jobs, module=CHILDREN, timing=timing)  # type: ignore[attr-defined, assignment]
    serving.serve(about(folder), port=port)


@dataclass
class Load:
    """Clients that upload files; `good` is a result as JSON."""

    address: str
    good: str
    seed: int
    acknowledged: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        self.threads = [threading.Thread(target=self._hand_in, args=(number,)) for number in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def _hand_in(self, client: int) -> None:
        draw, number = random.Random(f"{self.seed} {client}"), 0
        while not self.stop.wait(draw.uniform(0, 2 * PAUSE_SECONDS)):
            number += 1
            name = f"model {self.seed}-{client}-{number}"
            file = self.good.replace("a model", name) if number % 2 else f"nothing\n{name}"
            with suppress(httpx.HTTPError):
                answer = httpx.post(
                    f"{self.address}/api/v1/submissions",
                    files={"file": ("a.zip", disguised(file.encode()))},
                    timeout=10,
                )
                if answer.status_code == 202:
                    self.acknowledged.append(answer.json()["id"])


def kill_all(process: Any) -> int:
    """Kill a server with all its descendants at once; return the number of processes."""
    with suppress(psutil.NoSuchProcess):
        server = psutil.Process(process.pid)
        server.suspend()  # it starts no more children
        family = [server, *server.children(recursive=True)]
        for member in family:
            with suppress(psutil.NoSuchProcess):
                member.kill()
        process.join()
        return len(family)
    process.join()
    return 0


def run(folder: Path, rounds: int, seed: int = 0) -> dict[str, int]:
    """Kill a server `rounds` times, then compare its state with the acknowledged uploads. AssertionError."""
    port = free_port()
    draw = random.Random(seed)
    load = Load(f"http://127.0.0.1:{port}", result(BENCHMARK, "stereotyped", "a model").dumps(), seed)
    killed = 0
    warm = CONTEXT.Process(target=os.getpid)  # the imports, which every server inherits by fork
    warm.start()
    warm.join()
    load.start()
    try:
        for _ in range(rounds):
            process = CONTEXT.Process(target=serve, args=(folder, port))
            process.start()
            if draw.random() < AT_START:
                time.sleep(draw.uniform(0, 0.5))
            else:
                until(lambda: _listens(port), "the server does not start")
                time.sleep(draw.uniform(0, LIFE_SECONDS))
            killed += kill_all(process)
    finally:
        load.end()
    process = CONTEXT.Process(target=serve, args=(folder, port))
    process.start()
    try:
        state = State(LocalStorage(about(folder).store))
        until(lambda: not _waits(state), "what waits is not worked off", 900)
        folded = _folded(folder)
        with httpx.Client(base_url=load.address, timeout=60) as client:
            until(lambda: _shows(client, folded), "the server shows other boards than its log gives")
    finally:
        process.terminate()
        process.join()
    return {"rounds": rounds, "processes killed": killed} | _judge(folder, load)


def _listens(port: int) -> bool:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


def _waits(state: State) -> bool:
    state.refresh()
    return any(submission.outcome == "waiting" for submission in state.submissions())


def _shows(client: httpx.Client, folded: list[Any]) -> bool:
    """Whether the board's pages on the server are the expected ones."""
    with suppress(httpx.HTTPError):
        first = client.get(BOARD).json()
        return folded == [client.get(f"{BOARD}/page/{number + 1}").json() for number in range(first["pages"])]
    return False


def _folded(folder: Path) -> list[Any]:
    space = Space.open(replace(about(folder), work=folder / "another-work"))
    standard = find_benchmark(BENCHMARK).default
    first = board_page(space, BENCHMARK, standard, 1)
    pages = [board_page(space, BENCHMARK, standard, page + 1) for page in range(first["pages"])]
    return list(orjson.loads(orjson.dumps(pages)))


def _judge(folder: Path, load: Load) -> dict[str, int]:
    storage = LocalStorage(about(folder).store)
    accepted, ended = Counter[str](), Counter[str]()
    for event in storage.events():
        if event.kind == "accepted":
            accepted[event.body["id"]] += 1
        elif event.kind in ("scored", "refused", "failed"):
            ended[event.body["id"]] += 1
    assert len(set(load.acknowledged)) == len(load.acknowledged)
    wrong = {
        name: (accepted[name], ended[name]) for name in load.acknowledged if (accepted[name], ended[name]) != (1, 1)
    }
    assert not wrong, wrong
    report = check(storage)
    faults, notes = report.faults, [note for note in report.notes if not note.startswith(UNNAMED)]
    assert not [*faults, *notes], f"faults {faults}, notes {notes}"
    state = State(storage)
    state.refresh()
    left = [process.pid for process in psutil.process_iter() if str(folder) in " ".join(_command(process))]
    assert not left, "no child outlives its server"
    scored = sum(submission.outcome == "scored" for submission in state.submissions())
    return {"acknowledged": len(load.acknowledged), "in the log": len(accepted), "scored": scored}


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return list(process.cmdline())
    return []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as root:
        begun = time.monotonic()
        print(run(Path(root), int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0])))
        print(f"{time.monotonic() - begun:.0f} s")
