import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.leaderboard_space.jobs.children import disguised
from tests.leaderboard_space.jobs.killed import TRANSITIONS
from tests.leaderboard_space.jobs.killed_server import run
from tests.leaderboard_space.jobs.spaces import good, kinds, log, rebuilt, settings, space, until_ended
from tests.leaderboard_space.waiting import until

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]


def kill_at(folder: Path, at: str, told: str) -> None:
    file = folder / "file"
    file.write_bytes(disguised(told.encode()))
    command = [sys.executable, "-m", "tests.leaderboard_space.jobs.killed", str(folder), at, str(file)]
    assert subprocess.run(command, cwd=ROOT, timeout=600, check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize("at", [at for at in TRANSITIONS if at != "running"])
def test_a_kill_at_a_transition_loses_and_doubles_nothing(tmp_path: Path, at: str) -> None:
    about = settings(tmp_path)
    kill_at(tmp_path, at, good())
    again = space(about)
    again.jobs.start()
    until_ended(again)
    until(lambda: not again.jobs.records)
    again.jobs.stop()
    assert kinds(again) == {"accepted": 1, "result": 1, "scored": 1}
    assert [event.body.get("same") for event in log(again)] == [None, None, False]
    assert again.state.snapshot() == rebuilt(again)
    assert not list((about.work / "scoring").glob("*"))


def test_the_end_of_a_worker_costs_its_job_no_try_and_leaves_no_child(tmp_path: Path) -> None:
    about = settings(tmp_path, tries=1)
    kill_at(tmp_path, "running", "sleep")
    pid = int(next(tmp_path.glob("work/scoring/*/pid")).read_text())
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    again = space(about)
    again.jobs.start()
    until(lambda: again.jobs.records)
    assert [record.tries for record in again.jobs.records.values()] == [1]
    again.jobs.stop(0)
    assert kinds(again) == {"accepted": 1}


@pytest.mark.slow
def test_a_server_that_is_killed_at_random_moments_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    counted = run(tmp_path, rounds=3, seed=7)
    assert counted["rounds"] == 3
    assert counted["processes killed"] >= 3
    assert counted["in the log"] >= counted["acknowledged"]
