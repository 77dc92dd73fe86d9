"""ARES as a pipeline of transformers: `pipeline(model="fairspace/ares", trust_remote_code=True)`.

An image's result is a list with one entry per face and attribute, in the pipeline's usual form of label and score.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from transformers import Pipeline

from .deciding_ares import Answer
from .image_processing_ares import as_images, is_single


class AresPipeline(Pipeline):
    """Images of any kind (see `AresImageProcessor`) to perceived labels."""

    _load_processor = False
    _load_image_processor = True
    _load_feature_extractor = False
    _load_tokenizer = False

    def __call__(self, images: Any, **settings: Any) -> Any:
        """Label one or many images, with settings of `AresModel.classify`: `batch`, `workers`, `detector`.

        For each image a list (the list itself for a single one) of `attribute`, `label` ('' without one), `score` (its
        probability; None without one), `status`, `reason` and `face`, an entry per face and attribute; without a face
        to label, a single entry with status and reason.
        """
        results = self.postprocess(self._forward(self.preprocess(images), **settings))
        return results[0] if is_single(images) else results

    def _sanitize_parameters(self, **settings: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        return {}, settings, {}

    def preprocess(self, input_: Any, **_: Any) -> Iterable[Any]:
        """The input as many images."""
        return as_images(input_)

    def _forward(self, input_tensors: Any, **settings: Any) -> list[list[Answer]]:
        answers: list[list[Answer]] = self.model.classify(input_tensors, processor=self.image_processor, **settings)
        return answers

    def postprocess(self, model_outputs: list[list[Answer]], **_: Any) -> list[list[dict[str, Any]]]:
        """Answers as entries of label and score."""
        return [[entry for answer in answers for entry in _entries(answer)] for answers in model_outputs]


def _entries(answer: Answer) -> list[dict[str, Any]]:
    about = {"status": answer.status, "reason": answer.reason, "face": answer.face}
    return [
        {"attribute": name, "label": label, "score": answer.probabilities.get(name, {}).get(label), **about}
        for name, label in (answer.labels or {"": ""}).items()
    ]
