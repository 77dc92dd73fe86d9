"""Parts that launchers start, one of them killed, are joined to the bytes of one process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.submissions.running.run_factory import journaled
from tests.submissions.running.test_parts import MODEL

pytestmark = [pytest.mark.process, pytest.mark.slow]
PROGRAMS = Path(sys.executable).parent
RUN = ("run", "--benchmark", "fact_or_fair", "--dataset-revision", "v2-core", "--limit", "6", "--model", MODEL)
TORCHRUN = (str(PROGRAMS / "torchrun"), "--nproc_per_node", "2", "--no-python")
SECONDS = 600


def fairspace(*words: str, before: tuple[str, ...] = (), **variables: str) -> subprocess.Popen[bytes]:
    program = (*before, str(PROGRAMS / "fairspace"), *words)
    return subprocess.Popen(program, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)


def done(*started: subprocess.Popen[bytes]) -> None:
    assert [process.wait(SECONDS) for process in started] == [0] * len(started)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "mine"
    done(fairspace(*RUN, "--out", str(out)))
    return out


def assert_joined(out: Path, parts: int, whole: Path) -> None:
    folders = sorted(map(str, out.parent.glob(f"{out.name}.part-*-of-{parts:05}")))
    assert len(folders) == parts
    done(fairspace("join", *folders, "--out", str(out)))
    for name in ("responses.parquet", "submission.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_three_commands_with_a_part_each(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    done(*(fairspace(*RUN, "--out", str(out), "--part", f"{number}/3") for number in range(3)))
    assert_joined(out, 3, whole)


def test_two_ranks_of_a_step_of_slurm(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    step = partial(fairspace, *RUN, "--out", str(out), SLURM_NTASKS="2", SLURM_STEP_NUM_TASKS="2")
    done(*(step(SLURM_PROCID=rank, SLURM_LOCALID=rank) for rank in "01"))
    assert_joined(out, 2, whole)


def rank_of(launcher: int, rank: str, seconds: float = SECONDS) -> int:
    """Process of a rank among the children of its launcher."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text(encoding="utf-8").split()
        for child in children:
            if _variables(child).get("RANK") == rank:
                return int(child)
        time.sleep(0.1)
    raise TimeoutError(rank)


def _variables(process: str) -> Mapping[str, str]:
    content = Path(f"/proc/{process}/environ").read_bytes().decode()
    return dict(entry.partition("=")[::2] for entry in content.split("\0"))


def test_torchrun_goes_on_after_one_of_two_ranks_was_killed(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    journal = tmp_path / "mine.part-00001-of-00002.run" / "journal.sqlite"
    launched = fairspace(*RUN, "--out", str(out), before=TORCHRUN, SECONDS_OF_AN_ANSWER="2")
    rank = rank_of(launched.pid, "1")
    while launched.poll() is None and not (journal.is_file() and len(journaled(journal)) > 2):
        time.sleep(0.1)
    os.kill(rank, signal.SIGKILL)
    assert launched.wait(SECONDS) == 1
    before = len(journaled(journal))
    assert not (tmp_path / "mine.part-00001-of-00002").exists()
    done(fairspace(*RUN, "--out", str(out), before=TORCHRUN))
    assert 2 < before < len(journaled(journal))
    assert_joined(out, 2, whole)
