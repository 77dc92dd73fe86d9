"""A tiny InternVL in the real layout, trained to answer by an image's colour."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from fairspace.ares.asking_ares import question

COLOURS = {
    "young female": (230, 30, 30),
    "middle-aged female": (30, 200, 30),
    "older female": (40, 40, 230),
    "young male": (230, 220, 40),
    "middle-aged male": (220, 40, 220),
    "older male": (30, 210, 220),
}
PROSE = (128, 128, 128)
"""Colour that it answers with a sentence, whatever the question."""
SENTENCE = "Answer value: young"
SIZE = 28
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<IMG_CONTEXT>\n{% else %}{{ part['text'] }}{% endif %}{% endfor %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<img>", "</img>", "<IMG_CONTEXT>")
_PIECE = r"\s|\w+|[^\w\s]"


def coloured(colour: tuple[int, int, int], size: int = 40) -> Image.Image:
    return Image.new("RGB", (size, size), colour)


def answered(label: str) -> str:
    age, gender = label.split(" ")
    return json.dumps({"gender": gender, "age": age})


def tokenizer(texts: Sequence[str]) -> Any:
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = dict.fromkeys(["[UNK]", *_SPECIAL, "user", "assistant", "\n"])
    for text in texts:
        words.update(dict.fromkeys(re.findall(_PIECE, text)))
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECE), "isolated")
    made.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        unk_token="[UNK]",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(_SPECIAL),
        extra_special_tokens={
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
        },
        chat_template=TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def tiny_vlm(folder: Path, task: Mapping[str, Any], steps: int = 110) -> Path:
    """A folder that `LocalVlm` opens."""
    from transformers import GotOcr2ImageProcessorPil, InternVLConfig, InternVLForConditionalGeneration

    asked = [question(task), question(task, again=True)]
    answers = {colour: answered(label) for label, colour in COLOURS.items()} | {PROSE: SENTENCE}
    words = tokenizer([*asked, *answers.values()])
    vision: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    # Larger first weights than usual, so that a hundred steps are enough.
    vision |= {"layer_scale_init_value": 1.0, "initializer_range": 0.2}
    text: dict[str, Any] = {
        "initializer_range": 0.2,
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    config = InternVLConfig(
        vision_config={**vision, "image_size": SIZE, "patch_size": 7},
        text_config={
            "model_type": "qwen2",
            **text,
            "num_key_value_heads": 2,
            "vocab_size": len(words),
            "eos_token_id": words.eos_token_id,
            "pad_token_id": words.pad_token_id,
        },
        image_token_id=words.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
        initializer_range=0.2,
    )
    processor = GotOcr2ImageProcessorPil(
        size={"height": SIZE, "width": SIZE}, image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225]
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = InternVLForConditionalGeneration(config)
        pixels = processor(images=[coloured(colour) for colour in answers], return_tensors="pt")["pixel_values"]
        optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
        for step in range(steps):
            # First without the long questions: there it finds out quickly that the image decides.
            ids, labels = _batch(words, "" if step < 0.35 * steps else asked[step % 2], list(answers.values()))
            loss = model(input_ids=ids, pixel_values=pixels, labels=labels).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _batch(words: Any, asked: str, answers: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
    image = f"<img>{'<IMG_CONTEXT>' * 4}</img>\n"
    chat = f"<|im_start|>user\n{image}{asked}<|im_end|>\n<|im_start|>assistant\n"
    prompt = words(chat, add_special_tokens=False)["input_ids"]
    said = [[*words(answer, add_special_tokens=False)["input_ids"], words.eos_token_id] for answer in answers]
    longest = max(map(len, said))
    filled = [[*each, *[words.pad_token_id] * (longest - len(each))] for each in said]
    wanted = [[*each, *[-100] * (longest - len(each))] for each in said]
    ids = torch.tensor([[*prompt, *each] for each in filled])
    return ids, torch.tensor([[*[-100] * len(prompt), *each] for each in wanted])
