"""A second level that a test can run: slower than the experts, and better than their vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps

from fairspace.ares.modeling_ares import AresModel


class Thorough:
    """Looks at an image and at its mirror image with all experts, and averages what they say.

    It stands where a vision-language model would; like one it costs several passes per question.
    """

    name = "thorough"

    def __init__(self, model: AresModel) -> None:
        self.model = model

    def answer(self, images: Sequence[Image.Image], task: Mapping[str, Any]) -> list[str | None]:
        """The label with the largest mean probability."""
        size = (self.model.config.image_size,) * 2
        means = []
        for turned in (list(images), [ImageOps.mirror(image) for image in images]):
            squares = np.stack([np.asarray(image.convert("RGB").resize(size)) for image in turned])
            pixels = torch.from_numpy(squares).permute(0, 3, 1, 2).float() / 255
            means.append(self.model.observe(pixels, everything=True)[task["name"]].probabilities.mean(axis=1))
        return [task["labels"][label] for label in np.mean(means, axis=0).argmax(axis=1)]
