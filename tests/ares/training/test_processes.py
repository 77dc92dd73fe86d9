"""Several processes train together what one would train alone, up to rounding."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairspace.ares.training.folder import METRICS, REPORT
from fairspace.ares.training.stages import train
from tests.ares.quick import quick_config

ROOT = Path(__file__).parents[3]
DATA = "drawn:60"
SCRIPT = """
import sys
from pathlib import Path
from fairspace.ares.training.stages import train
train(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
"""


@pytest.mark.slow
def test_two_processes_train_what_one_does(tmp_path: Path) -> None:
    config = quick_config(tmp_path / "quick.toml", tasks='[[tasks]]\nname = "age_gender"\narbiter = "vote"\n')
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(script)]
    environment = os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*start, str(config), DATA, str(tmp_path / "two")], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    train(config, DATA, tmp_path / "one")
    assert json.loads((tmp_path / "two" / REPORT).read_text(encoding="utf-8"))["processes"] == 2
    one, two = (
        [json.loads(line) for line in (tmp_path / name / METRICS).read_text(encoding="utf-8").splitlines()]
        for name in ("one", "two")
    )
    assert [event["stage"] for event in one] == [event["stage"] for event in two]
    compared = 0
    for alone, together in zip(one, two, strict=True):
        if alone["stage"] in ("age_gender__clip", "age_gender__convnext"):  # DINOv2 drops out at random here
            compared += 1
            assert together["loss"] == pytest.approx(alone["loss"], rel=1e-4)
            assert together["held_out_loss"] == pytest.approx(alone["held_out_loss"], rel=1e-4)
            assert sum(map(sum, together["confusion"])) == sum(map(sum, alone["confusion"])) == 60
    assert compared == 4
