"""Tiny random models in users' folder layouts: chat models, a vision model, and a pipeline."""

import json
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


def tokenizer(says: Sequence[str] = (), image: str = "<image>", **special: str) -> Any:
    """Byte pairs learned from two sentences; each of `says` is one token, and `special` names special ones."""
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
        bos_token=special.pop("bos_token", None),
        extra_special_tokens={"image_token": image, **special},
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


QWEN = ("<|image_pad|>", "<|vision_start|>", "<|vision_end|>", "<|video_pad|>")
MARKS = {
    "qwen2_5_vl": QWEN,
    "qwen3_vl": QWEN,
    "internvl": ("<IMG_CONTEXT>", "<img>", "</img>", "<video>"),
    "llava_onevision": ("<image>", "<video>"),
}
"""Families whose processors prepare videos too -> special tokens: of an image, its begin and end, of a video."""


def seeing(folder: Path, family: str) -> Path:
    """A vision-language model of the family, with the files of its makers' repositories."""
    tiny.quiet()
    import transformers

    marks = MARKS[family]
    special = dict(zip(("start_image_token", "end_image_token"), marks[1:-1], strict=False))
    words = tokenizer(image=marks[0], context_image_token=marks[0], video_token=marks[-1], **special)
    image, *rest, video = words.convert_tokens_to_ids(list(marks))
    text: dict[str, Any] = {"model_type": "qwen2", **_WIDTH, **_SHARP, **_tokens(words), "num_key_value_heads": 4}
    square, grid = {"height": SIDE, "width": SIDE}, [[SIDE, SIDE], [SIDE, 2 * SIDE], [2 * SIDE, SIDE]]
    own: dict[str, Any] = {}
    processor: dict[str, Any] = {}
    ids = {"image_token_id": image, "video_token_id": video}
    if marks == QWEN:
        text |= {"model_type": f"{family}_text", "head_dim": 8}
        text["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}
        vision: dict[str, Any] = {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 4}
        deep = {"deepstack_visual_indexes": [0], "num_position_embeddings": 16}
        vision |= {"out_hidden_size": 32, **(deep if family == "qwen3_vl" else {"fullatt_block_indexes": [1]})}
        ids |= dict(zip(("vision_start_token_id", "vision_end_token_id"), rest, strict=True))
        prepared: dict[str, Any] = {"image_processor_type": "Qwen2VLImageProcessor", "merge_size": 2}
        side = 16 if family == "qwen3_vl" else 14
        prepared |= {"patch_size": side, "size": {"shortest_edge": 4 * side**2, "longest_edge": 64 * side**2}}
    elif family == "internvl":
        vision = {**_WIDTH, "image_size": [SIDE, SIDE], "patch_size": [_PATCH, _PATCH]}
        processor = own = {"image_seq_length": 4}
        prepared = {"image_processor_type": "GotOcr2ImageProcessorFast", "size": square}
    else:
        vision = {"model_type": "siglip_vision_model", **_WIDTH, "image_size": SIDE, "patch_size": _PATCH}
        vision |= {"vision_use_head": False}
        own = {"image_grid_pinpoints": grid, "vision_feature_select_strategy": "full", "vision_feature_layer": -1}
        processor = {"num_image_tokens": 16, "vision_feature_select_strategy": "full"}
        prepared = {
            "image_processor_type": "LlavaOnevisionImageProcessor",
            "image_grid_pinpoints": grid,
            "size": square,
        }
    config = transformers.AutoConfig.for_model(family, text_config=text, vision_config=vision, **ids, **own)
    transformers.AutoModelForImageTextToText.from_config(config).save_pretrained(folder)
    words.save_pretrained(folder)
    framed = f"{marks[1]}{marks[0]}{marks[2]}" if marks == QWEN else marks[0]
    (folder / "chat_template.jinja").write_text(words.chat_template.replace(marks[0], framed))
    (folder / "preprocessor_config.json").write_text(json.dumps(prepared))
    (folder / "processor_config.json").write_text(json.dumps(processor))
    return folder
