"""TorchUMM's interface: `InferencePipeline(backbone_name, backbone_cfg).run(InferenceRequest(...))`, a dict.

TorchUMM itself needs a GPU and each backbone's own environment, so these tests have a package of the same interface
around one backbone, a tiny Janus of transformers with random weights: images and answers are a real model's, but of
TorchUMM's own adapters nothing is run here.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from inspect_ai.model import GenerateConfig
from PIL import Image
from transformers import JanusForConditionalGeneration, JanusProcessor

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.submissions.benchmarks.task import Ask
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.asking.models import ModelSettings, found_revision, local_facts, open_model
from fairspace.submissions.running.images.making import make_images
from fairspace.submissions.running.images.models import open_image_model
from fairspace.submissions.running.local import torchumm
from tests.submissions.running.local.test_models import shown


@dataclass
class InferenceRequest:
    backbone: str
    task: str
    prompt: str | list[str]
    images: Sequence[str] = ()
    params: dict[str, Any] = field(default_factory=dict)
    output_path: str = ""


class InferencePipeline:
    seen: list[dict[str, Any]] = []  # noqa: RUF012 - of all

    def __init__(self, backbone_name: str, backbone_cfg: dict[str, Any]) -> None:
        self.name, where = backbone_name, backbone_cfg["model_path"]
        self.model: Any = JanusForConditionalGeneration.from_pretrained(where)
        self.processor: Any = JanusProcessor.from_pretrained(where, backend="pil")

    def run(self, request: InferenceRequest) -> dict[str, Any]:
        self.seen.append({"pipeline": self, **request.params})
        if request.prompt == "fail":
            return {"error": "return code 1", "stderr": "out of memory"}
        if isinstance(request.prompt, list):
            where = Path(request.params["output_dir"])
            alone = [
                replace(request, prompt=prompt, output_path=str(where / f"{n}.png"))
                for n, prompt in enumerate(request.prompt)
            ]
            return {"images": [self.run(each)["images"][0] for each in alone]}
        if request.task == "generation":
            if self.name == "ovis_u1":  # as its adapter: a seed of the request, else the same one
                torch.manual_seed(request.params.get("seed", 42))
            inputs = self.processor(text=[request.prompt], return_tensors="pt", generation_mode="image")
            tokens = self.model.generate(**inputs, generation_mode="image", do_sample=True, guidance_scale=1.01)
            pixels = self.model.decode_image_tokens(tokens)[0].detach().tanh() * 127 + 128
            image = Image.fromarray(pixels.byte().numpy())
            image.save(request.output_path)
            return {"images": [request.output_path]} if self.name == "blip3o" else {"image": image}
        pictures = [Image.open(path).convert("RGB") for path in request.images]
        inputs = self.processor(text=[f"<image>{request.prompt}"], images=pictures, return_tensors="pt")
        tokens = self.model.generate(**inputs, generation_mode="text", **request.params)
        return {"text": self.processor.decode(tokens[0], skip_special_tokens=True)}


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, janus: Path) -> Path:
    for name, kind in (("pipeline", InferencePipeline), ("multimodal_inputs", InferenceRequest)):
        module = ModuleType(f"umm.inference.{name}")
        setattr(module, kind.__name__, kind)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    torchumm._opened.cache_clear()
    return janus


@pytest.mark.parametrize("backbone", ["janus_pro", "ovis_u1"])
def test_an_image_follows_from_prompt_and_seed(
    backbone: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_image_model(f"torchumm:{backbone}?cfg=model_path:{folder}")
    made = model.make(
        [ImagePrompt("a nurse", 1), ImagePrompt("a nurse", 2), ImagePrompt("a nurse", 1), ImagePrompt("fail", 1)]
    )
    assert [each.fate for each in made] == ["answered"] * 3 + ["failed"]
    assert made[0].image == made[2].image != made[1].image
    assert "out of memory" in made[3].reason
    own = {"params.parallel_size": 1, "seeded": "torch"} if backbone == "janus_pro" else {"seeded": "seed"}
    assert model.settings() == {"cfg.model_path": "janus", **own}
    assert (model.name, model.engine, model.revision[:7]) == (backbone, "torchumm", "sha256 ")
    monkeypatch.setitem(torchumm.BACKBONES, "ovis_u1", torchumm.Backbone())
    if backbone == "ovis_u1":
        plan = [Ask("generation_neutral", "neutral/nurse", sample, "x") for sample in range(2)]
        with pytest.raises(RunError, match=r"DUPLICATE_IMAGE.*sample 1 of neutral/nurse.*seed=FIELD"):
            make_images(plan, open_image_model(f"torchumm:ovis_u1?cfg=model_path:{folder}"), tmp_path / "out", seed=1)


def test_a_backbone_that_loads_its_model_for_each_request_gets_a_list(folder: Path) -> None:
    model = open_image_model(f"torchumm:blip3o?cfg=model_path:{folder},blip3o_root:{folder.parent}")
    made = model.make([ImagePrompt("a nurse", 1), ImagePrompt("a nurse", 2)])
    assert [each.fate for each in made] == ["answered"] * 2
    assert made[0].image != made[1].image
    assert model.make([ImagePrompt("fail", 1), ImagePrompt("x", 2)])[1].fate == "failed"


def test_answers_are_inspects_and_share_the_pipeline(folder: Path) -> None:
    settings = ModelSettings("torchumm/janus_pro", arguments={"cfg": {"model_path": str(folder)}})
    model, config = open_model(settings), GenerateConfig(temperature=0, max_tokens=3, seed=5)
    said = [asyncio.run(model.generate(shown(colour), config=config)).completion for colour in ("red", "red", "blue")]
    assert said[0] == said[1]
    assert all(said)
    pipeline = InferencePipeline.seen[-1].pop("pipeline")
    assert InferencePipeline.seen[-1] == {"max_new_tokens": 3, "do_sample": False}
    assert local_facts(model)["torchumm.cfg.model_path"] == "janus"
    assert found_revision(settings).startswith("sha256 ")
    with pytest.raises(RunError, match=r"temperature 0\.7.*few backbones"):
        asyncio.run(model.generate("Who?", config=GenerateConfig(temperature=0.7)))
    images = open_image_model(f"torchumm:janus_pro?cfg={json.dumps(settings.arguments['cfg'])}")
    assert images.make([ImagePrompt("a nurse", 1)])[0].fate == "answered"
    assert InferencePipeline.seen[-1]["pipeline"] is pipeline


def test_without_torchumm_it_says_where_it_belongs() -> None:
    torchumm._opened.cache_clear()
    with pytest.raises(RunError, match=r"MODEL_UNKNOWN at torchumm:bagel.*No module named 'umm'.*PYTHONPATH"):
        open_model(ModelSettings("torchumm/bagel"))
