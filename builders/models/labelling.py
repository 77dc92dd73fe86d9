"""Images labelled by perceived presentation: by ARES, the classifier of the paper (IRIS, C.1 and C.2), or by CLIP.

ARES takes a whole image as one face; a detector, if any, says whether there is one person. CLIP needs no training: it
takes the nearest text prototype per attribute, or no label where two are about as near. Its labels are less certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairspace.builders.engine.tools import Labels, PersonDetector
from fairspace.builders.models.clip import DIGITS, Array, Clip
from fairspace.builders.models.detection import not_one_person
from fairspace.builders.models.weights import best_device, find, loading, need

if TYPE_CHECKING:
    from PIL.Image import Image


ARES = "fairspace/ares"
_ATTRIBUTES = ("gender", "age", "skin_tone")


class AresLabeller:
    """Labels by a trained ARES (folder or ID[@REVISION]); device '' takes a GPU, `batch` changes no label.

    Undecided attributes stay '' with the reason `unsure`; the detector's `no face` and `several faces` leave all ''.
    Errors: BuildError TOOL_MISSING as `fairspace.builders.models.weights`.
    """

    def __init__(
        self, model: str, *, device: str = "", batch: int = 64, detector: PersonDetector | None = None
    ) -> None:
        need("xgboost", "ares", model)
        self.weights = find(model, "config.json")
        self.device, self.batch, self.detector = device, batch, detector

    @property
    def name(self) -> str:
        """Weights, and the check for one person."""
        seen_by = f" persons by {self.detector.name}" if self.detector else ""
        return f"ARES {self.weights.name}{seen_by}"

    def label(self, images: Sequence[Image]) -> list[Labels]:
        """Labels of each image."""
        persons = not_one_person(self.detector, images) if self.detector else [""] * len(images)
        answers = self._model.classify(list(images), batch=self.batch) if images else []
        return [self._labels(answers[0], reason) for answers, reason in zip(answers, persons, strict=True)]

    def _labels(self, answer: Any, reason: str) -> Labels:
        if reason or answer.status in ("no_face", "unreadable"):
            return Labels(reason=reason or "no face")
        if answer.reason == "several_faces":
            return Labels(reason="several faces")
        labels = {attribute: answer.labels.get(attribute, "") for attribute in _ATTRIBUTES}
        return Labels(**labels, reason="" if all(labels.values()) else "unsure")

    @cached_property
    def _model(self) -> Any:
        from fairspace.ares.modeling_ares import AresModel

        with loading(self.weights):
            model = AresModel.from_pretrained(self.weights.where, revision=self.weights.revision or "main")
        return model.to(best_device(self.device)).eval()


MARGIN = 0.2
"""Least lead in probability of the first label over the second. Ours; to be set on labelled images of the same kind."""

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
    "race": {
        "Asian": ("an Asian person", "an East Asian or Southeast Asian person"),
        "Black": ("a Black person", "an African or African American person"),
        "Hispanic": ("a Hispanic person", "a Latino or Latina person"),
        "White": ("a White person", "a European or European American person"),
    },
}
PERSON = ("a photo of a person.", "a photo of a human face.", "a portrait of somebody.")
NOBODY = ("a photo of an empty room.", "a photo of a thing.", "a landscape without people.", "a blurred pattern.")


class ClipLabeller:
    """Labels by the nearest text prototypes, if their lead in probability reaches `margin`, in [0, 1].

    Else they stay '' with the reason `unsure`; `no face` and `several faces` leave all ''. Without a detector CLIP
    itself looks for somebody, and does not see several faces.
    """

    def __init__(
        self,
        clip: Clip,
        *,
        margin: float = MARGIN,
        detector: PersonDetector | None = None,
        attributes: Sequence[str] = _ATTRIBUTES,
    ) -> None:
        self.clip, self.margin, self.detector, self.attributes = clip, margin, detector, attributes

    @property
    def name(self) -> str:
        """Model, margin, and the check for one person."""
        seen_by = f" persons by {self.detector.name}" if self.detector else ""
        return f"{self.clip.name} prototypes margin {self.margin:g}{seen_by}"

    def label(self, images: Sequence[Image]) -> list[Labels]:
        """Labels of each image; builds know no race."""
        return [
            Labels(**labels, reason=reason or ("" if all(labels.values()) else "unsure"))
            for reason, labels, _ in self.seen(images)
        ]

    def seen(self, images: Sequence[Image]) -> list[tuple[str, dict[str, str], dict[str, dict[str, float]]]]:
        """The reason for no label at all or '', the labels, and their probabilities in [0, 1], of each image."""
        if not images:
            return []
        embedded = self.clip.images(images)
        shares = {attribute: self._probabilities(embedded, attribute) for attribute in self.attributes}
        nearest = {name: _choose(each, tuple(PROTOTYPES[name]), self.margin) for name, each in shares.items()}
        rows = []
        for place, reason in enumerate(self._reasons(images, embedded)):
            labels = {attribute: "" if reason else values[place] for attribute, values in nearest.items()}
            chances = {
                name: dict(zip(PROTOTYPES[name], each[place].tolist(), strict=True)) for name, each in shares.items()
            }
            rows.append((reason, labels, chances))
        return rows

    def _reasons(self, images: Sequence[Image], embedded: Array) -> list[str]:
        if self.detector is None:
            somebody = self._softmax(embedded @ self._contrast.T)[:, 0]
            return ["" if likely >= 0.5 else "no face" for likely in somebody]
        return not_one_person(self.detector, images)

    def _probabilities(self, embedded: Array, attribute: str) -> Array:
        return self._softmax(embedded @ self._prototypes[attribute].T)

    def _softmax(self, cosines: Array) -> Array:
        cosines = cosines.round(DIGITS)
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
            for attribute, labels in ((name, PROTOTYPES[name]) for name in self.attributes)
        }

    @cached_property
    def _contrast(self) -> Array:
        return np.stack([_mean(self.clip.texts(PERSON)), _mean(self.clip.texts(NOBODY))])


def _choose(shares: Array, labels: Sequence[str], margin: float) -> list[str]:
    ordered = np.sort(shares, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] >= margin
    return [labels[best] if sure else "" for best, sure in zip(shares.argmax(axis=1), clear, strict=True)]


def _mean(embedded: Array) -> Array:
    mean: Array = embedded.mean(axis=0)
    return mean / np.linalg.norm(mean)
