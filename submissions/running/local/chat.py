"""A language model of transformers on this machine, with or without eyes: prompts in, texts out, several at a time.

An answer depends on its own request alone: not on which other requests share its batch, nor on their order, nor on
where a run was killed. So every batch has the same number of rows (the last is filled up), prompts are padded to a
length that follows from their own, and what is drawn at a temperature above 0 is drawn from the request's own seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessorList, StoppingCriteriaList

from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.local import found, opening, templates
from fairspace.submissions.running.local.ending import Choice, Ending, Marks, Said
from fairspace.submissions.running.local.sampling import Following, Forcing, choosers

_STEP = 16
"""Prompts of a batch are padded to a multiple of so many tokens."""
Turns = Sequence[Mapping[str, Any]]
"""A chat as chat templates take it: role and content; content is a list of parts with type `text` or `image`."""


@dataclass(frozen=True)
class Prepared:
    """A prompt as the model takes it: tensors with a first dimension that grows with the batch."""

    tensors: Mapping[str, Tensor]

    @property
    def tokens(self) -> int:
        """Of the prompt."""
        return int(self.tensors["input_ids"].shape[1])


class LocalChat:
    """A language model with safetensors or GGUF weights; `sees` says whether it takes images.

    Args:
        source: the weights.
        named: as the user named them.
        device: of torch; '' takes a GPU if there is one, `auto` spreads the weights over all of them.
        dtype: number format; '' is bfloat16 on a GPU and float32 on a CPU.
        batch: prompts at a time; 0 is 8, or fewer where memory has no room for as many long answers.
        context: tokens of prompt and answer together at most; 0 for what the model was made for.

    Errors: RunError MODEL_UNKNOWN if it cannot be opened.
    """

    turns = 1
    """Batches at a time."""

    def __init__(
        self, source: found.Found, named: str, *, device: str = "", dtype: str = "", batch: int = 0, context: int = 0
    ) -> None:
        opened = opening.open_weights(source, named, device, dtype)
        self.named, self.source = named, source
        self.model, self.tokenizer, self.sees = opened.model, opened.tokenizer, opened.processor is not None
        self._processor = opened.processor
        self.context = context or opening.context_of(self.model)
        self.batch = batch or opening.batch_that_fits(self.model, self.context)
        template = (self._processor or self.tokenizer).chat_template
        self._template = template if isinstance(template, str) else str(template or "")
        self.template = bool(template)
        """Whether prompts go through a chat template; else they are texts to be completed."""
        self._one = Lock()  # fast tokenizers cannot be used by several threads at once

    @property
    def stops(self) -> tuple[str, ...]:
        """Texts at which every answer ends."""
        return () if self.template else templates.STOPS

    def facts(self) -> dict[str, str | int]:
        """What computes the answers, for a manifest."""
        reader = f", gguf {version('gguf')}" if self.source.file else ""
        return {
            "engine": f"transformers {version('transformers')}{reader}",
            "batch": self.batch,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "context": self.context,
            "prompt": "chat template" if self.template else "completion",
        }

    def prepare(self, turns: Turns) -> Prepared:
        """The prompt of a chat. ValueError if it has images and the model sees none."""
        options: dict[str, Any] = {"add_generation_prompt": True, "tokenize": True, "return_dict": True}
        if self._processor and self.template:
            with self._one:
                encoded = self._processor.apply_chat_template([*turns], return_tensors="pt", **options)
            return Prepared({name: value for name, value in encoded.items() if isinstance(value, Tensor)})
        if any(part["type"] != "text" for turn in turns for part in turn["content"]):
            raise ValueError(f"{self.named} sees no images: {type(self.model).__name__}")
        texts = templates.texts_of(turns)
        with self._one:
            if self.template:
                encoded = self.tokenizer.apply_chat_template(texts, return_tensors="pt", **options)
            else:
                encoded = self.tokenizer(templates.completion(texts), return_tensors="pt")
        return Prepared({name: encoded[name] for name in ("input_ids", "attention_mask")})

    def is_greedy(self, choice: Choice) -> bool:
        """Whether the likeliest token is always chosen."""
        return not choosers(self.model.generation_config, choice, ())

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
        """An answer to each of at most `batch` prompts that are alike and leave room for an answer.

        Args:
            prompts: what is asked.
            seeds: of each; not used where the likeliest token is chosen.
            choice: how tokens are chosen, and where answers end.
        """
        lacking = self.batch - len(prompts)
        full = [*prompts, *[prompts[0]] * lacking]
        length = _padded(prompts[0].tokens) if self.batch > 1 else prompts[0].tokens
        names = prompts[0].tensors
        inputs = {name: torch.cat([self._fill(name, each, length) for each in full]) for name in names}
        rooms = [self.context - each.tokens for each in prompts] + [0] * lacking
        marks = self._marks
        endings = [
            Ending(choice, marks, self._decode, room, templates.begins_thinking(each.tensors["input_ids"][0], marks))
            for each, room in zip(full, rooms, strict=True)
        ]
        chosen = choosers(self.model.generation_config, choice, [*seeds, *[0] * lacking])
        self.model.generate(
            **{name: self._placed(value) for name, value in inputs.items()},
            max_new_tokens=min(choice.most + 1, max(rooms)),
            do_sample=False,
            num_beams=1,
            temperature=None,
            top_p=None,
            top_k=None,
            min_p=None,
            eos_token_id=sorted(marks.ends),
            pad_token_id=self._pad,
            logits_processor=LogitsProcessorList([*chosen, Forcing(endings)]),
            stopping_criteria=StoppingCriteriaList([Following(endings)]),
        )
        return [ending.said() for ending in endings[: len(prompts)]]

    def _fill(self, name: str, prompt: Prepared, length: int) -> Tensor:
        value = prompt.tensors[name]
        if not _long(name, value, prompt.tokens):
            return value
        missing = length - prompt.tokens
        shape = (1, missing, *value.shape[2:])
        return torch.cat([value.new_full(shape, self._pad if name == "input_ids" else 0), value], dim=1)

    def _placed(self, value: Tensor) -> Tensor:
        return value.to(self.model.device, self.model.dtype if value.is_floating_point() else None)

    def _decode(self, tokens: Sequence[int]) -> str:
        text: str = self.tokenizer.decode([*tokens], skip_special_tokens=True)
        return text

    @property
    def _marks(self) -> Marks:
        ends = self.model.generation_config.eos_token_id
        every = {*(ends if isinstance(ends, list) else [ends]), self.tokenizer.eos_token_id} - {None}
        return templates.marks_of(self.tokenizer.get_added_vocab().get, self._template, every)

    @property
    def _pad(self) -> int:
        pad: int | None = self.tokenizer.pad_token_id
        return min(self._marks.ends, default=0) if pad is None else pad


def _long(name: str, value: Tensor, length: int) -> bool:
    """Whether a tensor has a value for each token of the prompt."""
    return name.endswith(("_ids", "_mask")) and value.ndim > 1 and value.shape[:2] == (1, length)


def _padded(length: int) -> int:
    return -(-length // _STEP) * _STEP
