"""Opens weights with transformers, as a folder or a GGUF file has them, and says how much of them fits into memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoProcessor, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

from fairspace.builders.models import weights
from fairspace.submissions.errors import need_packages
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.local.found import CONVERT, Found
from fairspace.submissions.running.local.memory import rows_that_fit

_ENDLESS = 1 << 20
"""Tokens of context of a model that states none."""
_LONG = 4096
"""Tokens of prompt and answer that memory must have room for, in every row of a batch."""


@dataclass(frozen=True)
class Opened:
    """A model of transformers.

    Args:
        model: ready to generate.
        tokenizer: of it.
        processor: of images and texts; None for a language model.
    """

    model: Any
    tokenizer: Any
    processor: Any


def open_weights(source: Found, named: str, device: str, dtype: str) -> Opened:
    """The model with its tokenizer. RunError MODEL_UNKNOWN if it cannot be opened; UsageError without `gguf`."""
    device = device or weights.best_device("")
    at: dict[str, Any] = {"revision": source.revision} if source.revision else {}
    if source.file:
        need_packages("run", "gguf")
        at["gguf_file"] = source.file
    try:
        kind = type(AutoConfig.from_pretrained(source.where, **at))
        sees = kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING and not source.file
        processor = _processor(source.where, at) if sees else None
        tokenizer: Any = processor.tokenizer if processor else AutoTokenizer.from_pretrained(source.where, **at)
        opener: Any = AutoModelForImageTextToText if sees else AutoModelForCausalLM
        model: Any = opener.from_pretrained(
            source.where,
            dtype=getattr(torch, dtype or ("float32" if device.startswith("cpu") else "bfloat16")),
            device_map=device,
            use_safetensors=True,
            **at,
        ).eval()
    except (OSError, ValueError, ImportError, AttributeError, KeyError, RuntimeError) as error:
        mend = CONVERT
        if "torchvision" in str(error) or isinstance(error, ImportError):
            mend = "install what is named; torchvision must be of the same build as torch"
        what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        raise RunError("MODEL_UNKNOWN", named, what, "a model that transformers can open", mend) from error
    return Opened(model, tokenizer, processor)


def context_of(model: Any) -> int:
    """Tokens of prompt and answer that a model was made for."""
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
