import json
import shutil
from functools import partial
from pathlib import Path

from fairspace.ares.evaluating.evaluate import evaluate, write_measurement
from tests.store import stored
from tests.tiny_ares import random_ares


def released(tiny: Path, folder: Path) -> Path:
    """A copy of a tiny model, measured on drawn faces once for all tests."""
    name = "released-random" if tiny == random_ares() else "released-trained"
    return Path(shutil.copytree(stored(name, partial(_release, tiny)) / "ares", folder / "ares"))


def _release(tiny: Path, folder: Path) -> None:
    model = Path(shutil.copytree(tiny, folder / "ares"))
    if not (model / "calibration.json").is_file():
        (model / "calibration.json").write_text(json.dumps({"tasks": {}}), encoding="utf-8")
    found = evaluate(model, "drawn:60", folder / "evaluation", device="cpu")
    write_measurement(model, found, "2026-05-01")
