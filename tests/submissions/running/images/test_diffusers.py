"""A diffusers pipeline with random weights: settings, safety checkers, and several processes under accelerate."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.engine.tools import Prompt
from fairspace.submissions.benchmarks.asks import Ask
from fairspace.submissions.errors import UsageError
from fairspace.submissions.running.errors import RunError
from fairspace.submissions.running.images.diffusers import DiffusersImages
from fairspace.submissions.running.images.making import make_images, remake
from fairspace.submissions.running.images.models import open_image_model
from fairspace.submissions.running.images.process import Process, this_process
from fairspace.submissions.running.images.store import write_plan
from tests.builders.models import tiny

# diffusers' Euler schedulers make numpy arrays of tensors in the way of numpy 1.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy:DeprecationWarning")

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.sdxl(tmp_path_factory.mktemp("models") / "sdxl"))


def opened(folder: str, settings: str = "") -> DiffusersImages:
    model = open_image_model(f"diffusers:{folder}?steps=1&size=16{settings}", device="cpu")
    assert isinstance(model, DiffusersImages)
    return model


def asks(count: int) -> list[Ask]:
    return [Ask("generation_neutral", f"neutral/{n // 50}", n % 50, f"person {n // 50}") for n in range(count)]


def shards(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "shards").iterdir()}


def test_a_pipeline_says_what_it_is(sdxl: str) -> None:
    model = opened(sdxl, "&guidance=3.5&batch=4&scheduler=DDIMScheduler")
    assert (model.name, model.engine, model.batch, model.concurrency) == ("sdxl", "diffusers", 4, 1)
    assert model.revision.startswith("sha256 ")
    assert model.engine_version
    assert model.settings() == {
        "steps": 1,
        "guidance": 3.5,
        "size": 16,
        "scheduler": "DDIMScheduler",
        "dtype": "float32",
        "variant": "",
        "compile": False,
        "batch": 4,
        "device": "cpu",
    }


@pytest.mark.parametrize("batch", [1, 3])
def test_any_image_is_made_again_alone_to_the_byte(sdxl: str, tmp_path: Path, batch: int) -> None:
    report = make_images(asks(7), opened(sdxl, f"&batch={batch}"), tmp_path, seed=1)
    assert report is not None
    assert report.answered == 7
    for place in (0, 4, 6):
        assert remake(tmp_path, *asks(7)[place].key, device="cpu").same


def test_a_pipeline_that_breaks_has_failed_at_these_images(sdxl: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = opened(sdxl, "&batch=2")

    def break_down(prompts: Any) -> Any:
        raise MemoryError("out of memory")

    monkeypatch.setattr(model._generator, "generate", break_down)
    made = model.make([Prompt("a nurse", 1), Prompt("a chef", 2)])
    assert [(one.fate, one.reason) for one in made] == [("failed", "MemoryError: out of memory")] * 2


def test_a_pipeline_that_cannot_be_loaded_ends_the_run(sdxl: str) -> None:
    with pytest.raises(RunError, match=r"MODEL_UNKNOWN.*scheduler 'Nobody'"):
        opened(sdxl, "&scheduler=Nobody").make([Prompt("a nurse", 1)])


@pytest.mark.parametrize("threshold", [-2.0, 2.0])
def test_what_a_safety_checker_blackens_is_refused(tmp_path: Path, threshold: float) -> None:
    folder = str(_checked_pipeline(tmp_path / "sd", threshold))
    made = opened(folder, "&batch=2").make([Prompt("a nurse", 1), Prompt("a chef", 2)])
    if threshold < 0:
        assert [(one.image, one.fate) for one in made] == [(None, "refused")] * 2
        assert "safety checker" in made[0].reason
    else:
        assert [one.fate for one in made] == ["answered"] * 2


def _checked_pipeline(folder: Path, threshold: float) -> Path:
    """Stable Diffusion whose checker withholds what is more similar to a concept than the threshold."""
    tiny.quiet()
    from diffusers import DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPTextModel, CLIPVisionConfig

    words = tiny.tokenizer()
    unet = UNet2DConditionModel(
        block_out_channels=(8, 16),
        layers_per_block=1,
        sample_size=16,
        in_channels=4,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=4,
        cross_attention_dim=32,
        norm_num_groups=4,
    )
    vision = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=37,
        num_attention_heads=4,
        num_hidden_layers=1,
        image_size=32,
        patch_size=8,
        projection_dim=16,
    )
    checker = StableDiffusionSafetyChecker(CLIPConfig(vision_config=vision.to_dict(), projection_dim=16))
    checker.concept_embeds_weights.data.fill_(threshold)
    checker.special_care_embeds_weights.data.fill_(threshold)
    size = {"height": 32, "width": 32}
    StableDiffusionPipeline(
        vae=tiny._vae(),
        text_encoder=CLIPTextModel(tiny.text_config(words)),
        tokenizer=words,
        unet=unet,
        scheduler=DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=checker,
        feature_extractor=CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=size),
    ).save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_two_processes_of_accelerate_make_the_same_bytes_as_one(sdxl: str, tmp_path: Path) -> None:
    write_plan(tmp_path / "plan.parquet", asks(70))
    named = f"diffusers:{sdxl}?steps=1&size=16&batch=8"
    words = ["-m", "tests.submissions.running.images.painter", tmp_path / "plan.parquet", named]
    # One process of several does not take the CPU unless it is told, and accelerate starts one alone with --cpu.
    launch = ["--multi_gpu", "--num_processes", 2, "--num_machines", 1, "--mixed_precision", "no", "--dynamo_backend"]
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1"}

    make_images(asks(70), opened(sdxl, "&batch=8"), tmp_path / "one", seed=0)
    command = [sys.executable, "-m", "accelerate.commands.launch", *launch, "no", "--main_process_port", 0, *words]
    two = subprocess.run(
        [*map(str, command), str(tmp_path / "two"), "0"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert two.returncode == 0, two.stderr
    assert two.stdout.count("2 shards") == 1
    assert shards(tmp_path / "one") == shards(tmp_path / "two")


@pytest.fixture
def fresh() -> Iterator[None]:
    this_process.cache_clear()
    yield
    this_process.cache_clear()


def test_processes_that_do_not_know_of_each_other_are_not_run(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    assert this_process() == Process(wait=this_process().wait)
    this_process.cache_clear()

    class State:
        num_processes = 1

    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr("accelerate.PartialState", lambda **_: State())
    with pytest.raises(UsageError, match="WORLD_SIZE says 2"):
        this_process()
