"""A second level that a test can run: slower than the experts, and better than their vote."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from fairspace.ares.modeling_ares import AresModel
from fairspace.ares.training.data import label_index
from fairspace.builders.drawn.swatches import SwatchPerson, measure


class Thorough:
    """Reads the strips of a swatch; where one of the task's is missing, the experts' mean decides among what fits.

    It stands where a vision-language model would, which sees more than the experts where all is shown, and always
    answers. Abstaining is tested in `test_deciding`.
    """

    name = "thorough"

    def __init__(self, model: AresModel) -> None:
        self.model = model

    def answer(self, images: Sequence[Image.Image], task: Mapping[str, Any]) -> list[str | None]:
        """The labels with the largest mean probability among those that the strips leave."""
        size = (self.model.config.image_size,) * 2
        squares = np.stack([np.asarray(image.convert("RGB").resize(size)) for image in images])
        pixels = torch.from_numpy(squares).permute(0, 3, 1, 2).float() / 255
        likely = self.model.observe(pixels, everything=True)[task["name"]].probabilities.mean(axis=1)
        shown = [people[0] if len(people) == 1 else SwatchPerson() for people in map(measure, images)]
        return [
            task["labels"][np.where(fits(person, task), row, -1).argmax()]
            for person, row in zip(shown, likely, strict=True)
        ]


def fits(person: SwatchPerson, task: Mapping[str, Any]) -> list[bool]:
    """Whether a label of the task contradicts nothing that was read."""
    read = [getattr(person, name) for name in task["attributes"]]
    return [
        all(strip in ("", label) for strip, label in zip(read, labels, strict=True)) for labels in label_index(task)
    ]
