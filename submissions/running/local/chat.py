"""A language model of transformers on this machine, with or without eyes: prompts in, texts out, several at a time.

An answer depends on its own request alone: every batch has the same number of rows, the padded length follows from
the prompt's own, and tokens at a temperature above 0 are drawn from the request's seed (Gumbel-max trick).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import psutil
import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
    GenerationMixin,
    LogitsProcessor,
    LogitsProcessorList,
    MinPLogitsWarper,
    StoppingCriteria,
    StoppingCriteriaList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING
from transformers.processing_utils import MODALITY_TO_AUTOPROCESSOR_MAPPING

from fairspace.builders.models import weights
from fairspace.submissions.errors import RunError
from fairspace.submissions.format.manifest import version
from fairspace.submissions.running.local.ending import (
    Choice,
    Ending,
    Marks,
    Said,
    begins_thinking,
    completion,
    marks_of,
    rows_that_fit,
    texts_of,
)
from fairspace.submissions.running.local.found import CONVERT


def choosers(config: Any, choice: Choice, seeds: Sequence[int]) -> list[LogitsProcessor]:
    """Processors of logits, with each row's seed: the greatest result is the chosen token; none for greedy decoding."""
    temperature, top_p, top_k, min_p = choice.temperature, choice.top_p, choice.top_k, None
    if temperature is None:
        temperature = 0.0
        if config.do_sample:
            temperature = 1.0 if config.temperature is None else config.temperature
            top_p, top_k, min_p = top_p or config.top_p, top_k or config.top_k, config.min_p
    if temperature == 0:
        return []
    warpers: list[LogitsProcessor] = [TemperatureLogitsWarper(float(temperature))]
    if top_k:
        warpers.append(TopKLogitsWarper(top_k))
    if top_p is not None and top_p < 1:
        warpers.append(TopPLogitsWarper(top_p))
    if min_p is not None:
        warpers.append(MinPLogitsWarper(min_p))
    return [*warpers, GumbelNoise(seeds)]


class GumbelNoise(LogitsProcessor):
    """Gumbel noise of each row's own seed, so that the greatest logit is a sample."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """`scores` (rows, tokens) with noise, drawn on the CPU: the same on every device."""
        noise = torch.stack([torch.empty(scores.shape[1]).exponential_(generator=each) for each in self._generators])
        return scores.float() - noise.to(scores.device).log()


class Following(StoppingCriteria):
    """A stopping rule that hands each row's new token to its ending."""

    def __init__(self, endings: Sequence[Ending]) -> None:
        self._endings = endings

    def __call__(self, input_ids: Tensor, scores: Any, **others: Any) -> Tensor:
        """True for the rows (rows,) whose answer has ended."""
        for ending, token in zip(self._endings, input_ids[:, -1].tolist(), strict=True):
            ending.take((token,))
        return torch.tensor([each.reason is not None for each in self._endings], device=input_ids.device)


_ENDLESS = 1 << 20
"""Context length of a model that states none, in tokens."""
_LONG = 4096
"""Tokens of prompt and answer for which memory must have room in every row of a batch."""


@dataclass(frozen=True)
class LoadedModel:
    """A model of transformers, with its processor of images and texts; None for a language model."""

    model: Any
    tokenizer: Any
    processor: Any


def open_weights(source: weights.Weights, name: str, device: str, dtype: str) -> LoadedModel:
    """The model with its tokenizer. RunError MODEL_UNKNOWN if it cannot be opened."""
    device = device or weights.best_device("")
    at: dict[str, Any] = {"revision": source.revision} if source.revision else {}
    try:
        kind = type(AutoConfig.from_pretrained(source.where, **at))
        sees = kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        processor = _processor(source.where, kind, at) if sees else None
        tokenizer: Any = processor.tokenizer if processor else AutoTokenizer.from_pretrained(source.where, **at)
        if processor and not processor.chat_template:  # older repositories keep it with the tokenizer
            processor.chat_template = tokenizer.chat_template
        opener: Any = AutoModelForImageTextToText if sees else AutoModelForCausalLM
        model: Any = opener.from_pretrained(
            source.where,
            dtype=getattr(torch, weights.precision(dtype, device)),
            device_map=device,
            use_safetensors=True,
            **at,
        ).eval()
    except (OSError, ValueError, ImportError, AttributeError, KeyError, RuntimeError) as error:
        mend = CONVERT
        if "torchvision" in str(error) or isinstance(error, ImportError):
            mend = "install what is named; torchvision must be of the same build as torch"
        what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        raise RunError("MODEL_UNKNOWN", name, what, "a model that transformers can open", mend) from error
    return LoadedModel(model, tokenizer, processor)


def context_of(model: Any) -> int:
    """Context length of a model in tokens."""
    config = model.config.get_text_config()
    lengths = (getattr(config, name, None) for name in ("max_position_embeddings", "n_positions", "max_seq_len"))
    return next((int(length) for length in lengths if length), _ENDLESS)


def batch_that_fits(model: Any, context: int) -> int:
    """Rows of a batch: 8, or fewer if keys and values of as many long answers fill half of the free memory."""
    config = model.config.get_text_config()
    heads = getattr(config, "num_attention_heads", None) or 1
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    kept = getattr(config, "num_key_value_heads", None) or heads
    row = 2 * config.num_hidden_layers * kept * width * model.dtype.itemsize * min(context, _LONG)
    free = torch.cuda.mem_get_info()[0] if model.device.type == "cuda" else psutil.virtual_memory().available
    return rows_that_fit(row, free)


def _processor(where: str, config: type, at: Mapping[str, str]) -> Any:
    """Processor of images and texts, on PIL's images with or without torchvision.

    Many processors prepare videos too, which needs torchvision: such a one is made of its other parts.
    """
    kind: Any = PROCESSOR_MAPPING.get(config, AutoProcessor)
    if kind is AutoProcessor or "video_processor" not in kind.get_attributes():
        return AutoProcessor.from_pretrained(where, backend="pil", **at)
    kind = type(kind.__name__, (kind,), {"check_argument_for_proper_class": lambda *parts: None})
    parts: list[Any] = []
    for name in kind.get_attributes():
        opener = MODALITY_TO_AUTOPROCESSOR_MAPPING[name] if name != "video_processor" else None
        more = {**at, "backend": "pil"} if name == "image_processor" else at
        parts.append(opener.from_pretrained(where, **more) if opener else None)
    settings, _ = kind.get_processor_dict(where, **at)
    return kind.from_args_and_dict(parts, settings)


_STEP = 16
"""Prompts of a batch are padded to a multiple of this many tokens."""
Turns = Sequence[Mapping[str, Any]]
"""A chat for chat templates: role and content; content is a list of parts with type `text` or `image`."""


@dataclass(frozen=True)
class PreparedPrompt:
    """A prompt as tensors with a first dimension that grows with the batch."""

    tensors: Mapping[str, Tensor]

    @property
    def tokens(self) -> int:
        """Length of the prompt in tokens."""
        return int(self.tensors["input_ids"].shape[1])


class LocalChat:
    """A language model with safetensors weights, with or without eyes.

    Args:
        device: torch device; '' takes a GPU if there is one, `auto` spreads the weights over all of them.
        dtype: number format; '' is bfloat16 on a GPU and float32 on a CPU.
        batch: prompts at a time; 0 is 8, or fewer if memory has no room for as many long answers.
        context: greatest number of tokens of prompt and answer together; 0 for the model's own.

    Errors: RunError MODEL_UNKNOWN if it cannot be opened.
    """

    engine = f"transformers {version('transformers')}"
    turns = 1
    """Batches at a time."""
    schemas = ends_loops = False

    def __init__(
        self,
        source: weights.Weights,
        name: str,
        *,
        device: str = "",
        dtype: str = "",
        batch: int = 0,
        context: int = 0,
    ) -> None:
        opened = open_weights(source, name, device, dtype)
        self.named, self.source = name, source
        self.model, self.tokenizer, self._processor = opened.model, opened.tokenizer, opened.processor
        # The own `generate` of models that make images too, such as Janus', drops processors of logits.
        unified = "image" in getattr(self.model, "output_modalities", ())
        self._generate = (
            partial(GenerationMixin.generate, self.model, guidance_scale=None) if unified else self.model.generate
        )
        self.dtype = str(self.model.dtype).removeprefix("torch.")
        self.context = context or context_of(self.model)
        self.batch = batch or batch_that_fits(self.model, self.context)
        template = (self._processor or self.tokenizer).chat_template
        self._template = template if isinstance(template, str) else str(template or "")
        self.template = bool(template)
        """Whether prompts go through a chat template; else they are texts to be completed."""
        self.thinks = self.template and self._marks.think is not None
        self._one = Lock()  # fast tokenizers cannot be used by several threads at once

    def prepare(self, turns: Turns) -> PreparedPrompt:
        """The prompt of a chat. ValueError if it has images and the model sees none."""
        options: dict[str, Any] = {"add_generation_prompt": True, "tokenize": True, "return_dict": True}
        if self._processor and self.template:
            with self._one:
                encoded = self._processor.apply_chat_template([*turns], return_tensors="pt", **options)
            return PreparedPrompt({name: value for name, value in encoded.items() if isinstance(value, Tensor)})
        if any(part["type"] != "text" for turn in turns for part in turn["content"]):
            raise ValueError(f"{self.named} sees no images: {type(self.model).__name__}")
        texts = texts_of(turns)
        with self._one:
            if self.template:
                encoded = self.tokenizer.apply_chat_template(texts, return_tensors="pt", **options)
            else:
                encoded = self.tokenizer(completion(texts), return_tensors="pt")
        return PreparedPrompt({name: encoded[name] for name in ("input_ids", "attention_mask")})

    def is_greedy(self, choice: Choice) -> bool:
        """Whether the likeliest token is always chosen."""
        return not choosers(self.model.generation_config, choice, ())

    def alike(self, prepared: PreparedPrompt) -> tuple[Any, ...]:
        """A key that prompts of one batch share."""
        length = prepared.tokens
        rest = (
            (name, tuple(value.shape))
            for name, value in sorted(prepared.tensors.items())
            if not _long(name, value, length)
        )
        return (_padded(length), *rest)

    @torch.inference_mode()
    def answer(self, prompts: Sequence[PreparedPrompt], seeds: Sequence[int], choice: Choice) -> list[Said]:
        """An answer to each of at most `batch` alike prompts with room for one; greedy decoding ignores the seeds."""
        lacking = self.batch - len(prompts)
        full = [*prompts, *[prompts[0]] * lacking]
        length = _padded(prompts[0].tokens) if self.batch > 1 else prompts[0].tokens
        names = prompts[0].tensors
        inputs = {name: torch.cat([self._fill(name, each, length) for each in full]) for name in names}
        rooms = [self.context - each.tokens for each in prompts] + [0] * lacking
        marks = self._marks
        endings = [
            Ending(choice, marks, self._decode, room, begins_thinking(each.tensors["input_ids"][0], marks))
            for each, room in zip(full, rooms, strict=True)
        ]
        processors = choosers(self.model.generation_config, choice, [*seeds, *[0] * lacking])
        self._generate(
            **{name: self._placed(value) for name, value in inputs.items()},
            max_new_tokens=min(choice.max_tokens + 1, max(rooms)),
            do_sample=False,
            num_beams=1,
            temperature=None,
            top_p=None,
            top_k=None,
            min_p=None,
            eos_token_id=sorted(marks.ends),
            pad_token_id=self._pad,
            logits_processor=LogitsProcessorList(processors),
            stopping_criteria=StoppingCriteriaList([Following(endings)]),
        )
        return [ending.said() for ending in endings[: len(prompts)]]

    def _fill(self, name: str, prompt: PreparedPrompt, length: int) -> Tensor:
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
        return marks_of(self.tokenizer.get_added_vocab().get, self._template, every)

    @property
    def _pad(self) -> int:
        pad: int | None = self.tokenizer.pad_token_id
        return min(self._marks.ends, default=0) if pad is None else pad


def _long(name: str, value: Tensor, length: int) -> bool:
    return name.endswith(("_ids", "_mask")) and value.ndim > 1 and value.shape[:2] == (1, length)


def _padded(length: int) -> int:
    return -(-length // _STEP) * _STEP
