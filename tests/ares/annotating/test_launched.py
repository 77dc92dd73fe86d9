"""`ares annotate` in several processes, the bytes of one: torchrun with a killed rank, Ray with a killed actor."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex

import psutil
import pytest

from fairspace.ares.annotating.annotate import annotate
from fairspace.ares.annotating.files import FILE, WORK, join
from tests.ares.hostile import UNREADABLE
from tests.ares.image_sources import folder, images
from tests.builders.builds import files

ROOT = Path(__file__).parents[3]
SHARD, LONGEST = 8, 600
BUSY = "timed out during startup"
"""Ray's words on a node that did not start in its time."""
COMMAND = """
import os, signal
from fairspace.ares.annotating import files

def killed(*arguments):
    write(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

if os.environ.get("RANK") == "1" and os.environ.get("KILLED"):
    write, files.write = files.write, killed
from fairspace.submissions.commands.main import main
main()
"""


@pytest.fixture(scope="module")
def place(tiny_ares: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images and what one process makes of them."""
    place = tmp_path_factory.mktemp("launched")
    folder(place / "images", images(47, [next(iter(UNREADABLE.values()))[0]()]))
    annotate(tiny_ares, place / "images", place / "whole", shard=SHARD)
    (place / "command.py").write_text(COMMAND)
    return place


def command(place: Path, tiny_ares: Path, out: str) -> list[str]:
    options = ["--model", str(tiny_ares), "--out", out, "--shard", str(SHARD)]
    return [str(place / "command.py"), "ares", "annotate", "images", *options]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}


@pytest.mark.slow
@pytest.mark.process
def test_a_killed_rank_of_torchrun_goes_on_with_the_same_command(place: Path, tiny_ares: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"]
    words = [*launcher, *command(place, tiny_ares, "launched")]
    out = place / "launched"
    settings = {"capture_output": True, "text": True, "cwd": place, "timeout": LONGEST}
    ran = subprocess.run(words, env=environment(KILLED="1"), **settings)  # type: ignore[call-overload]
    assert ran.returncode != 0
    assert "Part 1/2, as the launcher's rank says" in ran.stdout
    assert (out / WORK / "00001-of-00006.json").is_file()
    assert not (out / WORK / "00003-of-00006.json").exists()
    ran = subprocess.run(words, env=environment(), **settings)  # type: ignore[call-overload]
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert "Next: fairspace join launched --out launched" in ran.stdout
    assert not (out / FILE).exists()
    join([out], out)
    assert files(out) == files(place / "whole")


@contextmanager
def raylets() -> Iterator[dict[str, str]]:
    """Two raylets of one core each, and the variables that reach them; skipped where Ray cannot start in its time."""
    session = tempfile.mkdtemp(prefix="ray-")  # short, for the names of sockets
    secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}
    patient = {"RAY_agent_register_timeout_ms": "120000", "HOME": session}
    settings = environment(**secret, **patient)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus", "1", "--object-store-memory"]
    ray += ["100000000", "--disable-usage-stats"]
    head = ["--head", "--port", str(port), "--include-dashboard=false", "--temp-dir", session]
    started: list[subprocess.Popen[str]] = []
    try:
        for number, more in enumerate((head, ["--address", f"127.0.0.1:{port}"])):
            log = Path(session, f"start-{number}.log")
            with log.open("w") as lines:
                started.append(subprocess.Popen([*ray, *more], stdout=lines, stderr=lines, text=True, env=settings))
            ends = time.monotonic() + LONGEST / 2
            while time.monotonic() < ends and started[-1].poll() is None:
                said = log.read_text()
                if "--block" in said or BUSY in said:
                    break
                time.sleep(0.5)
            if BUSY in (said := log.read_text()):
                pytest.skip("this machine is too busy for Ray, which gives a node 30 seconds to start")
            assert started[-1].poll() is None, said[-4000:]
        yield {**secret, "RAY_ADDRESS": f"127.0.0.1:{port}"}
    finally:
        for each in reversed(started):
            family = psutil.Process(each.pid).children(recursive=True) if each.poll() is None else []
            each.terminate()
            try:
                each.wait(30)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
            for child in family:
                if child.is_running():
                    child.kill()
        shutil.rmtree(session, ignore_errors=True)


def actor(below: psutil.Process) -> psutil.Process | None:
    """A process of Ray that labels, of all that this user runs."""
    for each in psutil.process_iter(["cmdline"]):
        line = " ".join(each.info["cmdline"] or [])
        if line.startswith("ray::") and "_Labels" in line and below.is_running():
            return each
    return None


@pytest.mark.slow(seconds=300)
@pytest.mark.process
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (the extra `ray`)")
def test_a_killed_actor_of_ray_changes_no_byte(place: Path, tiny_ares: Path) -> None:
    out = place / "rayed"
    with raylets() as variables:
        words = [sys.executable, *command(place, tiny_ares, "rayed"), "--on", f"ray://{variables.pop('RAY_ADDRESS')}"]
        ran = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=place, env=environment(**variables)
        )
        ends, victim = time.monotonic() + LONGEST, None
        while victim is None and ran.poll() is None and time.monotonic() < ends:
            if any((out / WORK).glob("*-of-*.json")):
                victim = actor(psutil.Process(ran.pid))
            time.sleep(0.05)
        if victim is not None:
            os.kill(victim.pid, signal.SIGKILL)
        said, _ = ran.communicate(timeout=LONGEST)
    assert ran.returncode == 0, said[-4000:]
    assert victim is not None, said
    assert "48 images, 48 rows" in said
    assert files(out) == files(place / "whole")
