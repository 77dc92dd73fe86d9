"""Tiny random models in users' folder layouts: chat models, a vision model, and a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.builders.models import tiny

SIDE = 32
_PATCH = 8
_TURNS = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}IMAGE\n{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_WIDTH = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
_SHARP = {"initializer_range": 0.4}
"""Larger first weights than usual, so that answers differ between questions."""


def tokenizer(says: Sequence[str] = (), image: str = "<image>") -> Any:
    """Byte pairs learned from two sentences; every text can be written, and each of `says` is one token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", image]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=marks, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(["Who is most likely the nurse?", "Answer with one option: A, B, C or D."], trainer)
    words = PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens={"image_token": image},
        chat_template=_TURNS.replace("IMAGE", image),
        clean_up_tokenization_spaces=False,
    )
    words.add_tokens(list(says))
    return words


def chat(folder: Path, says: Sequence[str] = ()) -> Path:
    """A language model with a chat template and sampling settings; it says only the tokens `says`, all if empty."""
    tiny.quiet()
    from transformers import LlamaConfig, LlamaForCausalLM

    words = tokenizer(says)
    model = LlamaForCausalLM(LlamaConfig(**_WIDTH, **_SHARP, **_tokens(words)))
    model.generation_config.update(
        do_sample=True, temperature=0.7, top_p=0.9, top_k=20, suppress_tokens=_silent(words, says)
    )
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def vision_chat(folder: Path, says: Sequence[str] = ()) -> Path:
    """LLaVA, whose processor needs no torchvision; it says only the tokens `says`, all if empty."""
    tiny.quiet()
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    words = tokenizer(says)
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**_WIDTH, image_size=SIDE, patch_size=_PATCH, projection_dim=16),
        text_config=LlamaConfig(**_WIDTH, **_SHARP, **_tokens(words)),
        image_token_id=words.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    model = LlavaForConditionalGeneration(config)
    for weights in model.model.multi_modal_projector.parameters():
        weights.data.normal_(std=0.5)
    model.generation_config.suppress_tokens = _silent(words, says)
    model.save_pretrained(folder)
    size = {"height": SIDE, "width": SIDE}
    LlavaProcessor(
        CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size=size),
        words,
        patch_size=_PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=words.chat_template,
    ).save_pretrained(folder)
    return folder


def _tokens(words: Any) -> dict[str, Any]:
    return {"vocab_size": len(words), "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}


def _silent(words: Any, says: Sequence[str]) -> list[int] | None:
    said = set(words.convert_tokens_to_ids(list(says)))
    return [token for token in range(len(words)) if token not in said] if says else None
