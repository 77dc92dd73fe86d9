"""A chat model of transformers on this machine, with or without eyes: prompts in, texts out, several at a time.

An answer depends on its own request alone: not on which other requests share its batch, nor on their order. So every
batch has the same number of rows (the last is filled up), prompts are padded to a length that follows from their own,
and what is drawn at a temperature above 0 is drawn from the request's own seed (the Gumbel-max trick: the token with
the greatest log-probability plus noise is a sample of the distribution).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
    LogitsProcessor,
    LogitsProcessorList,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights
from fairspace.submissions.running.errors import RunError

_STEP = 32
"""Prompts of a batch are padded to a multiple of so many tokens."""
Turns = Sequence[Mapping[str, Any]]
"""A chat as chat templates take it: role and content; content is a list of parts with type `text` or `image`."""


@dataclass(frozen=True)
class Choice:
    """How tokens are chosen.

    Args:
        max_tokens: of an answer.
        temperature: 0 for always the likeliest token; None for what the model's own generation settings say, which
            then also say `top_p` and `top_k` if these are None.
        top_p: see `temperature`.
        top_k: see `temperature`.
    """

    max_tokens: int
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None


@dataclass(frozen=True)
class Prepared:
    """A prompt as the model takes it: tensors with a first dimension that grows with the batch."""

    tensors: Mapping[str, Tensor]

    @property
    def tokens(self) -> int:
        """Of the prompt."""
        return int(self.tensors["input_ids"].shape[1])


@dataclass(frozen=True)
class Said:
    """An answer: its text, its tokens, and whether the model ended it."""

    text: str
    tokens: int
    ended: bool


class LocalChat:
    """A chat model with safetensors weights; `sees` says whether it takes images.

    Args:
        model: folder or ID[@REVISION].
        device: of torch; '' takes a GPU if there is one, `auto` spreads the weights over all of them.
        dtype: number format; '' is bfloat16 on a GPU and float32 on a CPU.
        batch: prompts at a time; 0 is 8 on a GPU and 1 on a CPU.

    Errors: RunError MODEL_UNKNOWN if it cannot be opened, or is no chat model.
    """

    def __init__(self, model: str, *, device: str = "", dtype: str = "", batch: int = 0) -> None:
        try:
            source = weights.find(model, "config.json")
        except BuildError as error:
            raise RunError("MODEL_UNKNOWN", error.where, error.what, error.expected, error.mend) from error
        self.device = device or weights.best_device("")
        small = self.device.startswith("cpu")
        self.batch = batch or (1 if small else 8)
        self.named = model
        self._one = Lock()  # fast tokenizers cannot be used by several threads at once
        at = {"revision": source.revision} if source.revision else {}
        try:
            kind = type(AutoConfig.from_pretrained(source.where, **at))
            self.sees = kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
            self._processor = _processor(source.where, at) if self.sees else None
            self.tokenizer: Any = (
                self._processor.tokenizer if self._processor else AutoTokenizer.from_pretrained(source.where, **at)
            )
            opener: Any = AutoModelForImageTextToText if self.sees else AutoModelForCausalLM
            self.model: Any = opener.from_pretrained(
                source.where,
                dtype=getattr(torch, dtype or ("float32" if small else "bfloat16")),
                device_map=self.device,
                use_safetensors=True,
                **at,
            ).eval()
        except (OSError, ValueError, ImportError, AttributeError) as error:
            mend = "name another model, or serve it with vLLM and name openai-api/NAME/MODEL"
            if "torchvision" in str(error) or isinstance(error, ImportError):
                mend = "install what is named; torchvision must be of the same build as torch"
            what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            raise RunError("MODEL_UNKNOWN", model, what, "a chat model that transformers can open", mend) from error
        if not (self._processor or self.tokenizer).chat_template:
            mend = "name the model that was trained to follow instructions"
            raise RunError("MODEL_UNKNOWN", model, "no chat template", "a chat model", mend)

    def prepare(self, turns: Turns) -> Prepared:
        """The prompt of a chat. ValueError if it has images and the model sees none."""
        template: dict[str, Any] = {"add_generation_prompt": True, "tokenize": True, "return_dict": True}
        if self._processor:
            with self._one:
                encoded = self._processor.apply_chat_template([*turns], return_tensors="pt", **template)
        else:
            if any(part["type"] != "text" for turn in turns for part in turn["content"]):
                raise ValueError(f"{self.named} sees no images: {type(self.model).__name__}")
            texts = [{**turn, "content": "\n".join(part["text"] for part in turn["content"])} for turn in turns]
            with self._one:
                encoded = self.tokenizer.apply_chat_template(texts, return_tensors="pt", **template)
        return Prepared({name: value for name, value in encoded.items() if isinstance(value, Tensor)})

    def alike(self, prepared: Prepared) -> tuple[Any, ...]:
        """Prompts of the same key can share a batch."""
        length = prepared.tokens
        rest = (
            (name, tuple(value.shape))
            for name, value in sorted(prepared.tensors.items())
            if not _long(name, value, length)
        )
        return (_padded(length), *rest)

    @torch.inference_mode()
    def answer(self, prompts: Sequence[Prepared], seeds: Sequence[int], choice: Choice) -> list[Said]:
        """An answer to each of at most `batch` prompts that are alike.

        Args:
            prompts: what is asked.
            seeds: of each; not used where the likeliest token is chosen.
            choice: how tokens are chosen.
        """
        full = [*prompts, *[prompts[0]] * (self.batch - len(prompts))]
        length = _padded(prompts[0].tokens) if self.batch > 1 else prompts[0].tokens
        names = prompts[0].tensors
        inputs = {name: torch.cat([self._fill(name, each, length) for each in full]) for name in names}
        out = self.model.generate(
            **{name: self._placed(value) for name, value in inputs.items()},
            max_new_tokens=choice.max_tokens,
            do_sample=False,
            num_beams=1,
            temperature=None,
            top_p=None,
            top_k=None,
            min_p=None,
            eos_token_id=sorted(self._ends),
            pad_token_id=self._pad,
            logits_processor=self._chooser(choice, [*seeds, *[0] * (len(full) - len(seeds))]),
        )
        return [self._said(row.tolist()) for row in out[: len(prompts), length:]]

    def _fill(self, name: str, prompt: Prepared, length: int) -> Tensor:
        value = prompt.tensors[name]
        if not _long(name, value, prompt.tokens):
            return value
        missing = length - prompt.tokens
        shape = (1, missing, *value.shape[2:])
        return torch.cat([value.new_full(shape, self._pad if name == "input_ids" else 0), value], dim=1)

    def _placed(self, value: Tensor) -> Tensor:
        return value.to(self.model.device, self.model.dtype if value.is_floating_point() else None)

    def _said(self, tokens: list[int]) -> Said:
        end = next((place for place, token in enumerate(tokens) if token in self._ends), None)
        kept = tokens[:end]
        text: str = self.tokenizer.decode(kept, skip_special_tokens=True)
        return Said(text, len(kept), end is not None)

    @property
    def _ends(self) -> set[int]:
        ends = self.model.generation_config.eos_token_id
        return {*(ends if isinstance(ends, list) else [ends]), self.tokenizer.eos_token_id} - {None}

    @property
    def _pad(self) -> int:
        pad: int | None = self.tokenizer.pad_token_id
        return min(self._ends, default=0) if pad is None else pad

    def _chooser(self, choice: Choice, seeds: Sequence[int]) -> LogitsProcessorList:
        config = self.model.generation_config
        temperature, top_p, top_k, min_p = choice.temperature, choice.top_p, choice.top_k, None
        if temperature is None:
            temperature = 0.0
            if config.do_sample:
                temperature = 1.0 if config.temperature is None else config.temperature
                top_p, top_k, min_p = top_p or config.top_p, top_k or config.top_k, config.min_p
        if temperature == 0:
            return LogitsProcessorList()
        warpers: list[LogitsProcessor] = [TemperatureLogitsWarper(float(temperature))]
        if top_k:
            warpers.append(TopKLogitsWarper(top_k))
        if top_p is not None and top_p < 1:
            warpers.append(TopPLogitsWarper(top_p))
        if min_p is not None:
            warpers.append(MinPLogitsWarper(min_p))
        return LogitsProcessorList([*warpers, _Drawing(seeds)])


class _Drawing(LogitsProcessor):
    """Adds Gumbel noise of each row's own seed, so that its greatest logit is a sample."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """`scores` (rows, tokens) with noise. The noise is made on the CPU, so that it is the same on every device."""
        noise = torch.stack([torch.empty(scores.shape[1]).exponential_(generator=each) for each in self._generators])
        return scores.float() - noise.to(scores.device).log()


def _processor(where: str, at: Mapping[str, str]) -> Any:
    """Of images and texts; without torchvision the one that works on PIL's images."""
    backend = {"backend": "pil"} if find_spec("torchvision") is None else {}
    try:
        return AutoProcessor.from_pretrained(where, **backend, **at)
    except ImportError as error:
        if not backend:
            raise
        # Several processors prepare films too, and cannot be opened without what decodes them.
        raise ImportError(f"{Path(where).name}: its processor needs torchvision ({error})") from error


def _long(name: str, value: Tensor, length: int) -> bool:
    """Whether a tensor has a value for each token of the prompt."""
    return name.endswith(("_ids", "_mask")) and value.ndim > 1 and value.shape[:2] == (1, length)


def _padded(length: int) -> int:
    return -(-length // _STEP) * _STEP
