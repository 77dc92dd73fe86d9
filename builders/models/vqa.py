"""Whether an image shows what a statement says, by a model that answers questions about images (BLIP; Li et al. 2022).

CLIP compares an image with a statement as wholes. A model of this kind is asked "is this ...?", and its first word is
read: how much likelier *yes* is than *no*. Both tell small details apart with error, and not the same ones. Bounds of
CLIP's cosines, such as GENRES', do not hold for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairspace.builders.models import weights
from fairspace.builders.models.clip import DIGITS, Clip, ClipMatcher

if TYPE_CHECKING:
    from PIL.Image import Image

BLIP = "Salesforce/blip-vqa-base"
QUESTION = "is this {statement}?"
_ANSWERS = ("yes", "no")


class VqaMatcher:
    """Statements by a model that answers questions, and images by CLIP, as these models do not compare two images.

    Args:
        model: folder or ID[@REVISION].
        clip: compares images with each other.
        device: of torch; '' takes a GPU if there is one.

    Errors: BuildError TOOL_MISSING without the weights or packages.
    """

    def __init__(self, model: str, clip: Clip, *, device: str = "") -> None:
        weights.need("transformers", "build", model)
        self._weights = weights.find(model, "config.json")
        self._images, self.device = ClipMatcher(clip), device

    @property
    def name(self) -> str:
        """Both models with commit or hash."""
        return f"vqa {self._weights.name}, images by {self._images.name}"

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        """P(yes) - P(no) in [-1, 1] for each image and its text, of these two answers alone."""
        return [self._agreement(image, text) for image, text in zip(images, texts, strict=True)]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        """Cosine similarity in [-1, 1] of the images at the same place."""
        return self._images.image_similarity(first, second)

    def _agreement(self, image: Image, text: str) -> float:
        """One image at a time: what is in a pass beside it would change the last decimals."""
        import torch

        model = self._model
        pixels = self._processor(images=[image.convert("RGB")], return_tensors="pt")["pixel_values"]
        question = self._tokenizer(QUESTION.format(statement=text), return_tensors="pt").to(model.device)
        with torch.inference_mode():
            seen = model.vision_model(pixel_values=pixels.to(model.device)).last_hidden_state
            asked = model.text_encoder(
                question["input_ids"], attention_mask=question["attention_mask"], encoder_hidden_states=seen
            ).last_hidden_state
            start = torch.tensor([[model.decoder_start_token_id]], device=model.device)
            logits = model.text_decoder(start, encoder_hidden_states=asked).logits[0, -1]
        yes, no = logits[self._answers].float().softmax(-1).tolist()
        return round(yes - no, DIGITS)

    @cached_property
    def _answers(self) -> list[int]:
        """The tokens of yes and no."""
        return [self._tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in _ANSWERS]

    @cached_property
    def _model(self) -> Any:
        from transformers import BlipForQuestionAnswering

        model = weights.load(BlipForQuestionAnswering, self._weights, use_safetensors=True)
        return model.eval().to(weights.best_device(self.device))

    @cached_property
    def _processor(self) -> Any:
        from transformers import BlipImageProcessorPil

        return weights.load(BlipImageProcessorPil, self._weights)

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return weights.load(AutoTokenizer, self._weights)
