"""ARES' L2 arbiter: an InternVL-class model of transformers, run here, or one behind an endpoint (IRIS, Table 10).

Nothing is loaded or asked unless `AresModel.open_arbiter` is called. Greedy decoding, and passes of a fixed number of
images (the last one is filled up) with questions of equal length, so without padding: an answer does not depend on the
other images. It may depend on device, number format and versions.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from transformers import AutoImageProcessor, AutoModelForImageTextToText, AutoTokenizer

from .asking_ares import ArbiterAsking, ArbiterError, Reply
from .endpoint_ares import EndpointVlm
from .pinned_ares import checkpoint_name, pinned

TOKENS = 48
"""Tokens of the longest answer; the requested JSON object has about 20."""
_PLACEHOLDERS = ("<IMG_CONTEXT>", "<image>")
"""Images in the chat templates of this class of models."""


def open_vlm(settings: Mapping[str, Any]) -> ArbiterAsking | None:
    """The arbiter from `AresConfig.vlm`; None if it is empty.

    `settings`: `source`, and other arguments of `LocalVlm`; or `endpoint`, and other arguments of `EndpointVlm`.
    ArbiterError if a setting is unknown, or the model cannot be opened.
    """
    if not settings:
        return None
    kind: Any = EndpointVlm if "endpoint" in settings else LocalVlm
    names = list(inspect.signature(kind).parameters)
    if unknown := sorted(set(settings) - set(names)):
        raise ArbiterError(f"vlm: {', '.join(unknown)} is not known here. {kind.__name__} takes {', '.join(names)}")
    try:
        arbiter: ArbiterAsking = kind(**settings)
    except TypeError as error:
        raise ArbiterError(f"vlm: {error}. {kind.__name__} takes {', '.join(names)}") from error
    return arbiter


class LocalVlm(ArbiterAsking):
    """A checkpoint for `AutoModelForImageTextToText`, with safetensors, of InternVL's layout.

    The weights are loaded at once. Errors: ArbiterError if they cannot be had, or are of another kind of model.

    Args:
        source: Folder, or id of a Hub repository.
        revision: Commit of the repository, 40 hexadecimal digits; a folder has none.
        batch: Images per pass.
        tokens: Tokens of the longest answer.
        tiles: Most parts of a large image; 1 shows it whole, at the model's size.
        dtype: Number format; '' is bfloat16 on a GPU and float32 on a CPU.
        device: Device of torch; '' takes a GPU if there is one.
    """

    def __init__(
        self,
        source: str,
        revision: str = "",
        *,
        batch: int = 4,
        tokens: int = TOKENS,
        tiles: int = 1,
        dtype: str = "",
        device: str = "",
    ) -> None:
        super().__init__()
        self.source, self.revision, self.batch, self.tokens, self.tiles = source, revision, batch, tokens, tiles
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.dtype = dtype or ("bfloat16" if self.device.startswith("cuda") else "float32")
        try:
            at = pinned(source, revision)
            self.processor = AutoImageProcessor.from_pretrained(source, backend="pil", **at)
            self.tokenizer = AutoTokenizer.from_pretrained(source, **at)
            model = AutoModelForImageTextToText.from_pretrained(
                source, dtype=getattr(torch, self.dtype), use_safetensors=True, **at
            )
        except (OSError, ValueError) as error:
            text = str(error).strip().split("\n", 1)[0]
            raise ArbiterError(
                f"vlm: {source} cannot be opened: {text}. It takes an image-text-to-text checkpoint of transformers "
                "with safetensors, tokenizer and image processor"
            ) from error
        self.model: Any = model.eval().to(self.device)

    @cached_property
    def name(self) -> str:
        """Repository and commit, or the folder's name and a hash of its content; and settings behind the answers."""
        return f"{checkpoint_name(self.source, self.revision)} {self.dtype} tiles {self.tiles}"

    @torch.inference_mode()
    def _replies(self, images: Sequence[Any], question: str) -> list[Reply]:
        prepared = [self._pixels(image) for image in images]
        replies = [Reply()] * len(images)
        for parts in sorted({len(pixels) for pixels in prepared}):
            tokens = self._tokens(question, parts)
            places = [place for place, pixels in enumerate(prepared) if len(pixels) == parts]
            for start in range(0, len(places), self.batch):
                some = places[start : start + self.batch]
                full = some + some[:1] * (self.batch - len(some))
                texts = self._generate(tokens, torch.cat([prepared[place] for place in full]))
                for place, text in zip(some, texts, strict=False):
                    replies[place] = Reply(text)
        return replies

    def _pixels(self, image: Any) -> torch.Tensor:
        cut: dict[str, Any] = {"crop_to_patches": True, "max_patches": self.tiles} if self.tiles > 1 else {}
        if not cut and hasattr(self.processor, "crop_to_patches"):
            cut = {"crop_to_patches": False}
        tensor: torch.Tensor = self.processor(images=[image.convert("RGB")], return_tensors="pt", **cut)["pixel_values"]
        return tensor.to(self.device, self.model.dtype)

    def _tokens(self, question: str, parts: int) -> torch.Tensor:
        """(1, length): the chat with the question, and as many image tokens as the image has."""
        content = [{"type": "image"}, {"type": "text", "text": question}]
        chat = [{"role": "user", "content": content}]
        if not self.tokenizer.chat_template:
            raise ArbiterError(f"vlm: the tokenizer of {self.source} has no chat template; name a chat model")
        text: str = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        token = self.tokenizer.convert_ids_to_tokens(self.model.config.image_token_id)
        placeholder = next((each for each in (token, *_PLACEHOLDERS) if text.count(each) == 1), None)
        if placeholder is None:
            raise ArbiterError(f"vlm: the chat template of {self.source} has no place for an image; name another model")
        start, end = (getattr(self.tokenizer, f"{side}_image_token", None) or "" for side in ("start", "end"))
        picture = f"{start}{token * (int(self.model.config.image_seq_length) * parts)}{end}"
        ids = self.tokenizer(text.replace(placeholder, picture), add_special_tokens=False)["input_ids"]
        return torch.tensor([ids], device=self.device)

    def _generate(self, tokens: torch.Tensor, pixels: torch.Tensor) -> list[str]:
        ids = tokens.expand(self.batch, -1)
        ends = self.model.generation_config.eos_token_id
        ends = {*(ends if isinstance(ends, list) else [ends]), self.tokenizer.eos_token_id} - {None}
        out = self.model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            pixel_values=pixels,
            max_new_tokens=self.tokens,
            do_sample=False,
            num_beams=1,
            temperature=None,
            top_p=None,
            top_k=None,
            repetition_penalty=1.0,
            eos_token_id=sorted(ends),
            pad_token_id=min(ends) if self.tokenizer.pad_token_id is None else self.tokenizer.pad_token_id,
        )
        texts: list[str] = self.tokenizer.batch_decode(out[:, ids.shape[1] :], skip_special_tokens=True)
        return texts
