"""Tiny models that tests share, read-only."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.store import stored

if TYPE_CHECKING:
    import numpy as np

    from fairspace.ares.routing_ares import EscalationRouter

DATA = "drawn:2000"
_DECIDES = ("ares/*_ares.py", "ares/training/*.py", "ares/configs/tiny.toml", "builders/drawn/*.py")
"""Files that decide the content of a trained model."""


@lru_cache
def random_ares() -> Path:
    return stored("tiny-ares", lambda folder: tiny_model(folder / "tiny"), ("ares", "builders/drawn")) / "tiny"


def tiny_model(folder: Path) -> Path:
    """Write a tiny model with random weights, which answers at random by every route."""
    import numpy as np
    import torch

    from fairspace.ares.image_processing_ares import AresImageProcessor
    from fairspace.ares.routing_ares import meta_features
    from fairspace.ares.training.config import CONFIGS, read_config
    from fairspace.ares.training.data import DrawnFaces
    from fairspace.ares.training.stages import untrained

    config = read_config(CONFIGS / "tiny.toml")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = untrained(config, [task.entry() for task in config.tasks], {}).eval()
    random, names = np.random.RandomState(0), [task["name"] for task in model.config.tasks]
    for task in model.config.tasks:
        model.escalation[task["name"]] = random_router(random, len(task["labels"]), len(model.config.kinds))
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


def random_router(
    random: np.random.RandomState, labels: int, kinds: int, *, depth: int = 3, trees: int = 5
) -> EscalationRouter:
    """A router trained on drawn chances of so many labels by experts of so many kinds."""
    import numpy as np
    import xgboost

    from fairspace.ares.routing_ares import EscalationRouter, meta_features

    chances = random.dirichlet(np.ones(labels), size=(200, kinds))
    matrix = xgboost.DMatrix(meta_features(chances), label=random.randint(0, 2, 200))
    settings = {"max_depth": depth, "objective": "binary:logistic", "nthread": 1}
    return EscalationRouter(xgboost.train(settings, matrix, trees))


@lru_cache
def trained_ares() -> Path:
    """The folder of a tiny ARES trained on drawn faces, kept between runs.

    Always two threads (two minutes of one core): another number of threads trains another model.
    """

    def train_tiny(folder: Path) -> None:
        import torch

        from fairspace.ares.training.config import CONFIGS
        from fairspace.ares.training.stages import train

        threads = torch.get_num_threads()
        torch.set_num_threads(2)
        try:
            train(CONFIGS / "tiny.toml", DATA, folder / "tiny")
        finally:
            torch.set_num_threads(threads)

    return stored("trained-ares", train_tiny, _DECIDES) / "tiny"
