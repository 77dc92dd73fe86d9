"""A local model behind `fairspace run`, beside transformers' bare `generate`, same batch and number format.

A Llama of random weights answers the same prompts with equally many tokens, through our provider (batches, each token
followed, loops detected) and in a plain loop over `generate`. The two take turns; the figure is tokens per CPU second.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.record import keep
from tests.benchmarks.timing import line

MOST = 1.2
"""Promised seconds as a multiple of bare `generate`."""
BATCH, TOKENS, REQUESTS, TURNS = 8, 48, 32, 2
_SHAPE = {"hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 10, "num_attention_heads": 9}


def folder(where: Path) -> Path:
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests.submissions.running.local.tiny_models import tokenizer

    words = tokenizer()
    tokens = {"vocab_size": len(words), "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    model = LlamaForCausalLM(LlamaConfig(**_SHAPE, **tokens))
    model.generation_config.suppress_tokens = [words.eos_token_id]
    model.save_pretrained(where)
    words.save_pretrained(where)
    return where


def prompts(turn: int) -> list[str]:
    """Questions of equal length, new ones in each turn: known answers are not computed again."""
    numbers = range(turn * REQUESTS, (turn + 1) * REQUESTS)
    return [f"Which of these persons is most likely the nurse number {number:03}?" for number in numbers]


def ours(model: Any, turn: int) -> int:
    from inspect_ai.model import GenerateConfig

    async def ask() -> int:
        config = GenerateConfig(max_tokens=TOKENS, temperature=0)
        answers = await asyncio.gather(*(model.generate(prompt, config=config) for prompt in prompts(turn)))
        return sum(answer.usage.output_tokens for answer in answers)

    return asyncio.run(ask())


def bare(model: Any, turn: int) -> int:
    import torch

    behind = model.api.chat
    words, every = behind.tokenizer, prompts(turn)
    words.padding_side = "left"
    count = 0
    for start in range(0, REQUESTS, BATCH):
        texts = [
            words.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False)
            for text in every[start : start + BATCH]
        ]
        given = words(texts, return_tensors="pt", padding=True, add_special_tokens=False)
        with torch.inference_mode():
            out = behind.model.generate(
                input_ids=given["input_ids"],
                attention_mask=given["attention_mask"],
                max_new_tokens=TOKENS,
                do_sample=False,
            )
        count += out[:, given["input_ids"].shape[1] :].numel()
    return count


def main() -> None:
    from fairspace.submissions.running.asking.models import ModelSettings, open_model

    with tempfile.TemporaryDirectory() as scratch:
        name = f"local/{folder(Path(scratch) / 'model')}"
        slow = 0.0
        for dtype in ("float32", "bfloat16"):
            settings = {"device": "cpu", "batch": BATCH, "dtype": dtype}
            model = open_model(ModelSettings(name, arguments=settings))
            spent = dict.fromkeys((bare, ours), 0.0)
            tokens = dict.fromkeys((bare, ours), 0)
            bare(model, 0)  # warm-up
            for turn in range(TURNS):
                for way in (bare, ours):
                    began = time.process_time()
                    tokens[way] += way(model, turn)
                    spent[way] += time.process_time() - began
            each = {way: spent[way] / tokens[way] for way in spent}
            for way, label in ((bare, "bare generate"), (ours, "fairspace run's provider")):
                line(f"{dtype}, batch {BATCH}: {label}", spent[way], f"{1 / each[way]:.0f} tokens/s of the processor")
            ratio = each[ours] / each[bare]
            print(f"{ratio:.2f} of bare generate (<= {MOST})")
            keep(f"{dtype}, {BATCH} requests at once", f"{ratio:.2f} times bare `generate` (promised: {MOST})")
            slow = max(slow, ratio)
    if slow > MOST:
        sys.exit("less than what we promise")


if __name__ == "__main__":
    main()
