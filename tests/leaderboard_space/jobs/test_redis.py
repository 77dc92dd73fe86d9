"""Workers that share a queue in Redis do each job once, and take over from one that is killed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError

from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.jobs.jobs import Timing
from fairspace.leaderboard_space.jobs.queue import Job
from tests.leaderboard_space.factory import bad_zip, good_zip
from tests.leaderboard_space.jobs.spaces import good, hand_in, kinds, log, rebuilt, settings, space, until, until_ended

ROOT = Path(__file__).parents[3]
SERVER = shutil.which("redis-server")
pytestmark = pytest.mark.skipif(
    SERVER is None and os.environ.get("FAIRSPACE_REQUIRE_REDIS") != "1",
    reason="no redis-server: install it (Debian: apt-get install redis-server), "
    "then run .venv/bin/python -m pytest tests/leaderboard_space/jobs/test_redis.py",
)


def ready(client: Redis) -> bool:
    """Whether the server answers."""
    try:
        return bool(client.ping())
    except ConnectionError:
        return False


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[str]:
    """The address of an empty Redis."""
    assert SERVER is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [SERVER, "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        url = f"redis://127.0.0.1:{port}/0"
        with Redis.from_url(url) as client:
            until(lambda: ready(client))
        yield url
        server.terminate()


@pytest.mark.process
def test_two_worker_processes_share_the_queue_and_stop_when_told(tmp_path: Path, queue: str) -> None:
    about = settings(tmp_path, queue=queue, workers=0)
    web = space(about, timing=Timing())
    own = {"STORE": about.store, "WORK": str(about.work), "QUEUE": queue, "BASELINES": "0"}
    environment = os.environ | {f"FAIRSPACE_{name}": value for name, value in own.items()}
    with ExitStack() as opened:
        workers = [
            opened.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "fairspace.leaderboard_space.worker"],
                    cwd=ROOT,
                    env=environment,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(2)
        ]
        for worker in workers:
            opened.callback(worker.kill)
        web.jobs.start()
        web.intake.accept(good_zip(tmp_path / "good.zip", "a model"), User("ada"))
        for user in ("ada", "grace"):
            web.intake.accept(bad_zip(tmp_path / "bad.zip")[0], User(user))
        until_ended(web)
        counted = {"begun": 1, "ended:scored": 1, "ended:refused": 2}
        until(lambda: counted.items() <= web.jobs.counts().items())
        web.jobs.stop()
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        told = [worker.communicate(timeout=600)[1] for worker in workers]
        assert [worker.returncode for worker in workers] == [0, 0]
    assert kinds(about) == {"accepted": 3, "result": 1, "scored": 1, "refused": 2}
    assert sum(lines.count("a job was begun") for lines in told) == 1
    assert "Traceback" not in "".join(told)
    assert web.state.snapshot() == rebuilt(about)


def test_a_worker_takes_over_from_one_that_is_gone_and_the_web_process_sees_it(tmp_path: Path, queue: str) -> None:
    about = settings(tmp_path, queue=queue)
    web, worker = space(settings(tmp_path, queue=queue, workers=0)), space(about)
    handed_in = hand_in(web, tmp_path, good())
    assert web.jobs.queue.take(Job(handed_in.id, 1), "gone")
    assert web.jobs.progress(handed_in).stage == "running"
    begun = time.monotonic()
    web.jobs.start()
    worker.jobs.start()
    until_ended(web)
    assert time.monotonic() - begun > worker.jobs.timing.patience
    worker.jobs.stop()
    web.jobs.stop()
    assert kinds(about) == {"accepted": 1, "result": 1, "scored": 1}
    assert log(about)[-1].body["same"] is False
    assert web.jobs.queue.kept() == set()
