"""Upstream checkpoints: backbones and CLIP's text encoder, from a pinned revision or a folder, safetensors only.

A converted revision (`fairspace.ares.training.conversion`) is preferred.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from transformers import (
    AutoTokenizer,
    CLIPTextModelWithProjection,
    CLIPVisionModelWithProjection,
    ConvNextModel,
    Dinov2Model,
    EfficientNetModel,
)

from fairspace.ares.pinned_ares import pinned
from fairspace.ares.training.config import Upstream
from fairspace.ares.training.conversion import converted
from fairspace.builders.errors import BuildError

CLASSES: dict[str, Any] = {
    "clip": CLIPVisionModelWithProjection,
    "dinov2": Dinov2Model,
    "convnext": ConvNextModel,
    "efficientnet": EfficientNetModel,
}
_RECORDS = ("transformers_version", "architectures", "dtype", "torch_dtype", "model_type", "_name_or_path")
"""Entries of a configuration beside the architecture."""


class Texts(nn.Module):
    """CLIP's text encoder with the prompts of one task."""

    def __init__(self, encoder: nn.Module, tokens: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.encoder = encoder
        for name, value in tokens.items():
            self.register_buffer(name, value, persistent=False)
        self._names = tuple(tokens)

    def forward(self) -> torch.Tensor:
        """(prompts, width) embeddings of length one."""
        out = self.encoder(**{name: getattr(self, name) for name in self._names}).text_embeds
        return nn.functional.normalize(out, dim=-1)


def backbone_weights(kind: str, upstream: Upstream) -> nn.Module | None:
    """A backbone with its checkpoint's weights; None without a source.

    BuildError TRAINING_DATA if the checkpoint cannot be had or holds no safetensors.
    """
    module: nn.Module | None = _load(CLASSES[kind], upstream) if upstream.source else None
    return module


def texts(upstream: Upstream, prompts: Sequence[str]) -> Texts | None:
    """CLIP's text encoder with a task's prompts; None without a source. Errors as in `backbone_weights`."""
    if not upstream.source:
        return None
    encoder = _load(CLIPTextModelWithProjection, upstream)
    tokenizer = _load(AutoTokenizer, upstream)
    tokens = tokenizer(list(prompts), padding=True, return_tensors="pt")
    return Texts(encoder, {name: tokens[name] for name in ("input_ids", "attention_mask")})


def architecture(module: Any) -> dict[str, Any]:
    """The configuration that makes an equal module with random weights."""
    options: dict[str, Any] = {key: value for key, value in module.config.to_diff_dict().items() if key not in _RECORDS}
    return options


def _load(kind: Any, upstream: Upstream) -> Any:
    source, options = upstream.source, pinned(upstream.source, upstream.revision)
    if options and (folder := converted(upstream.source, upstream.revision)) is not None:
        source, options = str(folder), {}
    where = f"{upstream.source}@{upstream.revision}" if upstream.revision else upstream.source
    mend = "correct source and revision, and see that the Hub can be reached; a checkpoint that has only "
    mend += "pytorch_model.bin is converted by `convert` of fairspace.ares.training.conversion"
    expected = f"a checkpoint for {kind.__name__} with model.safetensors"
    try:
        if kind is AutoTokenizer:
            return kind.from_pretrained(source, **options)
        module, report = kind.from_pretrained(source, use_safetensors=True, output_loading_info=True, **options)
    except (OSError, ValueError, RuntimeError) as error:
        what = str(error).split("\n", 1)[0]
        raise BuildError("TRAINING_DATA", where, what, expected, mend) from error
    if lacks := sorted(str(key) for key in {*report["missing_keys"], *report["mismatched_keys"]}):
        what = f"it lacks {len(lacks)} weights, first {lacks[0]}"
        raise BuildError("TRAINING_DATA", where, what, expected, mend)
    return module
