"""Vision-language models without torchvision: tiny random ones of the real architectures."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.submissions.probing import tiny_models as unified
from tests.submissions.running.local import tiny_models
from tests.submissions.running.local.test_models import local, said, shown, texts

# A picture of 48 x 40. Qwen: sides to multiples of two patches, 2 x 1 cells. InternVL: 4 x 3 tiles and the whole, each
# of 4 tokens. LLaVA-OneVision: the whole, of 16, and 1 x 2 tiles without their padding, 4 rows of 4 and an end.
SEEN = {"qwen2_5_vl": 2, "qwen3_vl": 2, "internvl": 13 * 4, "llava_onevision": 16 + 4 * 5}


@pytest.mark.parametrize("family", SEEN)
def test_a_picture_is_expanded_and_seen_without_torchvision(family: str, tmp_path: Path) -> None:
    assert find_spec("torchvision") is None
    model = local(str(tiny_models.seeing(tmp_path, family)), batch=2)
    behind: Any = model.api.chat  # type: ignore[attr-defined]
    picture = {"type": "image", "image": Image.new("RGB", (48, 40))}
    prompt = behind.prepare([{"role": "user", "content": [picture, {"type": "text", "text": "Who?"}]}])
    first, *rest = tiny_models.MARKS[family]
    begin, end = rest[:2] if len(rest) > 2 else ("", "")
    turn = f"<|im_start|>user\n{begin}{first * SEEN[family]}{end}\nWho?<|im_end|>\n<|im_start|>assistant\n"
    assert behind.tokenizer.decode(prompt.tensors["input_ids"][0]) == turn
    config = {"temperature": 0, "max_tokens": 12}
    red, lime, again, other = texts(
        said(model, [shown("red"), shown("lime"), shown("red"), shown("red", "Who? " * 9)], **config)
    )
    assert red == again
    assert len({red, lime, other}) == 3
    assert [red] == texts(said(model, [shown("red")], **config))


@pytest.mark.parametrize("kind", ["janus", "emu3"])
def test_a_unified_model_answers_at_its_temperature(kind: str, tmp_path: Path) -> None:
    model = local(str(getattr(unified, kind)(tmp_path)), batch=4)
    drawn, greedy = (
        texts(said(model, [shown("red")] * 4, temperature=temperature, max_tokens=8, seed=3))
        for temperature in (1.5, 0)
    )
    assert (len(set(drawn)), len(set(greedy))) == (4, 1)
    assert texts(said(model, [shown("red"), shown("lime")], temperature=0, max_tokens=8))[1] != greedy[0]
