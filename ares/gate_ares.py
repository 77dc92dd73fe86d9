"""The gate: whether an image shows one whole face, like those that ARES was trained on.

A small convolutional network on the stem of one backbone, which runs anyway and keeps positions, unlike the experts'
embeddings. A refused image has no label in any task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

FACE, NO_FACE, SEVERAL_FACES, OUT_OF_DISTRIBUTION = "face", "no_face", "several_faces", "out_of_distribution"
OUTCOMES = (FACE, NO_FACE, SEVERAL_FACES, OUT_OF_DISTRIBUTION)
"""Outcomes of the gate; all but the first are reasons for an answer without labels."""
_SIDE, _WIDTH = 4, 64
"""Side above which convolutions halve a map; width of the layer before the logits."""


class ImageGate(nn.Module):
    """Logits of `OUTCOMES`, from a stem's output of some channels and height and width `side`."""

    def __init__(self, channels: int, side: int, hidden: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(channels, hidden, 3, 1, 1), nn.ReLU()]
        while side > _SIDE:
            layers += [nn.Conv2d(hidden, hidden, 3, 2, 1), nn.ReLU()]
            side = -(-side // 2)
        flat = [nn.Flatten(), nn.Linear(hidden * side * side, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, len(OUTCOMES))]
        self.layers = nn.Sequential(*layers, *flat)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Output of a stem, (n, channels, side, side) or (n, 1 + side * side, channels) -> (n, outcomes)."""
        logits: torch.Tensor = self.layers(as_map(hidden))
        return logits


def as_map(hidden: torch.Tensor) -> torch.Tensor:
    """A stem's output as (n, channels, side, side); of a transformer without its class token."""
    if hidden.dim() == 3:
        patches = hidden[:, 1:].transpose(1, 2)
        hidden = patches.reshape(*patches.shape[:2], round(patches.shape[2] ** 0.5), -1)
    return hidden.contiguous()


def refusals(gate: Mapping[str, Any], chances: NDArray[np.float64]) -> list[str]:
    """The reasons why n images are not labelled, from (n, outcomes) rounded probabilities.

    Where `face` has a probability below the cut of `AresConfig.gate`, the likeliest other word of `OUTCOMES`; ''
    elsewhere, and without a gate.
    """
    if not gate:
        return [""] * len(chances)
    likeliest = chances[:, 1:].argmax(axis=1) + 1
    return [OUTCOMES[place] if p < gate["cut"] else "" for p, place in zip(chances[:, 0], likeliest, strict=True)]
