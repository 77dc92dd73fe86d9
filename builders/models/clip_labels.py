"""Images labelled without training, by CLIP: the plain labeller for a user without ARES.

The nearest text prototype per attribute, and no label where two are about as near. Labels are of perceived
presentation, and less certain than those of a classifier that was trained and tested for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairspace.builders.engine.tools import Labels, PersonDetector
from fairspace.builders.models.clip import Array, Clip
from fairspace.builders.models.detection import not_one_person

if TYPE_CHECKING:
    from PIL.Image import Image

MARGIN = 0.2
"""How much likelier than the second label the first must be. Ours; to be set on labelled images of the same kind."""

TEMPLATES = ("a photo of {}.", "a portrait of {}.", "a picture of {} at work.", "an image of the face of {}.")
PROTOTYPES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "gender": {"female": ("a woman", "a female person"), "male": ("a man", "a male person")},
    "age": {
        "young": ("a young person", "a person in their twenties", "a child"),
        "middle-aged": ("a middle-aged person", "a person in their fifties"),
        "older": ("an elderly person", "a person over seventy"),
    },
    "skin_tone": {
        "light": ("a person with light skin", "a person with pale skin"),
        "middle": ("a person with medium brown skin", "a person with olive or tan skin"),
        "dark": ("a person with dark skin", "a person with deep brown skin"),
    },
}
PERSON = ("a photo of a person.", "a photo of a human face.", "a portrait of somebody.")
NOBODY = ("a photo of an empty room.", "a photo of a thing.", "a landscape without people.", "a blurred pattern.")


class ClipLabeller:
    """Labels by the nearest text prototypes.

    Args:
        clip: the model.
        margin: how much likelier than the second label the first must be, in [0, 1].
        detector: says whether there is one person; without it CLIP itself says whether there is somebody, and does
            not see several faces.

    An attribute without a clear winner stays '' with the reason `unsure`; `no face` and `several faces` leave all ''.
    """

    def __init__(self, clip: Clip, *, margin: float = MARGIN, detector: PersonDetector | None = None) -> None:
        self.clip, self.margin, self.detector = clip, margin, detector

    @property
    def name(self) -> str:
        """Model, margin, and what finds the person."""
        seen_by = f" persons by {self.detector.name}" if self.detector else ""
        return f"{self.clip.name} prototypes margin {self.margin:g}{seen_by}"

    def label(self, images: Sequence[Image]) -> list[Labels]:
        """Labels of each image."""
        if not images:
            return []
        embedded = self.clip.images(images)
        chosen = {
            attribute: _choose(self._probabilities(embedded, attribute), tuple(labels), self.margin)
            for attribute, labels in PROTOTYPES.items()
        }
        decided = []
        for place, reason in enumerate(self._reasons(images, embedded)):
            labels = {attribute: "" if reason else values[place] for attribute, values in chosen.items()}
            decided.append(Labels(**labels, reason=reason or ("" if all(labels.values()) else "unsure")))
        return decided

    def _reasons(self, images: Sequence[Image], embedded: Array) -> list[str]:
        """'' where there is one person to label, else why there are no labels."""
        if self.detector is None:
            somebody = self._softmax(embedded @ self._contrast.T)[:, 0]
            return ["" if likely >= 0.5 else "no face" for likely in somebody]
        return not_one_person(self.detector, images)

    def _probabilities(self, embedded: Array, attribute: str) -> Array:
        return self._softmax(embedded @ self._prototypes[attribute].T)

    def _softmax(self, cosines: Array) -> Array:
        powers = np.exp(self.clip.scale * (cosines - cosines.max(axis=1, keepdims=True)))
        shares: Array = powers / powers.sum(axis=1, keepdims=True)
        return shares

    @cached_property
    def _prototypes(self) -> dict[str, Array]:
        return {
            attribute: np.stack(
                [
                    _mean(self.clip.texts([template.format(word) for word in words for template in TEMPLATES]))
                    for words in labels.values()
                ]
            )
            for attribute, labels in PROTOTYPES.items()
        }

    @cached_property
    def _contrast(self) -> Array:
        return np.stack([_mean(self.clip.texts(PERSON)), _mean(self.clip.texts(NOBODY))])


def _choose(shares: Array, labels: Sequence[str], margin: float) -> list[str]:
    """The likeliest label of each row, or '' if the second is nearer than the margin."""
    ordered = np.sort(shares, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] >= margin
    return [labels[best] if sure else "" for best, sure in zip(shares.argmax(axis=1), clear, strict=True)]


def _mean(embedded: Array) -> Array:
    mean: Array = embedded.mean(axis=0)
    return mean / np.linalg.norm(mean)
