"""Tiny models that tests share, read-only."""

import hashlib
import shutil
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from tests.cpu_seconds import CLOCK
from tests.store import ROOT, STORE, stored

DATA = "drawn:2000"
_DECIDES = ("ares/*_ares.py", "ares/training/*.py", "ares/configs/tiny.toml", "builders/drawn/*.py")
"""Files that decide the content of its folder."""
_LIBRARIES = ("torch", "transformers", "numpy", "pillow")


@lru_cache
def random_ares() -> Path:
    return stored("tiny-ares", lambda folder: tiny_model(folder / "tiny"), ("ares", "builders/drawn")) / "tiny"


def tiny_model(folder: Path) -> Path:
    """Write a tiny model with random weights, which answers at random by every route."""
    import numpy as np
    import torch
    import xgboost

    from fairspace.ares.image_processing_ares import AresImageProcessor
    from fairspace.ares.routing_ares import EscalationRouter, meta_features
    from fairspace.ares.training.config import CONFIGS, read_config
    from fairspace.ares.training.data import DrawnFaces
    from fairspace.ares.training.stages import untrained

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


@lru_cache
def trained_ares() -> Path:
    """The folder of a tiny ARES trained on drawn faces, kept between runs.

    Always two threads (two minutes of one core): another number of threads trains another model.
    """
    import torch

    from fairspace.ares.training.config import CONFIGS
    from fairspace.ares.training.stages import train

    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in _LIBRARIES).encode())
    for file in (file for pattern in _DECIDES for file in sorted(ROOT.glob(pattern))):
        digest.update(file.read_bytes())
    cache, name, threads = STORE / "ares", f"tiny-{digest.hexdigest()[:16]}", torch.get_num_threads()
    cache.mkdir(parents=True, exist_ok=True)
    with CLOCK.sharing(), FileLock(cache / "lock"):
        for older in cache.glob("tiny-*"):
            if older.name != name:
                shutil.rmtree(older)
        torch.set_num_threads(2)
        try:
            train(CONFIGS / "tiny.toml", DATA, cache / name)
        finally:
            torch.set_num_threads(threads)
    return cache / name
