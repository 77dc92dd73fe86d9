import json
import shutil
from pathlib import Path

import pytest

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.images.models import open_image_model
from fairspace.submissions.running.images.unified import Guiding, UnifiedImages
from tests.submissions.probing import tiny_models
from tests.submissions.running.local import tiny_models as chats

PROMPTS = [ImagePrompt("a nurse", 1), ImagePrompt("a chef " + "who cooks and cooks " * 3, 2), ImagePrompt("a nurse", 3)]


def opened(folder: Path, settings: str) -> UnifiedImages:
    model = open_image_model(f"transformers:{folder}?{settings}", device="cpu")
    assert isinstance(model, UnifiedImages)
    return model


@pytest.mark.parametrize("kind", ["janus", "emu3"])
def test_an_image_follows_from_prompt_and_seed_alone(kind: str, tmp_path: Path) -> None:
    folder = getattr(tiny_models, kind)(tmp_path / kind)
    model = opened(folder, "guidance=1&batch=2" + "&size=32" * (kind == "emu3"))
    assert (model.name, model.engine, model.revision[:7], model.concurrency) == (kind, "transformers", "sha256 ", 1)
    together = model.make(PROMPTS)
    assert [made.fate for made in together] == ["answered"] * 3
    assert together == [model.make([prompt])[0] for prompt in PROMPTS]
    assert len({made.image for made in together}) == 3


def test_guidance_is_that_of_transformers(janus: Path) -> None:
    import torch
    from transformers import JanusForConditionalGeneration as Janus

    model = Janus.from_pretrained(janus)
    ids = torch.tensor([[model.generation_config.bos_token_id, 9, 17, 30, 4]])
    ways = ({"guidance_scale": 5}, {"guidance_scale": 1, "logits_processor": [Guiding(5.0)]})
    asked = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "generation_mode": "image", "do_sample": False}
    theirs, ours = (model.generate(**asked, **way) for way in ways)
    assert theirs.equal(ours)


def test_settings_are_those_in_force(janus: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(janus, tmp_path / "janus")
    file = folder / "generation_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "guidance_scale": 4}))
    common = {"top_p": 1.0, "dtype": "float32", "device": "cpu"}
    found = opened(folder, "temperature=0.5&top_k=9&batch=3").settings()
    assert found == {"guidance": 4, "temperature": 0.5, "top_k": 9, "batch": 3, **common}
    own = {"guidance": 4, "temperature": 1.0, "top_k": 0, "batch": 1}
    assert opened(folder, "").settings() == own | common


def test_a_model_or_setting_that_is_not_known_is_refused(janus: Path, tmp_path: Path) -> None:
    chat = chats.chat(tmp_path / "chat")
    for named, what in (
        (f"{chat}", "a model of type llama.*one of the types janus, emu3"),
        (f"{janus}?size=512", "size.*settings of janus: guidance"),
        (f"{janus}?batch=0", "batch=0.*1 or more"),
        (f"{janus}?temperature=-1", "temperature=-1.*0 or more"),
        ("./nowhere", "no such folder"),
    ):
        with pytest.raises(RunError, match=f"MODEL_UNKNOWN.*{what}"):
            open_image_model(f"transformers:{named}", device="cpu")
