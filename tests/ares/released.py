import json
import shutil
from functools import partial
from pathlib import Path

from fairspace.ares.evaluating.evaluate import evaluate, write_measurement
from tests.store import stored
from tests.tiny_ares import random_ares

FACES = 60


def released(tiny: Path, folder: Path) -> Path:
    """A copy of a tiny model, measured on drawn faces once for all tests."""
    return Path(shutil.copytree(_stored(tiny) / "ares", folder / "ares"))


def evaluation(tiny: Path) -> Path:
    """The folder of its evaluation on `FACES` drawn faces."""
    return _stored(tiny) / "evaluation"


def _stored(tiny: Path) -> Path:
    return stored("released-random" if tiny == random_ares() else "released-trained", partial(_release, tiny))


def _release(tiny: Path, folder: Path) -> None:
    model = Path(shutil.copytree(tiny, folder / "ares"))
    if not (model / "calibration.json").is_file():
        (model / "calibration.json").write_text(json.dumps({"tasks": {}}), encoding="utf-8")
    found = evaluate(model, f"drawn:{FACES}", folder / "evaluation", device="cpu")
    write_measurement(model, found, "2026-05-01")
