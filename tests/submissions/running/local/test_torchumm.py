"""TorchUMM's interface: `InferencePipeline(backbone_name, backbone_cfg).run(InferenceRequest(...))`, a dict.

TorchUMM itself needs a GPU and each backbone's own environment, so these tests have a package of the same interface
around one backbone, a tiny Janus of transformers with random weights: images and answers are a real model's, but of
TorchUMM's own adapters nothing is run here.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig
from PIL import Image

from fairspace.builders.engine.tools import Prompt
from fairspace.submissions.running.asking.models import ModelSettings, found_revision, local_facts, open_model
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.models import open_image_model
from fairspace.submissions.running.local import torchumm
from tests.submissions.probing.tiny_models import janus
from tests.submissions.running.local.test_models import shown


@dataclass
class InferenceRequest:
    backbone: str
    task: str
    prompt: str | None = None
    images: list[str] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=dict)
    output_path: str | None = None


class InferencePipeline:
    opened = 0
    seen: list[dict[str, Any]] = []  # noqa: RUF012 - of all

    def __init__(self, backbone_name: str, backbone_cfg: dict[str, Any]) -> None:
        from transformers import JanusForConditionalGeneration, JanusProcessor

        if backbone_name not in ("janus_pro", "ovis_u1", "blip3o"):
            raise KeyError(f"Unknown backbone `{backbone_name}`")
        self.name, where = backbone_name, backbone_cfg["model_path"]
        self.model: Any = JanusForConditionalGeneration.from_pretrained(where)
        self.processor: Any = JanusProcessor.from_pretrained(where, backend="pil")
        InferencePipeline.opened += 1

    def run(self, request: InferenceRequest) -> dict[str, Any]:
        import torch

        self.seen.append(request.params)
        if request.task == "generation":
            if self.name == "ovis_u1":  # as its adapter: a seed of the request, else the same one
                torch.manual_seed(request.params.get("seed", 42))
            if request.prompt == "fail":
                return {"error": "return code 1", "stderr": "out of memory"}
            inputs = self.processor(text=[request.prompt], return_tensors="pt", generation_mode="image")
            tokens = self.model.generate(**inputs, generation_mode="image", do_sample=True, guidance_scale=1.01)
            pixels = self.model.decode_image_tokens(tokens)[0].detach().tanh() * 127 + 128
            image = Image.fromarray(pixels.byte().numpy())
            if self.name != "blip3o":
                return {"image": image}
            image.save(str(request.output_path))
            return {"images": [request.output_path]}
        pictures = [Image.open(path).convert("RGB") for path in request.images]
        text = f"{'<image>' * len(pictures)}{request.prompt}"
        inputs = self.processor(text=[text], images=pictures or None, return_tensors="pt", generation_mode="text")
        bounded = {"max_new_tokens": request.params["max_new_tokens"], "do_sample": request.params["do_sample"]}
        tokens = self.model.generate(**inputs, generation_mode="text", **bounded)
        return {"text": self.processor.decode(tokens[0], skip_special_tokens=True)}


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kind in (("pipeline", InferencePipeline), ("multimodal_inputs", InferenceRequest)):
        module = ModuleType(f"umm.inference.{name}")
        setattr(module, kind.__name__, kind)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    torchumm._opened.cache_clear()


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    install(monkeypatch)
    return janus(tmp_path / "janus")


@pytest.mark.parametrize("backbone", ["janus_pro", "ovis_u1", "blip3o"])
def test_an_image_follows_from_prompt_and_seed(backbone: str, folder: Path) -> None:
    model = open_image_model(f"torchumm:{backbone}?cfg=model_path:{folder}&params=parallel_size:1")
    made = model.make([Prompt("a nurse", 1), Prompt("a nurse", 2), Prompt("a nurse", 1), Prompt("fail", 1)])
    assert [each.fate for each in made] == ["answered"] * 3 + ["failed"]
    assert made[0].image == made[2].image != made[1].image
    assert "out of memory" in made[3].reason
    told = {"cfg.model_path": "janus", "params.parallel_size": 1}
    assert model.settings() == {**told, "seeded": "seed" if backbone == "ovis_u1" else "torch"}
    assert (model.name, model.engine, model.revision[:7]) == (backbone, "torchumm", "sha256 ")


def test_a_backbone_that_ignores_the_seed_ends_the_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torchumm, "SEEDS", {})
    model = open_image_model(f"torchumm:ovis_u1?cfg=model_path:{folder}")
    with pytest.raises(RunError, match=r"MODEL_OUTPUT.*same image for another seed.*seed=FIELD"):
        model.make([Prompt("a nurse", 1), Prompt("a nurse", 2)])


def test_answers_are_inspects_and_share_the_pipeline(folder: Path) -> None:
    cfg = {"model_path": str(folder)}
    settings = ModelSettings("torchumm/janus_pro", arguments={"cfg": cfg})
    before = InferencePipeline.opened
    model = open_model(settings)
    config = GenerateConfig(temperature=0, max_tokens=3, seed=5)
    said = [asyncio.run(model.generate(shown(colour), config=config)).completion for colour in ("red", "red", "blue")]
    assert said[0] == said[1]
    assert all(said)
    assert InferencePipeline.seen[-1] == {"max_new_tokens": 3, "do_sample": False}
    assert local_facts(model)["torchumm.cfg.model_path"] == "janus"
    assert found_revision(settings).startswith("sha256 ")
    with pytest.raises(RunError, match=r"temperature 0\.7.*few backbones"):
        asyncio.run(model.generate("Who?", config=GenerateConfig(temperature=0.7)))
    images = open_image_model(f"torchumm:janus_pro?cfg={json.dumps(cfg)}")
    assert images.make([Prompt("a nurse", 1)])[0].fate == "answered"
    assert InferencePipeline.opened == before + 1
    with pytest.raises(RunError, match=r"MODEL_UNKNOWN at torchumm:bagle.*Unknown backbone"):
        open_model(ModelSettings("torchumm/bagle"))


def test_without_torchumm_it_says_where_it_belongs() -> None:
    torchumm._opened.cache_clear()
    with pytest.raises(RunError, match=r"MODEL_UNKNOWN.*No module named 'umm'.*PYTHONPATH"):
        open_image_model("torchumm:bagel").make([Prompt("a nurse", 1)])
