"""The L1 experts: a frozen stem that tasks share, a trained tail and a head per task (IRIS, Table 10 and B.2).

The backbones are transformers' own, cut in two after the leading frozen blocks. A stem runs once per image, for any
number of tasks.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from transformers import (
    CLIPVisionConfig,
    CLIPVisionModelWithProjection,
    ConvNextConfig,
    ConvNextModel,
    Dinov2Config,
    Dinov2Model,
)

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
OPENAI = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
"""Training mean and standard deviation: `IMAGENET` of DINOv2, ConvNeXt and EfficientNet, `OPENAI` of CLIP."""
_TEMPERATURE = 2.6592
"""CLIP's initial logit scale, log(1 / 0.07)."""


def normalised(pixels: torch.Tensor, kind: str) -> torch.Tensor:
    """Pixels in [0, 1], (n, 3, h, w), normalised for a backbone."""
    mean, deviation = _statistics(kind == "clip", pixels.device, pixels.dtype)
    return (pixels - mean) / deviation


@lru_cache
def _statistics(clip: bool, device: torch.device, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and deviation, (1, 3, 1, 1); cached, because each copy to a device would have to be waited for."""
    with torch.inference_mode(False):
        mean, deviation = (
            torch.tensor(each, device=device, dtype=dtype).view(1, 3, 1, 1) for each in (OPENAI if clip else IMAGENET)
        )
    return mean, deviation


def backbone(kind: str, config: dict[str, Any]) -> nn.Module:
    """A backbone with random weights, from the configuration of its architecture ({} is the paper's size).

    KeyError for a kind that is none of `clip`, `dinov2`, `convnext`.
    """
    if kind == "clip":
        return CLIPVisionModelWithProjection(CLIPVisionConfig(**{"patch_size": 16, **config}))
    if kind == "dinov2":
        return Dinov2Model(Dinov2Config(**{"patch_size": 14, **config}))
    if kind == "convnext":
        base = {"hidden_sizes": [128, 256, 512, 1024], "depths": [3, 3, 27, 3]}
        return ConvNextModel(ConvNextConfig(**(base | config)))
    raise KeyError(f"there is no expert of kind {kind!r}; there are clip, dinov2 and convnext")


class Stem(nn.Module):
    """The leading, frozen blocks of a backbone."""

    def __init__(self, kind: str, whole: nn.Module, shared: int) -> None:
        super().__init__()
        self.kind = kind
        body: Any = whole.vision_model if kind == "clip" else whole
        self.embeddings = body.embeddings
        self.before = body.pre_layrnorm if kind == "clip" else nn.Identity()
        self.blocks = nn.ModuleList(list(_blocks(kind, whole))[:shared])
        self.requires_grad_(False)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """(n, 3, h, w) in [0, 1] -> input of the tails."""
        hidden: torch.Tensor = self.before(self.embeddings(normalised(pixels, self.kind)))
        for block in self.blocks:
            hidden = _run(self.kind, block, hidden)
        return hidden


class Expert(nn.Module):
    """One expert of one task: the rest of the backbone, and a head.

    CLIP compares the image's embedding with learnable text prototypes, at a learnable temperature; the others have a
    linear head. `raw`: whether CLIP's embedding keeps its length, as in the authors' release.
    """

    def __init__(self, kind: str, whole: nn.Module, shared: int, labels: int, raw: bool = False) -> None:
        super().__init__()
        self.kind, self.raw = kind, raw
        self.blocks = nn.ModuleList(list(_blocks(kind, whole))[shared:])
        if kind == "clip":
            vision: Any = whole
            self.norm = vision.vision_model.post_layernorm
            self.projection = vision.visual_projection
            self.prototypes = nn.Parameter(torch.randn(labels, vision.config.projection_dim) * 0.02)
            self.temperature = nn.Parameter(torch.tensor(_TEMPERATURE))
            self.width = int(vision.config.projection_dim)
        else:
            body: Any = whole
            self.norm = body.layernorm
            self.width = int(self.norm.normalized_shape[0])
            self.head = nn.Linear(self.width, labels)

    def forward(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Output of the stem -> embeddings (n, width) and logits (n, labels)."""
        for block in self.blocks:
            hidden = _run(self.kind, block, hidden)
        if self.kind == "convnext":
            embedding = self.norm(hidden.mean([-2, -1]))
            return embedding, self.head(embedding)
        embedding = self.norm(hidden if self.kind == "dinov2" else hidden[:, 0])
        if self.kind == "dinov2":
            embedding = embedding[:, 0]
            return embedding, self.head(embedding)
        projected = self.projection(embedding)
        embedding = nn.functional.normalize(projected, dim=-1)
        prototypes = nn.functional.normalize(self.prototypes, dim=-1)
        return projected if self.raw else embedding, self.temperature.exp() * embedding @ prototypes.T


def _blocks(kind: str, whole: nn.Module) -> Iterable[nn.Module]:
    body: Any = whole
    if kind == "clip":
        return list(body.vision_model.encoder.layers)
    return list(body.encoder.layer if kind == "dinov2" else body.encoder.stages)


def _run(kind: str, block: nn.Module, hidden: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor = block(hidden) if kind == "convnext" else block(hidden, None)
    return out
