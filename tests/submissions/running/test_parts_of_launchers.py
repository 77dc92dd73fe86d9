"""Parts that launchers start, one of them killed, are joined to the bytes of one process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.submissions.running.run_factory import Commands, journaled
from tests.submissions.running.test_parts import MODEL

pytestmark = [pytest.mark.process, pytest.mark.slow]
PROGRAMS = Path(sys.executable).parent
RUN = ("run", "--benchmark", "fact_or_fair", "--dataset-revision", "v2-core", "--limit", "6", "--model", MODEL)
SECONDS = 600


@pytest.fixture(scope="module")
def whole(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "mine"
    commands.run(*RUN, "--out", out)
    return out


def assert_joined(out: Path, parts: int, whole: Path, commands: Commands) -> None:
    folders = sorted(out.parent.glob(f"{out.name}.part-*-of-{parts:05}"))
    assert len(folders) == parts
    commands.run("join", *folders, "--out", out)
    for name in ("responses.parquet", "submission.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_three_commands_with_a_part_each(commands: Commands, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    for command in [commands.start(*RUN, "--out", out, "--part", f"{number}/3") for number in range(3)]:
        command.done()
    assert_joined(out, 3, whole, commands)


def test_two_ranks_of_a_step_of_slurm(commands: Commands, whole: Path, tmp_path: Path) -> None:
    out, step = tmp_path / "mine", {"SLURM_NTASKS": "2", "SLURM_STEP_NUM_TASKS": "2"}
    ranks = [{**step, "SLURM_PROCID": rank, "SLURM_LOCALID": rank} for rank in "01"]
    for command in [commands.start(*RUN, "--out", out, environment=rank) for rank in ranks]:
        command.done()
    assert_joined(out, 2, whole, commands)


def torchrun(out: Path, **variables: str) -> subprocess.Popen[bytes]:
    program = (PROGRAMS / "torchrun", "--nproc_per_node", "2", "--no-python", PROGRAMS / "fairspace")
    return subprocess.Popen((*program, *RUN, "--out", out), env={**os.environ, **variables}, stdout=subprocess.DEVNULL)


def rank_of(launcher: int, rank: str) -> int:
    """Process of a rank among the children of its launcher."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text(encoding="utf-8").split()
        for child in children:
            if f"RANK={rank}" in Path(f"/proc/{child}/environ").read_bytes().decode().split("\0"):
                return int(child)
        time.sleep(0.1)
    raise TimeoutError(rank)


def test_torchrun_goes_on_after_one_of_two_ranks_was_killed(commands: Commands, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    journal = tmp_path / "mine.part-00001-of-00002.run" / "journal.sqlite"
    launched = torchrun(out, SECONDS_OF_AN_ANSWER="2")
    rank = rank_of(launched.pid, "1")
    while launched.poll() is None and not (journal.is_file() and len(journaled(journal)) > 2):
        time.sleep(0.1)
    os.kill(rank, signal.SIGKILL)
    assert launched.wait(SECONDS) == 1
    before = len(journaled(journal))
    assert not (tmp_path / "mine.part-00001-of-00002").exists()
    assert torchrun(out).wait(SECONDS) == 0
    assert 2 < before < len(journaled(journal))
    assert_joined(out, 2, whole, commands)
