"""The recipes of BLIP3-o and Harmon on tiny modules under the names that the models' own code gives them.

Neither can be installed here: language models, vision tower and UNet are real with random weights, and joined here.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from fairspace.metrics.representation_similarity_bias.formula import representation_biases
from fairspace.submissions.probing.extraction import Extractor, OpenedModel, named
from fairspace.submissions.probing.measuring import probe
from fairspace.submissions.probing.recipe import read_recipe
from fairspace.submissions.probing.stimuli import make_stimuli
from fairspace.submissions.probing.tables import csv_of
from tests.submissions.probing import tiny_models
from tests.submissions.running.local.tiny_models import tokenizer


class Encoder(nn.Module):
    def __init__(self, whole: Any) -> None:
        super().__init__()
        self.model, self.visual = whole.model.language_model, whole.model.visual
        self.image = whole.config.image_token_id
        self.model.latent_queries, self.model.dit = nn.Parameter(torch.randn(1, 4, 32)), nn.Linear(32, 8)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, pixel_values: Tensor, image_grid_thw: Tensor) -> Any:
        embeds = self.model.embed_tokens(input_ids)
        embeds[input_ids == self.image] = self.visual(pixel_values, grid_thw=image_grid_thw).pooler_output
        return self.model(inputs_embeds=embeds, attention_mask=attention_mask)


class Pipe:
    def __init__(self, folder: Path) -> None:
        from diffusers import UNet2DConditionModel
        from transformers import Qwen2_5_VLForConditionalGeneration as Qwen

        blocks = {"down_block_types": ("CrossAttnDownBlock2D",), "up_block_types": ("CrossAttnUpBlock2D",)}
        shape = {"layers_per_block": 1, "norm_num_groups": 4, "attention_head_dim": 4, "cross_attention_dim": 8}
        unet: Any = UNet2DConditionModel(block_out_channels=(8,), **blocks, **shape)
        encoder: Any = Encoder(Qwen.from_pretrained(tiny_models.qwen_image(folder) / "text_encoder"))
        self.tokenizer, self.components = tokenizer(), {"multimodal_encoder": encoder, "unet": unet}

    def __call__(self, inputs: list[str], num_inference_steps: int, guidance_scale: float) -> None:
        assert (len(inputs), num_inference_steps, guidance_scale) == (1, 1, 0)
        model, unet = self.components["multimodal_encoder"].model, self.components["unet"]
        embeds = model.embed_tokens(self.tokenizer(inputs[0], return_tensors="pt").input_ids)
        states = model(inputs_embeds=torch.cat([embeds, model.latent_queries], 1)).last_hidden_state
        unet(torch.zeros(1, 4, 8, 8), 0, encoder_hidden_states=model.dit(states[:, -4:]))


def blip3o(folder: Path) -> OpenedModel:
    from transformers import Qwen2VLImageProcessorPil

    pipe = Pipe(folder)

    def look(images: Any, return_tensors: str) -> Any:
        seen = Qwen2VLImageProcessorPil()(images=images, return_tensors=return_tensors)
        tokens = "<image>" * (int(seen["image_grid_thw"].prod()) // 4)
        return {**seen, **pipe.tokenizer(f"{tokens}describe", return_tensors=return_tensors)}

    return OpenedModel(pipe, named(pipe), pipe.tokenizer, look)


def by_blip3o_probe(opened: OpenedModel, text: str, image: Any) -> dict[str, Tensor]:
    taken: dict[str, Tensor] = {}
    encoder, unet = opened.model.components.values()
    encoder.model.layers[0].register_forward_pre_hook(lambda _, args: taken.update(vision=args[0].mean(1)))
    hooked = encoder.model.layers[-1].register_forward_hook(lambda *given: taken.update(before=given[2].mean(1)))
    take: Any = lambda *given: taken.update(after=given[2]["encoder_hidden_states"].mean(1))  # noqa: E731
    unet.register_forward_pre_hook(take, with_kwargs=True)
    opened.model([text], num_inference_steps=1, guidance_scale=0)
    hooked.remove()
    encoder(**opened.image_processor([image], return_tensors="pt"))
    return taken


class Harmon(nn.Module):
    def __init__(self, words: Any) -> None:
        from transformers import Qwen2Config, Qwen2ForCausalLM

        super().__init__()
        config = Qwen2Config(vocab_size=len(words), num_key_value_heads=4, **tiny_models._WIDTH)
        self.llm: Any = Qwen2ForCausalLM(config)
        self.mar = nn.ModuleDict({"z_proj": nn.Linear(3, 16), "decoder_embed": nn.Linear(16, 3)})
        self.proj_in, self.proj_out = nn.Linear(16, 32), nn.Linear(32, 16)

    def extract_visual_feature(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x_enc = self.mar["z_proj"](x.flatten(1, 2))
        return x_enc, self.proj_in(x_enc)

    def states(self, input_ids: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        x_enc, z_enc = self.extract_visual_feature(x)
        embeds = torch.cat([self.llm.get_input_embeddings()(input_ids), z_enc], 1)
        return x_enc, self.llm.model(inputs_embeds=embeds).last_hidden_state[:, -4:]

    def sample(self, input_ids: Tensor, attention_mask: Tensor) -> None:
        x = torch.zeros(len(input_ids), 2, 2, 3)
        for _ in range(3):
            x_enc, z_llm = self.states(input_ids, x)
            x = self.mar["decoder_embed"](x_enc + self.proj_out(z_llm)).unflatten(1, (2, 2))


def harmon(folder: Path) -> OpenedModel:
    words, look = tokenizer(), lambda images, return_tensors: {"x": torch.tensor(np.stack(images)) / 255}
    model = Harmon(words)
    return OpenedModel(model, named(model), words, look)


def by_harmon_probe(opened: OpenedModel, text: str, image: Any) -> dict[str, Tensor]:
    model, ids = opened.model, opened.tokenizer(text, return_tensors="pt").input_ids
    x_enc, z_llm = model.states(ids, torch.zeros(1, 2, 2, 3))
    _, seen = model.extract_visual_feature(**opened.image_processor([image], return_tensors="pt"))
    return {"vision": seen.mean(1), "before": z_llm.mean(1), "after": (x_enc + model.proj_out(z_llm)).mean(1)}


@pytest.mark.parametrize(("kind", "by_hand"), [(blip3o, by_blip3o_probe), (harmon, by_harmon_probe)])
def test_the_vectors_are_those_of_the_authors_program(kind: Any, by_hand: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    for name in ("anchor/male", "anchor/female", "soldier/male", "soldier/female"):
        (tmp_path / name).mkdir(parents=True)
        Image.fromarray(random.integers(0, 255, (48, 40, 3), np.uint8)).save(tmp_path / name / "1.png")
    opened, recipe = kind(tmp_path / "model"), read_recipe(kind.__name__)
    probes = probe(opened, recipe, make_stimuli("soldier", tmp_path))["probes"]
    assert [name for name, each in probes.items() if each["state"] != "value"] == ["stepwise_bias"]
    table = csv_of("representation_similarity_bias", probes["representation_similarity_bias"])
    assert "soldier,Harmon (printed),,,,0.0020,-0.0005,,," in table
    extractor, file, call = Extractor(opened, recipe), tmp_path / "soldier" / "male" / "1.png", recipe.generate
    found = {**extractor.prompts(["a soldier"], ("before", "after")), "vision": extractor.images([file])}
    assert call is not None
    with torch.no_grad(), Image.open(file) as image:
        expected = by_hand(opened, f"{call.prefix}a soldier{call.suffix}", image)
    for stage, vector in expected.items():
        assert found[stage][0].vectors[0] == pytest.approx(vector[0].double().numpy(), rel=1e-5, abs=1e-5), stage


def test_representation_bias_is_the_pull_to_the_own_anchor() -> None:
    east, north, between = np.array([[1.0, 0]]), np.array([[0, 1.0]]), np.array([[0.6, 0.8]])
    images = {("stereotypical", "male"): between, ("counter_stereotypical", "female"): north}
    assert representation_biases(images, {"male": east, "female": north}) == {"female": 1, "male": pytest.approx(-0.2)}
    assert representation_biases(images, {"male": east}) == {"female": None, "male": None}
    assert representation_biases({("stereotypical", "male"): 0 * east}, {"male": east, "female": north})["male"] is None
