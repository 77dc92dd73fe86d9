"""The gate: whether an image shows one whole face, like those that ARES was trained on.

A small convolutional network on what the stem of one backbone says of an image. That stem runs anyway, and keeps where
in the image something is, which the experts' embeddings have given up. What is refused has no label in any task.
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
"""What the gate tells apart; all but the first are reasons for an answer without labels."""
_SIDE, _WIDTH = 4, 64
"""Convolutions halve the sides of a map while they are longer; values between the last of them and the logits."""


class Gate(nn.Module):
    """Logits of `OUTCOMES`.

    Args:
        channels: of the stem's output.
        side: height and width of the stem's output.
        hidden: channels of its convolutions.
    """

    def __init__(self, channels: int, side: int, hidden: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(channels, hidden, 3, 1, 1), nn.ReLU()]
        while side > _SIDE:
            layers += [nn.Conv2d(hidden, hidden, 3, 2, 1), nn.ReLU()]
            side = -(-side // 2)
        flat = [nn.Flatten(), nn.Linear(hidden * side * side, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, len(OUTCOMES))]
        self.layers = nn.Sequential(*layers, *flat)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """What a stem gives, (n, channels, side, side) or (n, 1 + side * side, channels) -> (n, outcomes)."""
        logits: torch.Tensor = self.layers(as_map(hidden))
        return logits


def as_map(hidden: torch.Tensor) -> torch.Tensor:
    """A stem's output as (n, channels, side, side); of a transformer without its class token."""
    if hidden.dim() == 3:
        patches = hidden[:, 1:].transpose(1, 2)
        hidden = patches.reshape(*patches.shape[:2], round(patches.shape[2] ** 0.5), -1)
    return hidden.contiguous()


def refusals(gate: Mapping[str, Any], chances: NDArray[np.float64]) -> list[str]:
    """Why images are not labelled.

    Args:
        gate: `AresConfig.gate`; without one nothing is refused.
        chances: (n, outcomes) probabilities, rounded.

    Returns:
        n words of `OUTCOMES`: the likeliest but for `face` where `face` has a probability below the cut; '' elsewhere.
    """
    if not gate:
        return [""] * len(chances)
    likeliest = chances[:, 1:].argmax(axis=1) + 1
    return [OUTCOMES[place] if p < gate["cut"] else "" for p, place in zip(chances[:, 0], likeliest, strict=True)]
