"""Images by a unified model of transformers, Janus or Emu3; each prompt's seed alone decides its draws.

The language model draws the tokens of an image one after another, with classifier-free guidance, and the model's own
decoder turns them into pixels. Settings that are not named are those of the model's files, else its makers'.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from transformers import AutoConfig, GenerationConfig, GenerationMixin, LogitsProcessor, LogitsProcessorList

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.models import weights
from fairspace.builders.models.diffusion import passes
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.images.made import ImageModel, Setting
from fairspace.submissions.running.local.chat import LoadedModel, choosers, open_weights
from fairspace.submissions.running.local.ending import Choice
from fairspace.submissions.running.local.found import GGUF, find

DEFAULTS: dict[str, dict[str, Setting]] = {
    "janus": {"guidance": 5.0, "temperature": 1.0, "top_k": 0, "top_p": 1.0},
    "emu3": {"guidance": 3.0, "temperature": 1.0, "top_k": 2048, "top_p": 1.0, "size": 720, "negative": ""},
}
"""Type of model -> its settings, with the values of its makers' programs (deepseek-ai/Janus, baaivision/Emu3)."""
_OWN = {"guidance": "guidance_scale", "temperature": "temperature", "top_k": "top_k", "top_p": "top_p"}
"""Setting -> its name in a model's `generation_config.json`."""
_LEAST = {"batch": 1, "size": 16, "temperature": 0, "top_k": 0}
_INPUTS = ("input_ids", "attention_mask", "image_sizes")
_STEP = 16
"""Prompts are padded to a multiple of this many tokens, so that an image does not depend on those beside it."""


class Guiding(LogitsProcessor):
    """Classifier-free guidance of a pass whose second half of rows has no prompt: (2 n, tokens) to (n, tokens)."""

    def __init__(self, scale: float) -> None:
        self._scale = scale

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Logits without a prompt, and `scale` times the difference that the prompt makes."""
        prompted, free = scores.chunk(2)
        return free + self._scale * (prompted - free)


class UnifiedImages(ImageModel):
    """A model of transformers that answers and makes images.

    Args:
        guidance: scale of classifier-free guidance; 1 is none.
        temperature: 0 takes the likeliest token; else one is drawn from the `top_k` likeliest, `top_p` in all.
        size: side of the square image in pixels (Emu3).
        negative: prompt from which guidance leads away (Emu3).
        batch: images per pass, filled up; it may change the rounding.

    Errors: RunError MODEL_UNKNOWN if the model, or its type, is not known here, or a setting is not its own.
    """

    engine, engine_version = "transformers", version("transformers")

    def __init__(
        self, model: str, *, named: str = "", device: str = "", dtype: str = "", batch: int = 1, **settings: Any
    ) -> None:
        self._named, self._source, self.batch = named or model, find(model), batch
        self.name, self.revision = self._source.title, self._source.identity
        self._device, self._dtype = weights.best_device(device), dtype
        for name, least in _LEAST.items():
            if (value := {"batch": batch, **settings}.get(name, least)) < least:
                raise self._wrong(f"{name}={value}", f"{least} or more")
        at: dict[str, Any] = {"revision": self._source.revision} if self._source.revision else {}
        try:
            is_gguf = self._source.marker.suffix.lower() == GGUF
            self._kind = "gguf" if is_gguf else AutoConfig.from_pretrained(self._source.where, **at).model_type
        except (OSError, ValueError) as error:
            raise self._wrong(" ".join(str(error).split())[:300], "a model that transformers knows") from error
        if self._kind not in DEFAULTS:
            raise self._wrong(f"a model of type {self._kind}", f"one of the types {', '.join(DEFAULTS)}")
        if unknown := sorted(settings.keys() - DEFAULTS[self._kind].keys()):
            raise self._wrong(", ".join(unknown), f"settings of {self._kind}: {', '.join(DEFAULTS[self._kind])}")
        try:
            defaults: Any = GenerationConfig.from_pretrained(self._source.where, **at)
        except OSError:  # without a file
            defaults = None
        stated = {name: getattr(defaults, key, None) for name, key in _OWN.items()}
        kept = {name: value for name, value in stated.items() if value is not None}
        self._chosen: dict[str, Any] = {**DEFAULTS[self._kind], **kept, **settings}

    def settings(self) -> dict[str, Setting]:
        """All that decides pixels, as in force: settings that were not named are the model's."""
        precision = weights.precision(self._dtype, self._device)
        return {**self._chosen, "dtype": precision, "batch": self.batch, "device": self._device.partition(":")[0]}

    def open(self) -> None:
        """Load the model. RunError MODEL_UNKNOWN if it cannot be opened."""
        self._opened  # noqa: B018 - loaded once

    @cached_property
    def _opened(self) -> LoadedModel:
        return open_weights(self._source, self._named, self._device, self._dtype)

    @torch.inference_mode()
    def images(self, prompts: Sequence[ImagePrompt]) -> list[Any]:
        """A PIL image for each prompt; prompts of one padded length share passes."""
        opened = self._opened
        encoded = [self._encoded(opened.processor, prompt.text) for prompt in prompts]
        lengths = [each["input_ids"].shape[1] for each in encoded]
        choice = Choice(0, self._chosen["temperature"], self._chosen["top_p"], int(self._chosen["top_k"]))
        images: dict[int, Any] = {}
        for length in set(lengths):
            for part, full in passes([n for n, other in enumerate(lengths) if other == length], self.batch):
                inputs = {name: torch.cat([encoded[n][name] for n in full]) for name in encoded[0]}
                made = self._pass(opened, inputs, choosers(None, choice, [prompts[n].seed for n in full]))
                images |= dict(zip(part, made, strict=False))
        return [images[place] for place in range(len(prompts))]

    def _encoded(self, processor: Any, text: str) -> dict[str, Tensor]:
        """The prompt that begins an image, padded on the left; of Emu3 also the image's size in tokens."""
        if self._kind == "janus":
            turns = [{"role": "user", "content": [{"type": "text", "text": text}]}]
            text = processor.apply_chat_template(turns, add_generation_prompt=True)
            mode: dict[str, Any] = {"generation_mode": "image"}
        else:
            mode = {"return_for_image_generation": True, "ratio": "1:1", "image_area": self._chosen["size"] ** 2}
        padding = {"padding": True, "padding_side": "left", "pad_to_multiple_of": _STEP}
        encoded = processor(text=[text], return_tensors="pt", **mode, **padding)
        return {name: torch.as_tensor(encoded[name]) for name in _INPUTS if name in encoded}

    def _pass(self, opened: LoadedModel, inputs: dict[str, Tensor], drawn: list[LogitsProcessor]) -> list[Any]:
        model, processor, guidance = opened.model, opened.processor, self._chosen["guidance"]
        placed = {name: value.to(model.device) for name, value in inputs.items() if name != "image_sizes"}
        greedy: dict[str, Any] = {"do_sample": False, "temperature": None, "top_k": None, "top_p": None}
        if self._kind == "janus":
            # Janus' own guidance comes behind our draws: a scale of 1 leaves it out.
            processors = LogitsProcessorList([Guiding(guidance), *drawn])
            way = {"generation_mode": "image", "guidance_scale": 1, "logits_processor": processors}
            tokens = model.generate(**placed, **way, **greedy)
            # The processor on PIL's images takes channels first alone.
            pixels = model.decode_image_tokens(tokens).permute(0, 3, 1, 2)
        else:
            (height, width), start = inputs["image_sizes"][0].tolist(), placed["input_ids"].shape[1]
            visual, line = model.vocabulary_mapping.image_tokens, [model.vocabulary_mapping.eol_token_id]
            free = self._encoded(processor, self._chosen["negative"])
            rows = {name: free[name].expand(len(placed[name]), -1).to(model.device) for name in placed}
            tokens = GenerationMixin.generate(
                model,
                **placed,
                **greedy,
                max_new_tokens=height * (width + 1),
                guidance_scale=guidance,
                negative_prompt_ids=rows["input_ids"],
                negative_prompt_attention_mask=rows["attention_mask"],
                prefix_allowed_tokens_fn=lambda row, ids: visual if (len(ids) - start + 1) % (width + 1) else line,
                logits_processor=LogitsProcessorList(drawn),
            )
            # Decoding drops the three marks behind an image, which are not asked for.
            whole = torch.nn.functional.pad(tokens[:, start:], (0, 3))
            pixels = model.decode_image_tokens(image_tokens=whole, height=height, width=width)
        made: list[Any] = processor.postprocess([*pixels.float()], return_tensors="PIL.Image.Image")["pixel_values"]
        return made

    def _wrong(self, what: str, expected: str) -> RunError:
        mend = "name another model or setting; your own code makes images as python:MODULE:FUNCTION"
        return RunError("MODEL_UNKNOWN", self._named, what, expected, mend)
