"""The models behind image quality and semantics: CLIP and DINOv2 by transformers, as vectors that can be kept.

Every pass has exactly `TILE` images of one shape (the last one is filled up), in float32, and every text is a pass of
its own: what is found in an image does not depend on the images beside it, nor on how many are handed over at once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.builders.models.clip import CLIP, Clip
from fairspace.submissions.running.quality.scores import Vector

if TYPE_CHECKING:
    from PIL.Image import Image

    from fairspace.ares.faces_ares import FaceDetector

DINOV2 = "facebook/dinov2-base"
"""The model if the user names none: Apache-2.0, and the backbone of an expert of ARES (Table 10)."""
TILE = 8


class ImageFeatures(Protocol):
    """Sees images."""

    @property
    def name(self) -> str:
        """Model, revision and all else that decides its vectors."""

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """A vector for each RGB image; an empty one where there is nothing that it looks at, such as no face."""


class TextFeatures(ImageFeatures, Protocol):
    """Sees images and texts in one space."""

    def text(self, text: str) -> Vector:
        """The vector of a text."""

    def scale(self) -> float:
        """What cosines are multiplied with before a softmax."""


class ClipFeatures:
    """Embeddings of images and texts by CLIP (Radford et al. 2021): the projected ones, of length 1.

    Args:
        model: folder or ID[@REVISION].
        device: of torch; '' takes a GPU if there is one.

    Errors: BuildError TOOL_MISSING without the weights or packages, or if the weights are none of CLIP.
    """

    def __init__(self, model: str = CLIP, *, device: str = "") -> None:
        check_type(model, "clip")
        self._clip = _Float32(model, device=device, batch=TILE)

    @property
    def name(self) -> str:
        """Model with commit or hash."""
        return self._clip.name

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """(projection,) each."""
        vectors = self._clip.images(filled(images))
        return [each.astype(np.float32) for each in vectors[: len(images)]]

    def text(self, text: str) -> Vector:
        """(projection,); a text ends where CLIP's context does, after 77 tokens."""
        vector: Vector = self._clip.texts([text])[0].astype(np.float32)
        return vector

    def scale(self) -> float:
        """CLIP's own temperature: 100 in the published checkpoints, as CLIP-IQA has it."""
        return self._clip.scale


class _Float32(Clip):
    """CLIP in float32, whatever its weights are stored in."""

    @cached_property
    def _model(self) -> Any:
        return super()._model.float()


class DinoFeatures:
    """Embeddings of images by DINOv2 (Oquab et al. 2024): the class token after the last norm (`pooler_output`).

    The image is prepared as the checkpoint says: for Meta's, the shorter side to 256, the middle 224 x 224.

    Args:
        model: folder or ID[@REVISION].
        device: of torch; '' takes a GPU if there is one.

    Errors: as for `ClipFeatures`.
    """

    def __init__(self, model: str = DINOV2, *, device: str = "") -> None:
        self._weights = check_type(model, "dinov2")
        self.device = device

    @property
    def name(self) -> str:
        """Model with commit or hash."""
        return f"dinov2 {self._weights.name}"

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """(hidden,) each."""
        import torch

        processor, model = self._loaded
        whole, vectors = filled(images), []
        for start in range(0, len(whole), TILE):
            pixels = processor(images=list(whole[start : start + TILE]), return_tensors="pt")["pixel_values"]
            with torch.inference_mode():
                vectors += list(model(pixels.to(model.device)).pooler_output.float().cpu().numpy())
        return vectors[: len(images)]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoImageProcessor, Dinov2Model

        where, revision = self._weights.where, self._weights.revision
        with weights.loading(self._weights):
            processor = AutoImageProcessor.from_pretrained(where, revision=revision, backend="pil")
            model, loaded = Dinov2Model.from_pretrained(
                where, revision=revision, use_safetensors=True, dtype=torch.float32, output_loading_info=True
            )
        if missing := sorted(loaded["missing_keys"]):
            expected = "all weights of DINOv2"
            mend = "download the model again"
            raise BuildError("TOOL_MISSING", self._weights.name, f"no weights {missing[0]}", expected, mend)
        return processor, model.eval().to(weights.best_device(self.device))


class FaceCrops:
    """What a model sees of the largest face of an image.

    Args:
        features: looks at the face.
        detector: finds faces, as ARES' own (`fairspace.ares.faces_ares`); the largest is face 0 of the annotations.
    """

    def __init__(self, features: TextFeatures, detector: FaceDetector) -> None:
        self.features, self.detector = features, detector

    @property
    def name(self) -> str:
        """The model and the detector."""
        return f"{self.features.name} on faces by {self.detector.name}"

    def images(self, images: Sequence[Image]) -> list[Vector]:
        """A vector for each image's face; an empty one without a face."""
        from fairspace.ares.faces_ares import face_crops

        crops = [face_crops(image, boxes) for image, boxes in zip(images, self.detector.detect(images), strict=True)]
        seen = iter(self.features.images([crop[0] for crop in crops if crop]))
        return [next(seen) if crop else np.zeros(0, np.float32) for crop in crops]

    def text(self, text: str) -> Vector:
        """As the model has it."""
        return self.features.text(text)

    def scale(self) -> float:
        """As the model has it."""
        return self.features.scale()


def filled(images: Sequence[Image]) -> list[Image]:
    """The images, and the first one as often as whole tiles need."""
    return [*images, *list(images[:1]) * (-len(images) % TILE)]


def check_type(model: str, expected: str) -> weights.Weights:
    """The weights of a model whose configuration is of the expected type.

    Errors: BuildError TOOL_MISSING: transformers would fill another model's places with random numbers, and go on.
    """
    weights.need("torch", "run", model)
    weights.need("transformers", "run", model)
    source = weights.find(model, "config.json")
    try:
        said = json.loads(source.marker.read_text(encoding="utf-8")).get("model_type")
    except (ValueError, AttributeError) as error:
        raise BuildError("TOOL_MISSING", model, f"config.json: {error}", "JSON", "download the model again") from error
    if said != expected:
        mend = f"name a model of the type {expected}"
        raise BuildError("TOOL_MISSING", model, f"a model of the type {said}", f"the type {expected}", mend)
    return source
