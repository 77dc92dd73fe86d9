"""A tiny ARES, trained on drawn faces: for tests, and to try things out on a laptop's CPU.

Training takes about two minutes of one core; a model that was trained with the same code, configuration and libraries
is taken from the cache.
"""

from __future__ import annotations

import hashlib
import shutil
from importlib.metadata import version
from pathlib import Path

from fairspace.ares.training.config import CONFIGS, read_config
from fairspace.ares.training.processes import Progress

DATA = "drawn:2000"
_PACKAGE = Path(__file__).parents[2]
_DECIDES = (
    "ares/training/*.py",
    "ares/training/drawn_faces.py",
    "ares/configuration_ares.py",
    "ares/experts_ares.py",
    "ares/rounding_ares.py",
    "ares/routing_ares.py",
    "ares/gate_ares.py",
    "ares/threads_ares.py",
    "ares/deciding_ares.py",
    "ares/modeling_ares.py",
    "ares/image_processing_ares.py",
    "ares/reading_ares.py",
    "ares/pixels_ares.py",
    "ares/fates_ares.py",
    "ares/configs/tiny.toml",
    "builders/drawn/*.py",
)
"""The files that decide what is in the folder, below the package."""
_LIBRARIES = ("torch", "transformers", "numpy", "pillow")


def tiny_model(folder: Path) -> Path:
    """Write a tiny model with random weights, which is ready at once and answers at random, by every route."""
    import numpy as np
    import torch
    import xgboost

    from fairspace.ares.image_processing_ares import AresImageProcessor
    from fairspace.ares.routing_ares import EscalationRouter, meta_features
    from fairspace.ares.training.data import DrawnFaces
    from fairspace.ares.training.model import untrained

    config = read_config(CONFIGS / "tiny.toml")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = untrained(config, [task.entry() for task in config.tasks], {}).eval()
    random, names = np.random.RandomState(0), [task["name"] for task in model.config.tasks]
    for task in model.config.tasks:
        chances = random.dirichlet(np.ones(len(task["labels"])), size=(200, len(model.config.kinds)))
        matrix = xgboost.DMatrix(meta_features(chances), label=random.randint(0, 2, 200))
        booster = xgboost.train({"max_depth": 3, "objective": "binary:logistic", "nthread": 1}, matrix, 5)
        model.escalation[task["name"]] = EscalationRouter(booster)
    faces = DrawnFaces("test", 60, model.config.tasks, config.image_size, 0)
    seen = model.observe(faces.pixels.float() / 255, everything=True).values()
    features = [
        (model.escalation[name], meta_features(each.probabilities)) for name, each in zip(names, seen, strict=True)
    ]
    # Random weights are never sure, so the thresholds lie in the middle of what they say.
    model.config.fast_confidence = float(np.median([each.fast.max(axis=1) for each in seen]))
    model.config.escalation = float(np.median([router.probability(each) for router, each in features]))
    model.save_pretrained(folder)
    AresImageProcessor(image_size=config.image_size).save_pretrained(folder)
    return folder


def trained_model(cache: Path, *, progress: Progress = lambda event: None) -> Path:
    """The folder of a trained tiny model, not to be written to.

    Args:
        cache: a folder that keeps it; several processes may use it at once.
        progress: called with the metrics of each epoch, if it is trained.
    """
    from filelock import FileLock

    from fairspace.ares.training.stages import train

    key = _key()
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / "lock"):
        for older in cache.glob("tiny-*"):
            if older.name != f"tiny-{key}":
                shutil.rmtree(older)
        train(CONFIGS / "tiny.toml", DATA, cache / f"tiny-{key}", progress=progress)
    return cache / f"tiny-{key}"


def _key() -> str:
    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in _LIBRARIES).encode())
    for pattern in _DECIDES:
        for file in sorted(_PACKAGE.glob(pattern)):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
