import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.errors import BuildError
from fairspace.builders.models import diffusion
from tests.builders.models import tiny

# diffusers' Euler schedulers make numpy arrays of tensors in the way of numpy 1.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy:DeprecationWarning")

QUICK = diffusion.PipelineSettings(steps=5, size=32)
PROMPTS = [
    ImagePrompt("a photo of a doctor", 1),
    ImagePrompt("a nurse in a large hospital, at work", 2),
    ImagePrompt("a cook", 3),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for model in (tiny.sdxl, tiny.sdxl_refiner, tiny.sd3, tiny.instruct_pix2pix):
        model(folder / model.__name__)
    return folder


def generator(models: Path, kind: str, settings: diffusion.PipelineSettings = QUICK) -> diffusion.DiffusersGenerator:
    if kind == "sdxl+refiner":
        return diffusion.DiffusersGenerator(
            str(models / "sdxl"), refiner=str(models / "sdxl_refiner"), settings=settings, device="cpu"
        )
    return diffusion.DiffusersGenerator(str(models / kind), settings=settings, device="cpu")


def levels(first: Image, second: Image) -> int:
    return int(np.abs(np.asarray(first, np.int16) - np.asarray(second, np.int16)).max())


KINDS = ("sdxl", "sdxl+refiner", "sd3")


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_alone_decides_an_image(models: Path, kind: str) -> None:
    tool = generator(models, kind)
    together = tool.generate(PROMPTS)
    assert [(image.size, image.mode) for image in together] == [((32, 32), "RGB")] * 3
    for image, prompt in zip(together, PROMPTS, strict=True):
        assert levels(tool.generate([prompt])[0], image) == 0
    other = tool.generate([ImagePrompt(PROMPTS[0].text, 77)])[0]
    assert levels(other, together[0]) > 8


def test_a_pass_that_is_not_full_gives_the_same_bytes(models: Path) -> None:
    tool = generator(models, "sdxl", diffusion.PipelineSettings(steps=5, size=32, batch=3))
    together = tool.generate([*PROMPTS, PROMPTS[1]])
    assert [image.tobytes() for image in together[:3]] == [tool.generate([p])[0].tobytes() for p in PROMPTS]
    assert together[3].tobytes() == together[1].tobytes()


def test_edits_of_a_pass_do_not_depend_on_each_other(models: Path) -> None:
    def editor(batch: int) -> diffusion.InstructPix2PixEditor:
        settings = diffusion.EditSettings(steps=3, size=32, batch=batch)
        return diffusion.InstructPix2PixEditor(str(models / "instruct_pix2pix"), settings=settings, device="cpu")

    sizes = [(64, 64), (64, 32), (64, 64), (64, 64)]
    images = [photo(size, number) for number, size in enumerate(sizes)]
    prompts = [ImagePrompt(f"make it {word}", number) for number, word in enumerate(["old", "red", "dark", "young"])]
    tool = editor(2)
    together = tool.edit(images, prompts)
    assert [image.size for image in together] == sizes
    one_by_one = [tool.edit([image], [prompt])[0] for image, prompt in zip(images, prompts, strict=True)]
    assert [image.tobytes() for image in together] == [image.tobytes() for image in one_by_one]
    alone = editor(1).edit(images, prompts)
    assert max(map(levels, alone, together)) <= 1
    assert tool.name.endswith("32px batch 2")
    assert editor(1).name.endswith("32px")


def test_the_prompt_counts(models: Path) -> None:
    first, second = generator(models, "sdxl").generate([ImagePrompt("a doctor", 1), ImagePrompt("a nurse outside", 1)])
    assert levels(first, second) > 0


def test_the_refiner_ends_the_denoising(models: Path) -> None:
    base, refined = (generator(models, kind).generate(PROMPTS[:1])[0] for kind in ("sdxl", "sdxl+refiner"))
    assert levels(base, refined) > 0
    tool = generator(models, "sdxl+refiner", diffusion.PipelineSettings(steps=40, size=32))
    steps: dict[str, int] = {}
    for name, pipeline in (("base", tool._pipeline), ("refiner", tool._refine)):
        pipeline.unet.register_forward_hook(lambda *_, name=name: steps.__setitem__(name, steps.get(name, 0) + 1))
    tool.generate(PROMPTS[:1])
    assert steps == {"base": 32, "refiner": 8}


def test_builds_take_genres_settings_where_the_pipeline_has_them(models: Path) -> None:
    tool = diffusion.DiffusersGenerator(
        str(models / "sdxl"),
        refiner=str(models / "sdxl_refiner"),
        genres=True,
        settings=diffusion.PipelineSettings(size=32),
        device="cpu",
    )
    used = tool.in_force()
    assert (used["steps"], used["guidance"], used["size"], used["handover"]) == (40, 7.0, "32x32", 0.8)
    for pipeline in (tool._pipeline, tool._refine):
        assert type(pipeline.scheduler).__name__ == "EulerAncestralDiscreteScheduler"
    other = diffusion.DiffusersGenerator(str(models / "sd3"), genres=True, device="cpu")
    assert other.in_force()["size"] == "1024x1024"
    assert type(other._pipeline.scheduler).__name__ == "FlowMatchEulerDiscreteScheduler"


def test_the_name_tells_every_setting(models: Path) -> None:
    name = generator(models, "sdxl+refiner").name
    assert name.startswith("diffusers sdxl (sha256 ")
    assert "+ refiner sdxl_refiner (sha256 " in name
    assert name.endswith("from 0.8 EulerDiscreteScheduler 5 steps guidance 5 32x32")
    settings = diffusion.PipelineSettings(steps=9, size=64, scheduler="DDIMScheduler", dtype="bfloat16", batch=2)
    assert generator(models, "sdxl", settings).name.endswith("DDIMScheduler 9 steps guidance 5 64x64 bfloat16 batch 2")
    assert type(generator(models, "sdxl", settings)._pipeline.scheduler).__name__ == "DDIMScheduler"


def test_settings_that_a_model_cannot_have_are_refused(models: Path) -> None:
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*dtype 'int8'"):
        generator(models, "sdxl", diffusion.PipelineSettings(dtype="int8"))
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*scheduler 'Euler'"):
        generator(models, "sdxl", diffusion.PipelineSettings(scheduler="Euler")).generate(PROMPTS)
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*scheduler 'DDIMScheduler'"):
        generator(models, "sd3", diffusion.PipelineSettings(scheduler="DDIMScheduler")).generate(PROMPTS)


def test_pickled_weights_are_not_opened(models: Path, tmp_path: Path) -> None:
    import torch

    folder = tmp_path / "pickled"
    shutil.copytree(models / "sdxl", folder)
    (folder / "unet/diffusion_pytorch_model.safetensors").unlink()
    torch.save({}, folder / "unet/diffusion_pytorch_model.bin")
    with pytest.raises(BuildError, match=r"TOOL_MISSING.*weights as safetensors"):
        diffusion.DiffusersGenerator(str(folder), settings=QUICK).generate(PROMPTS)


def photo(size: tuple[int, int], seed: int) -> Image:
    noise = np.random.RandomState(seed).randint(0, 256, (size[1] // 8, size[0] // 8, 3), np.uint8)
    return Images.fromarray(noise).resize(size, Images.Resampling.BICUBIC)


def test_an_edit_keeps_the_size_and_depends_on_image_instruction_and_seed(models: Path) -> None:
    tool = diffusion.InstructPix2PixEditor(
        str(models / "instruct_pix2pix"), settings=diffusion.EditSettings(steps=3, size=32), device="cpu"
    )
    images = [photo((48, 40), 1), photo((64, 64), 2)]
    first = tool.edit(images, [ImagePrompt("make it old", 1), ImagePrompt("make it old", 1)])
    assert [(image.size, image.mode) for image in first] == [((48, 40), "RGB"), ((64, 64), "RGB")]
    again = tool.edit(images[1:], [ImagePrompt("make it old", 1)])[0]
    assert levels(again, first[1]) == 0
    for image, prompt in (
        (images[1], ImagePrompt("make it old", 2)),
        (images[1], ImagePrompt("a young woman", 1)),
        (photo((64, 64), 3), ImagePrompt("make it old", 1)),
    ):
        assert levels(tool.edit([image], [prompt])[0], first[1]) > 0
    assert tool.name.startswith("instruct-pix2pix instruct_pix2pix (sha256 ")
    assert tool.name.endswith("3 steps guidance 7.5 image guidance 1.5 32px")
