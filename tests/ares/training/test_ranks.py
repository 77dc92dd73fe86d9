"""Training in several processes under torchrun: the losses of one process, one writer, and refusals by name."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fairspace.ares.training.stages import METRICS, REPORT, claimed, train
from fairspace.builders.errors import BuildError
from tests.ares.quick import TASKS, quick_config

DATA = "drawn:97"
"""Three batches of 32 and one of a single row, in which the second of two ranks has none."""
GATE = """
[gate]
kind = "convnext"
hidden = 4
faces = 20
images = 2
hard = 2
tested = 1
learning_rate = 1e-3
epochs = 2
patience = 2
batch = 32
"""
ROOT = Path(__file__).parents[3]
SCRIPT = "import sys\nfrom fairspace.submissions.commands.main import main\n\nmain()\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Without dropout, which each rank draws for itself."""
    return quick_config(
        tmp_path / "quick.toml",
        ("hidden_dropout_prob = 0.1", "hidden_dropout_prob = 0.0"),
        ("[fast.config]", "[fast.config]\ndropout_rate = 0.0\ndrop_connect_rate = 0.0"),
        tasks=TASKS + GATE,
    )


def torchrun(config: Path, out: Path, processes: int, *options: str) -> subprocess.CompletedProcess[str]:
    script = out.with_name("command.py")
    script.write_text(SCRIPT)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(processes), str(script)]
    command = [*launcher, "ares", "train", "--config", str(config), "--data", DATA, "--out", str(out), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=out.parent, env=environment, timeout=900)


def epochs(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / METRICS).read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.process
def test_two_processes_train_as_one_but_for_rounding(config: Path, tmp_path: Path) -> None:
    train(config, DATA, tmp_path / "one")
    ran = torchrun(config, tmp_path / "two", 2, "--distributed")
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert ran.stdout.count("Wrote ") == 1
    assert not (tmp_path / "two" / ".training").exists()
    first, other = epochs(tmp_path / "one"), epochs(tmp_path / "two")
    assert [event["stage"] for event in first] == [event["stage"] for event in other]
    assert {"fast", "gate", "fusion_skin_tone"} <= {event["stage"] for event in first}
    for expected, made in zip(first, other, strict=True):
        for name in ("loss", "held_out_loss", "held_out_error"):
            assert expected.get(name) == pytest.approx(made.get(name), abs=1e-6, nan_ok=True), expected["stage"]
    reports = [json.loads((tmp_path / name / REPORT).read_text()) for name in ("one", "two")]
    assert reports[0]["test"]["age_gender"]["accuracy"] == reports[1]["test"]["age_gender"]["accuracy"]
    assert reports[1]["processes"] == "2"
    by_three = {key: reports[0][key] for key in ("config_sha256", "data", "data_sha256")} | {"processes": "3"}
    with pytest.raises(BuildError, match="OUT_IN_USE"):  # finished, but by another number of processes
        claimed(tmp_path / "one", by_three)


@pytest.mark.parametrize(
    ("variables", "distributed", "said"),
    [
        ({"RANK": "1", "WORLD_SIZE": "2"}, False, r"rank 1/2 of a launcher.*--distributed"),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4"}, False, r"rank 0/4 of a launcher"),
        ({}, True, r"no RANK.*torchrun --nproc_per_node"),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4"}, True, r"no RANK.*torchrun"),
        ({"RANK": "0", "WORLD_SIZE": "2"}, True, r"no MASTER_ADDR"),
    ],
)
def test_ranks_that_are_not_meant_are_refused_before_anything_is_written(
    variables: dict[str, str],
    distributed: bool,
    said: str,
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BuildError, match=f"RANKS_UNMEANT.*{said}"):
        train(config, DATA, tmp_path / "out", distributed=distributed)
    assert not (tmp_path / "out").exists()
