from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.images.making import make_images
from fairspace.submissions.running.images.models import DiffusersImages, open_image_model
from tests.builders.models import tiny
from tests.submissions.running.images.painter import plan
from tests.submissions.running.images.test_making import shards
from tests.submissions.running.images.test_pipelines import build

# diffusers' Euler schedulers make numpy arrays of tensors in the way of numpy 1.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy:DeprecationWarning")


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.sdxl(tmp_path_factory.mktemp("models") / "sdxl"))


def opened(folder: str, settings: str = "") -> DiffusersImages:
    model = open_image_model(f"diffusers:{folder}?steps=1&size=16{settings}", device="cpu")
    assert isinstance(model, DiffusersImages)
    return model


def test_a_pipeline_says_what_it_is(sdxl: str) -> None:
    model = opened(sdxl, "&guidance=3.5&batch=4&scheduler=DDIMScheduler")
    assert (model.name, model.engine, model.batch, model.concurrency) == ("sdxl", "diffusers", 4, 1)
    assert model.revision.startswith("sha256 ")
    assert model.engine_version
    assert model.settings() == {
        "steps": 1,
        "guidance": 3.5,
        "true_cfg": None,
        "negative": None,
        "size": "16x16",
        "scheduler": "DDIMScheduler",
        "dtype": "float32",
        "variant": "",
        "compile": False,
        "batch": 4,
        "device": "cpu",
    }


@pytest.mark.parametrize("batch", [1, 3])
def test_the_same_images_are_made_again_to_the_byte(sdxl: str, tmp_path: Path, batch: int) -> None:
    for name in ("first", "second"):
        report = make_images(plan(7), opened(sdxl, f"&batch={batch}"), tmp_path / name, seed=1)
        assert (report.fates["answered"], report.pixels) == (7, "16x16")
    assert shards(tmp_path / "first") == shards(tmp_path / "second")


def test_a_pipeline_that_breaks_has_failed_at_these_images(sdxl: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(sdxl, "&batch=2")

    def break_down(prompts: Any) -> Any:
        raise MemoryError("out of memory")

    monkeypatch.setattr(model._generator, "generate", break_down)
    made = model.make([ImagePrompt("a nurse", 1), ImagePrompt("a chef", 2)])
    assert [(one.fate, one.reason) for one in made] == [("failed", "MemoryError: out of memory")] * 2


def test_a_pipeline_that_cannot_be_loaded_ends_the_run(sdxl: str) -> None:
    with pytest.raises(RunError, match=r"MODEL_UNKNOWN.*scheduler 'Nobody'"):
        opened(sdxl, "&scheduler=Nobody").make([ImagePrompt("a nurse", 1)])


@pytest.mark.parametrize("threshold", [-2.0, 2.0])
def test_what_a_safety_checker_blackens_is_refused(tmp_path: Path, threshold: float) -> None:
    from diffusers import DDIMScheduler
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
    from transformers import CLIPConfig, CLIPImageProcessorPil

    width = {"hidden_size": 32, "intermediate_size": 37, "num_attention_heads": 4, "num_hidden_layers": 1}
    vision = {**width, "image_size": 32, "patch_size": 8, "projection_dim": 16}
    checker = StableDiffusionSafetyChecker(CLIPConfig(vision_config=vision, projection_dim=16))
    checker.concept_embeds_weights.data.fill_(threshold)
    checker.special_care_embeds_weights.data.fill_(threshold)
    sees = CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    own = {"scheduler": DDIMScheduler(steps_offset=1, clip_sample=False), "feature_extractor": sees}
    build("StableDiffusionPipeline", tmp_path, safety_checker=checker, **own)
    made = opened(str(tmp_path), "&batch=2").make([ImagePrompt("a nurse", 1), ImagePrompt("a chef", 2)])
    if threshold < 0:
        assert [(one.image, one.fate) for one in made] == [(None, "refused")] * 2
        assert "safety checker" in made[0].reason
    else:
        assert [one.fate for one in made] == ["answered"] * 2
