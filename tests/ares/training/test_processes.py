"""Several processes train what one does: batches that cannot be divided, kills, mixed precision, refused launches."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from accelerate import DistributedType
from safetensors.torch import load_file

from fairspace.ares.training.folder import METRICS, REPORT
from fairspace.ares.training.processes import Run, opened_accelerator
from fairspace.ares.training.stages import train
from fairspace.builders.errors import BuildError
from tests.ares.quick import GATE, quick_config

ROOT = Path(__file__).parents[3]
DATA = "drawn:65"
"""In batches of 32 the last one has a single image: fewer than there are processes."""
TOLERANCE = 1e-4
"""Of every loss, relative, and of every weight, absolute: sums of float32 in another order, over two epochs of Adam."""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both tasks, so fusion and cuts as well, and a gate; without dropout, which every process draws for itself."""
    file = quick_config(tmp_path_factory.mktemp("processes") / "quick.toml")
    file.write_text(file.read_text().replace("hidden_dropout_prob = 0.1", "hidden_dropout_prob = 0.0") + GATE)
    return file


@pytest.fixture(scope="module")
def alone(config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("alone") / "out"
    train(config, DATA, out)
    return out


@pytest.mark.process
def test_two_processes_of_a_launcher_train_what_one_does(config: Path, alone: Path, tmp_path: Path) -> None:
    """Also the last batch of one image, which only one of the two has."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    command += [str(Path(sys.executable).with_name("fairspace")), "ares", "train"]
    command += ["--config", str(config), "--data", DATA, "--out", str(tmp_path / "two")]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("stage fast  epoch 0") == 1  # one process speaks for both
    reports = [json.loads((folder / REPORT).read_text(encoding="utf-8")) for folder in (alone, tmp_path / "two")]
    assert [report["processes"] for report in reports] == [1, 2]
    one, two = (
        [json.loads(line) for line in (folder / METRICS).read_text(encoding="utf-8").splitlines()]
        for folder in (alone, tmp_path / "two")
    )
    assert [event["stage"] for event in one] == [event["stage"] for event in two]
    for first, second in zip(one, two, strict=True):
        for key in {"loss", "held_out_loss", "held_out_error"} & set(first):
            assert second[key] == pytest.approx(first[key], rel=TOLERANCE), (first["stage"], key)
        if "confusion" in first:
            assert np.sum(first["confusion"]) == np.sum(second["confusion"]) == 60
    weights, together = (load_file(folder / "model.safetensors") for folder in (alone, tmp_path / "two"))
    assert set(weights) == set(together)
    for name, value in weights.items():
        torch.testing.assert_close(together[name], value, rtol=0, atol=TOLERANCE, msg=name)


@pytest.mark.process
def test_two_killed_processes_go_on_to_the_same_bytes(tmp_path: Path) -> None:
    """With dropout, and in bfloat16 as GPUs train; killed in an expert, in the fusion regressor, and in the gate."""
    config = quick_config(tmp_path / "quick.toml", tasks='[[tasks]]\nname = "skin_tone"\n')
    config.write_text('precision = "bf16"\n' + config.read_text() + GATE, encoding="utf-8")
    assert _together(config, tmp_path / "whole") == [0, 0]
    stages = [json.loads(line)["stage"] for line in (tmp_path / "whole" / METRICS).read_text().splitlines()]
    assert stages[-2:] == ["gate"] * 2
    for kill in (3, 8, len(stages) - 1):
        assert _together(config, tmp_path / "killed", kill) == [-signal.SIGKILL] * 2
        assert not (tmp_path / "killed" / REPORT).exists()
    assert _together(config, tmp_path / "killed") == [0, 0]
    whole, killed = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("whole", "killed")
    )
    assert killed == whole
    assert json.loads(whole["config.json"])["gate"]["kept"][1] > 0


def _together(config: Path, out: Path, kill: int = 0) -> list[int | None]:
    """Exit codes of two processes that train; both are killed when so many epochs are logged."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = multiprocessing.get_context("forkserver")  # which imports everything once, and is forked for each process
    server.set_forkserver_preload([__name__])
    pair = [server.Process(target=_one_of_two, args=(rank, port, config, out, kill)) for rank in range(2)]
    for process in pair:
        process.start()
    pair[0].join(300)
    if kill:
        pair[1].kill()
    pair[1].join(60)
    return [process.exitcode for process in pair]


def _one_of_two(rank: int, port: int, config: Path, out: Path, kill: int) -> None:
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    torch.set_num_threads(1)

    def stop(event: Mapping[str, Any]) -> None:
        if kill and len((out / ".training" / METRICS).read_text(encoding="utf-8").splitlines()) >= kill:
            os.kill(os.getpid(), signal.SIGKILL)

    train(config, DATA, out, progress=stop)


class _Accelerator:
    """What accelerate says of a process, where it is not a plain one."""

    def __init__(self, device: str, processes: int, kind: DistributedType) -> None:
        self.device, self.num_processes, self.distributed_type = torch.device(device), processes, kind


@pytest.mark.parametrize(
    ("device", "processes", "kind", "said"),
    [
        ("mps", 1, DistributedType.NO, r"device mps.*Mend: set ACCELERATE_USE_CPU=true"),
        ("cuda", 1, DistributedType.NO, r"WORLD_SIZE says 2 processes, and this one sees 1.*accelerate launch"),
        ("cuda", 2, DistributedType.FSDP, r"FSDP.*data parallel processes.*without FSDP"),
    ],
)
def test_devices_that_cannot_train_together_are_refused(
    device: str, processes: int, kind: DistributedType, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accelerate.Accelerator", lambda **options: _Accelerator(device, processes, kind))
    monkeypatch.setenv("WORLD_SIZE", "1" if device == "mps" else "2")
    with pytest.raises(BuildError, match=rf"TRAINING_DEVICES.*{said}"):
        opened_accelerator()


def test_each_row_of_a_batch_belongs_to_one_process(tmp_path: Path) -> None:
    rows = np.arange(5)
    shares = []
    for process in range(4):
        accelerator: Any = SimpleNamespace(process_index=process, num_processes=4)
        shares.append(Run(accelerator, tmp_path, 0, 0, print).own(rows).tolist())
    assert shares == [[0, 4], [1], [2], [3]]


def test_a_tensor_goes_to_a_gpu_from_pinned_memory(tmp_path: Path) -> None:
    accelerator: Any = SimpleNamespace(device=torch.device("cuda", 1))
    tensor = Mock(is_pinned=Mock(return_value=False))
    moved = Run(accelerator, tmp_path, 0, 0, print).moved(tensor)
    assert moved is tensor.pin_memory().to.return_value
    tensor.pin_memory().to.assert_called_once_with(torch.device("cuda", 1), non_blocking=True)
