"""Every text-to-image pipeline of diffusers, tiny and random, through `diffusers:`."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.models.diffusion import DiffusersGenerator, PipelineSettings
from fairspace.submissions.errors import RunError
from fairspace.submissions.running.images.models import open_image_model
from tests.builders.models import tiny

# diffusers' Euler schedulers make numpy arrays of tensors in the way of numpy 1.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TINY: dict[str, dict[str, Any]] = json.loads((Path(tiny.__file__).parent / "tiny_pipelines.json").read_text())
"""Pipeline -> its parts as [class, configuration], those of diffusers' own tests."""
LIGHTER: dict[str, dict[str, dict[str, Any]]] = {
    "BriaFiboPipeline": {"text_encoder": {"intermediate_size": 64}, "vae": {"base_dim": 16, "decoder_base_dim": 16}},
    "PixArtAlphaPipeline": {
        "vae": {
            "block_out_channels": [32] * 4,
            "down_block_types": ["DownEncoderBlock2D"] * 4,
            "up_block_types": ["UpDecoderBlock2D"] * 4,
        }
    },
}
"""Pipeline -> part -> settings with which it takes a second, not half a minute."""
LARGER = {"LuminaPipeline": 128, "Lumina2Pipeline": 128, "LDMTextToImagePipeline": 64}
"""Sides at which a tiny pipeline makes an image of 16 pixels or more; the others do at 32."""
NOT_BUILT = {
    "its processor needs torchvision": "GlmImage Kandinsky5T2I NucleusMoEImage",
    "no tiny configuration is known": "CogView4 ErnieImage Flux2 Ideogram4 LongCatImage PRX QwenImage21 "
    "SanaPAG ZImageOmni",
    "makes large images alone, whatever is asked": "FluxKontext HunyuanDiT HunyuanDiTPAG PixArtSigma PixArtSigmaPAG",
    "needs the package cosmos_guardrail": "Cosmos2TextToImage",
    "needs the package ftfy": "PRXPixel",
    "a part is outside diffusers or deprecated in it": "KandinskyCombined StableCascadeCombined",
    "needs an image too": "CogView4Control FluxControl",
    "makes embeddings or shapes": "KandinskyPrior KandinskyV22Prior ShapE",
    "has no safetensors": "OnnxStableDiffusion StableDiffusionOnnx",
}


def text_to_image() -> dict[str, Any]:
    import diffusers
    from diffusers.pipelines.auto_pipeline import AUTO_TEXT2IMAGE_PIPELINES_MAPPING

    found = {}
    for name in {name for names in diffusers._import_structure.values() for name in names if "Pipeline" in name}:
        kind = getattr(diffusers, name, None)
        if not inspect.isclass(kind) or not issubclass(kind, diffusers.DiffusionPipeline) or "ControlNet" in name:
            continue
        has = inspect.signature(kind.__call__).parameters
        needed = {each for each, argument in has.items() if argument.default is argument.empty and argument.kind < 2}
        alone = (
            {"prompt", "generator"} <= set(has)
            and needed <= {"self", "prompt"}
            and not {"num_frames", "video_length"} & set(has)
        )
        images = "num_images_per_prompt" in has and not any("image" in each for each in set(has) - {_MANY, *_EMBEDDED})
        if (
            alone
            and "deprecated" not in kind.__module__
            and (kind in AUTO_TEXT2IMAGE_PIPELINES_MAPPING.values() or images)
        ):
            found[name] = has
    return found


_MANY = "num_images_per_prompt"
_EMBEDDED = ("ip_adapter_image", "ip_adapter_image_embeds", "image_embeds", "negative_image_embeds")


def build(name: str, folder: Path, **more: Any) -> None:
    tiny.quiet()
    import diffusers

    parts: dict[str, Any] = {**TINY[name], **more}
    for role, given in TINY[name].items():
        if isinstance(given, list) and role not in more:
            kind, configuration = given
            parts[role] = part(kind, configuration | LIGHTER.get(name, {}).get(role, {}))
    getattr(diffusers, name)(**parts).save_pretrained(folder)


def part(kind: str, configuration: dict[str, Any]) -> Any:
    import diffusers
    import transformers
    from diffusers.pipelines.latent_diffusion import pipeline_latent_diffusion
    from diffusers.pipelines.stable_diffusion import StableUnCLIPImageNormalizer

    if "Tokenizer" in kind:
        return tiny.words_of(kind)
    own = {"StableUnCLIPImageNormalizer": StableUnCLIPImageNormalizer}
    own |= {name: getattr(pipeline_latent_diffusion, name) for name in ("LDMBertModel", "LDMBertConfig")}
    made = own.get(kind) or getattr(diffusers, kind, None) or getattr(transformers, kind)
    if hasattr(made, "config_class"):
        return made(made.config_class(**configuration)).eval()
    return made(**configuration)


@pytest.mark.parametrize("name", TINY)
def test_each_pipeline_makes_an_image_with_its_own_settings(name: str, tmp_path: Path) -> None:
    build(name, tmp_path)
    side = LARGER.get(name, 32)
    model = open_image_model(f"diffusers:{tmp_path}?steps=2&size={side}", device="cpu")
    made = model.make([ImagePrompt("a photo of a nurse", 1)])
    assert [(each.fate, each.reason) for each in made] == [("answered", "")]
    assert model.settings()["size"] == f"{side}x{side}"


def test_every_pipeline_is_built_or_has_its_reason() -> None:
    reasons = {f"{name}Pipeline" for names in NOT_BUILT.values() for name in names.split()}
    assert set(text_to_image()) - set(TINY) == reasons


def test_what_is_not_set_is_the_signatures_default(tmp_path: Path) -> None:
    for name, has in text_to_image().items():
        folder = tmp_path / name
        (folder / "transformer").mkdir(parents=True)
        (folder / "model_index.json").write_text(json.dumps({"_class_name": name}))
        (folder / "transformer" / "config.json").write_text("{}")
        used = DiffusersGenerator(str(folder), device="cpu").in_force()
        assert used["steps"] == (has["num_inference_steps"].default if "num_inference_steps" in has else None), name
        if "true_cfg_scale" in has:
            assert (used["true_cfg"], used["guidance"]) == (1.0, None), name
        elif "guidance_scale" in has:
            assert used["guidance"] == has["guidance_scale"].default, name


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "qwen"
    build("QwenImagePipeline", folder)
    return str(folder)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("guidance=7", "not distilled"),
        ("true_cfg=4", "a negative prompt"),
        ("negative=ugly&true_cfg=1", "true_cfg above 1"),
    ],
)
def test_settings_that_would_do_nothing_are_refused(settings: str, expected: str, qwen: str) -> None:
    with pytest.raises(RunError, match=f"MODEL_UNKNOWN.*{expected}"):
        open_image_model(f"diffusers:{qwen}?{settings}", device="cpu")


def test_true_cfg_and_a_negative_prompt_guide_and_are_recorded(qwen: str) -> None:
    plain, guided = (
        DiffusersGenerator(qwen, settings=PipelineSettings(steps=2, size=32, negative=negative), device="cpu")
        for negative in (None, " ")
    )
    assert (plain.in_force()["true_cfg"], guided.in_force()["true_cfg"]) == (1.0, 4.0)
    assert guided.name.endswith("2 steps true_cfg 4 negative ' ' 32x32")
    prompt = [ImagePrompt("a nurse", 1)]
    assert plain.generate(prompt)[0].tobytes() != guided.generate(prompt)[0].tobytes()


def test_a_setting_or_pipeline_that_is_not_there_is_refused(tmp_path: Path) -> None:
    index = tmp_path / "model_index.json"
    for kind, settings, expected in (
        ("HunyuanImagePipeline", "guidance=7", "settings of HunyuanImagePipeline: steps, negative, size"),
        ("DDPMPipeline", "", "DDPMPipeline: no prompt"),
        ("MyPipeline", "", "the pipeline MyPipeline, unknown to diffusers"),
    ):
        index.write_text(json.dumps({"_class_name": kind}))
        with pytest.raises(RunError, match=expected):
            open_image_model(f"diffusers:{tmp_path}?{settings}", device="cpu")
