"""Images compared with texts and with each other by CLIP (Radford et al. 2021).

GENRES keeps an image if its cosine with the prompt exceeds 0.25, with ViT-L/14 (appendix B.2, step 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairspace.builders.models import weights

if TYPE_CHECKING:
    from PIL.Image import Image

CLIP = "openai/clip-vit-large-patch14"
"""GENRES, appendix B.2, footnote 9."""

DIGITS = 6
"""Decimals of a cosine: further ones depend on the number of images in a pass."""

Array = npt.NDArray[np.float64]


class Clip:
    """Embeddings by CLIP, loaded at first use, from a folder or ID[@REVISION]; device '' takes a GPU if there is one.

    Errors: BuildError TOOL_MISSING without the weights or packages.
    """

    def __init__(self, model: str = CLIP, *, device: str = "", batch: int = 16) -> None:
        weights.need("transformers", "build", model)
        self._weights = weights.find(model, "config.json")
        self.device, self.batch = device, batch

    @property
    def name(self) -> str:
        """Model with commit or hash."""
        return f"clip {self._weights.name}"

    def images(self, images: Sequence[Image]) -> Array:
        """Embeddings of length 1, (n, d)."""

        def embed(part: Sequence[Image]) -> Any:
            pixels = self._processor(images=[image.convert("RGB") for image in part], return_tensors="pt")
            return self._model.get_image_features(pixel_values=pixels["pixel_values"].to(self._model.device))

        return self._embed(images, embed)

    def texts(self, texts: Sequence[str]) -> Array:
        """Embeddings of length 1, (n, d); a text ends where CLIP's context does."""
        unique = list(dict.fromkeys(texts))

        def embed(part: Sequence[str]) -> Any:
            length = self._model.config.text_config.max_position_embeddings
            tokens = self._tokenizer(
                list(part), padding=True, truncation=True, max_length=length, return_tensors="pt"
            ).to(self._model.device)
            return self._model.get_text_features(tokens["input_ids"], attention_mask=tokens["attention_mask"])

        place = {text: number for number, text in enumerate(unique)}
        return self._embed(unique, embed)[[place[text] for text in texts]]

    @property
    def scale(self) -> float:
        """CLIP's factor of a cosine before the softmax."""
        return float(self._model.logit_scale.detach().exp())

    def _embed(self, things: Sequence[Any], embed: Any) -> Array:
        import torch

        vectors = np.zeros((len(things), int(self._model.config.projection_dim)))
        for start in range(0, len(things), self.batch):
            part = things[start : start + self.batch]
            with torch.inference_mode():
                vectors[start : start + len(part)] = embed(part).pooler_output.float().cpu().numpy()
        lengths: Array = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / lengths

    @cached_property
    def _model(self) -> Any:
        from transformers import CLIPModel

        model = weights.load(CLIPModel, self._weights, use_safetensors=True)
        return model.eval().to(weights.best_device(self.device))

    @cached_property
    def _processor(self) -> Any:
        from transformers import CLIPImageProcessorPil

        return weights.load(CLIPImageProcessorPil, self._weights)

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return weights.load(AutoTokenizer, self._weights)


class ClipMatcher:
    """Cosine similarities by CLIP."""

    def __init__(self, clip: Clip) -> None:
        self.clip = clip
        self._known: tuple[Sequence[Image], Array] | None = None

    @property
    def name(self) -> str:
        """Model with commit or hash."""
        return self.clip.name

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        """Cosine similarity in [-1, 1] of each image and its text."""
        if self._known is None or self._known[0] is not images:  # one set of images is compared with many texts
            self._known = images, self.clip.images(images)
        return _cosines(self._known[1], self.clip.texts(texts))

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        """Cosine similarity in [-1, 1] of the images at the same place."""
        return _cosines(self.clip.images(first), self.clip.images(second))


def _cosines(first: Array, second: Array) -> list[float]:
    cosines = np.clip((first * second).sum(axis=1), -1, 1)
    return [float(value) for value in cosines.round(DIGITS)]
