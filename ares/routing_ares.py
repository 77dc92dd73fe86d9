"""From experts' probabilities to an answer: vote, meta-features, escalation, fusion (IRIS, Table 10).

All functions are of arrays, row by row: the decision for one image never depends on another one.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import EfficientNetConfig, EfficientNetModel

from .experts_ares import normalised
from .rounding_ares import rounded

Floats = NDArray[np.float64]


class FastRouter(nn.Module):
    """The best expert for an image, from the raw image: EfficientNet-B0 with one head per task."""

    def __init__(self, config: dict[str, Any], tasks: list[str], experts: int) -> None:
        super().__init__()
        self.trunk = EfficientNetModel(EfficientNetConfig(**(_B0 | config)))
        self.heads = nn.ModuleDict({task: nn.Linear(self.trunk.config.hidden_dim, experts) for task in tasks})

    def forward(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        """(n, 3, h, w) in [0, 1] -> task -> (n, experts) logits."""
        pooled = self.trunk(normalised(pixels, "efficientnet")).pooler_output.flatten(1)
        return {task: head(pooled) for task, head in self.heads.items()}


_B0 = {"width_coefficient": 1.0, "depth_coefficient": 1.0, "hidden_dim": 1280, "image_size": 224}


class FusionRegressor(nn.Module):
    """A continuous value from the experts' concatenated embeddings; skin tone lies on 0 (light) to 2 (dark)."""

    def __init__(self, width: int, hidden: list[int], norm: bool = True) -> None:
        super().__init__()
        sizes = [width, *hidden]
        layers: list[nn.Module] = []
        for before, after in pairwise(sizes):
            layers += [nn.Linear(before, after), nn.ReLU()]
        first = [nn.LayerNorm(width)] if norm else []
        self.layers = nn.Sequential(*first, *layers, nn.Linear(sizes[-1], 1))

    def forward(self, embeddings: torch.Tensor) -> torch.Tensor:
        """(n, width) -> (n,)."""
        value: torch.Tensor = self.layers(embeddings).squeeze(-1)
        return value


class EscalationRouter:
    """The probability that the experts' vote should not be trusted: gradient-boosted trees (XGBoost), kept as JSON."""

    def __init__(self, booster: Any) -> None:
        self.booster = booster

    @classmethod
    def load(cls, file: Path) -> EscalationRouter:
        """Read a booster. ValueError names a file that is not XGBoost's JSON."""
        import xgboost

        booster = xgboost.Booster()
        try:
            json.loads(file.read_text(encoding="utf-8"))
            booster.load_model(bytearray(file.read_bytes()))
        except (ValueError, xgboost.core.XGBoostError) as error:
            raise ValueError(f"{file} is no escalation router in XGBoost's JSON: {error}") from error
        return cls(booster)

    def save(self, file: Path) -> None:
        """Write the booster as JSON."""
        file.write_bytes(bytes(self.booster.save_raw(raw_format="json")))

    def probability(self, features: Floats) -> Floats:
        """(n, f) meta-features -> (n,) probability that the image should be escalated, rounded."""
        import xgboost

        if not len(features):
            return np.zeros(0)
        return rounded(self.booster.predict(xgboost.DMatrix(features)))


def meta_features(probabilities: Floats) -> Floats:
    """(n, f) features of the L1 pool for the escalation router, rounded: predictions, confidences and consensus (B.1).

    From (n, experts, labels) every probability; per expert its label, confidence, margin and entropy; the number of
    experts that agree with the vote, the mean and the spread of their confidence in it.
    """
    n, experts, labels = probabilities.shape
    ordered = np.sort(probabilities, axis=2)
    confidence, margin = ordered[:, :, -1], ordered[:, :, -1] - (ordered[:, :, -2] if labels > 1 else 0.0)
    entropy = -(probabilities * np.log(np.clip(probabilities, 1e-12, None))).sum(axis=2)
    predicted = probabilities.argmax(axis=2)
    voted = vote(probabilities)
    on_vote = probabilities[np.arange(n), :, voted]
    agreeing = (predicted == voted[:, None]).sum(axis=1)
    return rounded(
        np.concatenate(
            [
                probabilities.reshape(n, experts * labels),
                predicted,
                confidence,
                margin,
                entropy,
                agreeing[:, None],
                on_vote.mean(axis=1, keepdims=True),
                on_vote.std(axis=1, keepdims=True),
            ],
            axis=1,
        )
    )


def vote(probabilities: Floats) -> NDArray[np.intp]:
    """(n,) labels that most experts choose, from (n, experts, labels); a tie goes to the larger mean probability."""
    labels = probabilities.shape[2]
    ballots = np.eye(labels)[probabilities.argmax(axis=2)].sum(axis=1)
    tied = ballots == ballots.max(axis=1, keepdims=True)
    return np.where(tied, probabilities.mean(axis=1), -1.0).argmax(axis=1)


def cut(values: Floats, cuts: list[float]) -> NDArray[np.intp]:
    """(n,) regressed values -> (n,) label indices; a value at a cut belongs to the higher label."""
    return np.searchsorted(np.asarray(cuts), values, side="right")


SLOPE = 8.0
"""Slope of `ordinal_probabilities` where none was fitted; skin tone lies on 0 to 2."""


def ordinal_probabilities(values: Floats, cuts: list[float], slope: float | None = None) -> Floats:
    """(n, k) rounded probabilities of ordered labels: the adjacent-categories logit model (Agresti 2010, 4.1).

    log P(label k) / P(label k - 1) = slope * (value - cut k), so the likeliest label is that of `cut`, at every slope.

    Args:
        values: (n,) regressed values; nan gives nan.
        cuts: k - 1 rising values.
        slope: Slope above 0, fitted on a calibration set; the steeper, the surer. None is `SLOPE`.
    """
    steps = (SLOPE if slope is None else slope) * (values[:, None] - np.asarray(cuts))
    logits = np.concatenate([np.zeros((len(values), 1)), np.cumsum(steps, axis=1)], axis=1)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return rounded(odds / odds.sum(axis=1, keepdims=True))
