"""Images labelled by ARES, the classifier that the paper checks generated images with (IRIS, C.1 and C.2).

ARES looks at a whole image as one face; the detector, where there is one, says whether there is one person to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairspace.builders.engine.tools import Labels, PersonDetector
from fairspace.builders.models.detection import not_one_person
from fairspace.builders.models.weights import best_device, find, loading, need

if TYPE_CHECKING:
    from PIL.Image import Image

ARES = "fairspace/ares"
_ATTRIBUTES = ("gender", "age", "skin_tone")


class AresLabeller:
    """Labels by a trained ARES.

    Args:
        model: folder or ID[@REVISION].
        device: of torch; '' takes a GPU if there is one.
        batch: images that are decided together; changes no label.
        detector: says whether there is one person.

    An attribute that ARES abstains from stays '' with the reason `unsure`; `no face` and `several faces` leave all ''.
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
        """Weights, and what finds the person."""
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
