"""A tiny ARES for tests and for trying things out on a laptop's CPU."""

from __future__ import annotations

from pathlib import Path

SIZE = 64


def tiny_model(folder: Path) -> Path:
    """A folder with a tiny model, loadable by `AresModel.from_pretrained`."""
    import numpy as np
    import torch
    import xgboost

    from ares.configuration_ares import AresConfig
    from ares.modeling_ares import AresModel
    from ares.routing_ares import EscalationRouter, meta_features

    clip = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 3}
    backbones = {
        "clip": {"shared": 0, "config": {**clip, "image_size": SIZE, "patch_size": 8, "projection_dim": 32}},
        "dinov2": {
            "shared": 0,
            "config": {
                "hidden_size": 48,
                "num_hidden_layers": 3,
                "num_attention_heads": 3,
                "image_size": SIZE,
                "patch_size": 8,
                "mlp_ratio": 2,
            },
        },
        "convnext": {"shared": 0, "config": {"hidden_sizes": [16, 24, 32, 48], "depths": [1, 1, 1, 1]}},
    }
    b0 = {"width_coefficient": 0.2, "depth_coefficient": 0.2, "hidden_dim": 256, "image_size": SIZE}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AresConfig(
            backbones=backbones, router={"config": b0}, image_size=SIZE, fusion_hidden=[32], fast_confidence=0.36
        )
        model = AresModel(config).eval()
    random = np.random.RandomState(0)
    for task in config.tasks:
        chances = random.dirichlet(np.ones(len(task["labels"])), size=(200, 3))
        matrix = xgboost.DMatrix(meta_features(chances), label=random.randint(0, 2, 200))
        booster = xgboost.train({"max_depth": 3, "objective": "binary:logistic", "nthread": 1}, matrix, 5)
        model.escalation[task["name"]] = EscalationRouter(booster)
    model.save_pretrained(folder)
    return folder
