"""Images made from text or edited by a diffusers pipeline.

A pipeline runs with its own defaults, unless a setting is named. Builds take those that GENRES prints (appendix
B.2, step 2): SDXL base and refiner, Euler Ancestral, 40 steps, guidance 7.0, 1024x1024, the last fifth of the denoising
by the refiner. IRIS-Ideal-52 uses SDXL and SD 3.5 (appendix C.1). IRIS-Steer-60 edits
pairs with InstructPix2Pix (Brooks et al. 2023; appendix C.2), without stated settings: the defaults are those of the
model's makers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeVar

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.errors import BuildError
from fairspace.builders.models import weights

if TYPE_CHECKING:
    from PIL.Image import Image


SDXL = "stabilityai/stable-diffusion-xl-base-1.0"
SDXL_REFINER = "stabilityai/stable-diffusion-xl-refiner-1.0"
EULER_ANCESTRAL = "EulerAncestralDiscreteScheduler"
T = TypeVar("T")
DTYPES = ("", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class PipelineSettings:
    """Settings of a pipeline; None and '' leave a setting to the pipeline.

    Args:
        guidance: classifier-free guidance scale, or the one that a distilled model reads as a number (FLUX.1-dev).
        true_cfg: classifier-free guidance scale of pipelines that have both (FLUX, Qwen-Image); needs `negative`.
        negative: negative prompt of every image; may be a space.
        handover: The base model's share of the denoising.
        dtype: one of `DTYPES`; '' is bfloat16 on a GPU and float32 on a CPU.
        variant: variant of the weight files, such as `fp16`; '' takes the plain ones.
        compile: whether torch compiles the denoisers, as in B.2: slower to start, then faster.
        batch: images per pass, part of the tool's name because it may change a pixel by a level. Passes are filled up,
            so an image does not depend on those beside it.
    """

    steps: int | None = None
    guidance: float | None = None
    true_cfg: float | None = None
    negative: str | None = None
    size: int | None = None
    scheduler: str = ""
    handover: float = 0.8
    dtype: str = ""
    variant: str = ""
    compile: bool = False
    batch: int = 1


GENRES: Mapping[str, Any] = {"steps": 40, "guidance": 7.0, "size": 1024}
"""GENRES' settings (B.2, step 2), with Euler Ancestral for SDXL and the model's own scheduler for others."""
_ARGUMENTS = {
    "steps": "num_inference_steps",
    "guidance": "guidance_scale",
    "true_cfg": "true_cfg_scale",
    "negative": "negative_prompt",
    "size": "height",
}
"""Setting -> argument of a pipeline's call."""


class DiffusersGenerator:
    """Images by a text-to-image pipeline and a refiner, if any; a prompt's seed alone decides its noise.

    Models are folders or ID[@REVISION]; device '' takes a GPU if there is one. With `genres`, GENRES' settings stand
    for those not set, as far as the pipeline has them. Errors: BuildError TOOL_MISSING without packages or safetensors
    weights, for a pipeline that makes no images from text, and for settings that it does not have.
    """

    def __init__(
        self,
        model: str = SDXL,
        *,
        refiner: str = "",
        settings: PipelineSettings | None = None,
        genres: bool = False,
        device: str = "",
    ) -> None:
        for package in ("diffusers", "transformers"):
            weights.need(package, "build", model)
        self._model, self._base = model, weights.find(model, "model_index.json")
        self._refiner = weights.find(refiner, "model_index.json") if refiner else None
        self._named, self._genres, self.device = settings or PipelineSettings(), genres, device
        if self._named.dtype not in DTYPES:
            raise _unknown(model, "dtype", self._named.dtype, ", ".join(DTYPES[1:]))

    @property
    def name(self) -> str:
        """Models with commit or hash, and every setting in force."""
        used = self.in_force()
        return " ".join(
            part
            for part in (
                f"diffusers {self._base.name}",
                f"+ refiner {self._refiner.name} from {used['handover']:g}" if self._refiner else "",
                used["scheduler"],
                "" if used["steps"] is None else f"{used['steps']} steps",
                "" if used["guidance"] is None else f"guidance {used['guidance']:g}",
                "" if used["true_cfg"] is None else f"true_cfg {used['true_cfg']:g}",
                f"negative {used['negative']!r}" if used["negative"] else "",
                used["size"],
                used["dtype"],
                used["variant"],
                "compiled" if used["compile"] else "",
                f"batch {used['batch']}" if used["batch"] > 1 else "",
            )
            if part
        )

    def in_force(self) -> dict[str, Any]:
        """All settings as they act: where nothing is set, the default in the pipeline's signature.

        None: the pipeline has no such argument, or decides it itself; `size` is then ''. Nothing is loaded.
        """
        settings, has = self.settings, self._has
        used = asdict(settings)
        for setting, argument in _ARGUMENTS.items():
            used[setting] = has.get(argument) if used[setting] is None else used[setting]
        if "true_cfg_scale" in has:
            # Without a negative prompt these pipelines do without; the other scale is for distilled models alone.
            used["true_cfg"] = 1.0 if settings.negative is None else used["true_cfg"]
            used["guidance"] = used["guidance"] if self._distilled else None
        width, height = (settings.size or has.get(side) for side in ("width", "height"))
        used["size"] = f"{width}x{height}" if width and height else ""
        used["scheduler"] = settings.scheduler or (self._index.get("scheduler") or ["", ""])[1]
        return used

    def generate(self, prompts: Sequence[ImagePrompt]) -> list[Image]:
        """One RGB image per prompt."""
        images: list[Image] = []
        for part, full in passes(prompts, self.settings.batch):
            images += [image.convert("RGB") for image in self._generate(full)[: len(part)]]
        return images

    def _generate(self, prompts: Sequence[ImagePrompt]) -> list[Image]:
        settings, has = self.settings, self._has
        common: dict[str, Any] = {"prompt": [prompt.text for prompt in prompts], "generator": generators(prompts)}
        common |= {
            argument: getattr(settings, setting)
            for setting, argument in _ARGUMENTS.items()
            if setting != "size" and getattr(settings, setting) is not None
        }
        if settings.negative is not None:
            common["negative_prompt"] = [settings.negative] * len(prompts)
        square = {side: settings.size for side in ("height", "width") if settings.size is not None and side in has}
        if self._refine is None:
            return self._images(self._pipeline(**common, **square))
        halfway = self._pipeline(**common, **square, denoising_end=settings.handover, output_type="latent").images
        return self._images(self._refine(**common, image=halfway, denoising_start=settings.handover))

    def _images(self, output: Any) -> list[Image]:
        images = getattr(output, "images", None)
        if not isinstance(images, list) or not all(hasattr(image, "convert") for image in images):
            raise self._no_images(f"a result of type {type(output).__name__} without images")
        return images

    @cached_property
    def settings(self) -> PipelineSettings:
        """The named settings, completed by GENRES'. BuildError TOOL_MISSING for one that the pipeline does not have."""
        settings, has = self._named, self._has
        for setting, argument in _ARGUMENTS.items():
            if (value := getattr(settings, setting)) is not None and argument not in has:
                names = ", ".join(name for name, argument in _ARGUMENTS.items() if argument in has)
                raise _unknown(self._model, setting, value, f"settings of {self._kind.__name__}: {names}")
        if "true_cfg_scale" in has:
            scale = has["true_cfg_scale"] if settings.true_cfg is None else settings.true_cfg
            if settings.guidance is not None and not self._distilled:
                raise _unknown(self._model, "guidance", settings.guidance, "true_cfg and negative: it is not distilled")
            if (settings.negative is None and (settings.true_cfg or 0) > 1) or (
                settings.negative is not None and scale <= 1
            ):
                problem = f"true_cfg {scale:g} with negative prompt {settings.negative!r}"
                raise _unknown(self._model, "guidance", problem, "true_cfg above 1 and a negative prompt, or neither")
        if not self._genres:
            return settings
        fill = {name: value for name, value in GENRES.items() if _ARGUMENTS[name] in has}
        if self._kind.__name__.startswith("StableDiffusionXL"):
            fill["scheduler"] = EULER_ANCESTRAL
        return replace(
            settings, **{name: value for name, value in fill.items() if getattr(settings, name) in (None, "")}
        )

    @cached_property
    def _index(self) -> dict[str, Any]:
        index: dict[str, Any] = json.loads(self._base.marker.read_text(encoding="utf-8"))
        return index

    @cached_property
    def _kind(self) -> Any:
        """Class of the pipeline: AutoPipeline's for its family where there is one, else its own."""
        import diffusers
        from diffusers.pipelines.auto_pipeline import AUTO_TEXT2IMAGE_PIPELINES_MAPPING, _get_task_class

        class_name = str(self._index.get("_class_name"))
        kind = getattr(diffusers, class_name, None)
        if not isinstance(kind, type) or not issubclass(kind, diffusers.DiffusionPipeline):
            raise self._no_images(f"the pipeline {class_name}, unknown to diffusers {diffusers.__version__}")
        return _get_task_class(AUTO_TEXT2IMAGE_PIPELINES_MAPPING, class_name, throw_error_if_not_exist=False) or kind

    @cached_property
    def _has(self) -> Mapping[str, Any]:
        """Arguments of the pipeline's call with their defaults. BuildError TOOL_MISSING unless a prompt is enough."""
        arguments = signature(self._kind.__call__).parameters
        needed = {
            name
            for name, argument in arguments.items()
            if argument.default is Parameter.empty
            and argument.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
        }
        lacking = ", ".join(sorted({"prompt", "generator"} - set(arguments)))
        if lacking or needed - {"self", "prompt"}:
            problem = f"no {lacking}" if lacking else f"needs {', '.join(sorted(needed - {'self', 'prompt'}))}"
            raise self._no_images(f"{self._kind.__name__}: {problem}")
        return {name: argument.default for name, argument in arguments.items()}

    @cached_property
    def _distilled(self) -> bool:
        """Whether the denoiser reads the guidance scale as a number."""
        config = weights.find(self._model, "transformer/config.json").marker
        return bool(json.loads(config.read_text(encoding="utf-8")).get("guidance_embeds"))

    def _no_images(self, problem: str) -> BuildError:
        expected = "a pipeline of diffusers that makes images from a prompt alone"
        return BuildError("TOOL_MISSING", self._model, problem, expected, "name another, or write a python: function")

    @cached_property
    def _pipeline(self) -> Any:
        return self._load(self._kind, self._base)

    @cached_property
    def _refine(self) -> Any:
        if self._refiner is None:
            return None
        from diffusers import AutoPipelineForImage2Image

        return self._load(AutoPipelineForImage2Image, self._refiner)

    def _load(self, auto: Any, source: weights.Weights) -> Any:
        settings = self.settings
        pipeline = load(auto, source, dtype=settings.dtype, variant=settings.variant, device=self.device)
        if settings.scheduler:
            scheduler: Any = getattr(pipeline, "scheduler", None)
            kinds = {
                kind.__name__: kind
                for kind in [*getattr(scheduler, "compatibles", []), type(scheduler)]
                if scheduler is not None
            }
            if settings.scheduler not in kinds:
                raise _unknown(source.name, "scheduler", settings.scheduler, ", ".join(sorted(kinds)) or "none")
            pipeline.scheduler = kinds[settings.scheduler].from_config(scheduler.config)
        if settings.compile:
            parts = (getattr(pipeline, name, None) for name in ("unet", "transformer", "decoder"))
            denoiser = next((part for part in parts if part is not None), None)
            if denoiser is None:
                raise _unknown(source.name, "compile", "true", "false: no denoiser was found")
            denoiser.compile()
        return pipeline


def load(pipeline: Any, source: weights.Weights, *, dtype: str, variant: str, device: str) -> Any:
    """A pipeline of this class from safetensors, on its device, quiet."""
    import torch

    where = weights.best_device(device)
    precision = getattr(torch, dtype or ("float32" if where == "cpu" else "bfloat16"))
    with weights.loading(source):
        loaded = pipeline.from_pretrained(
            source.where,
            revision=source.revision,
            dtype=precision,
            variant=variant or None,
            use_safetensors=True,
        )
    loaded.set_progress_bar_config(disable=True)
    return loaded.to(where)


def passes(items: Sequence[T], batch: int) -> Iterator[tuple[Sequence[T], Sequence[T]]]:
    """The items of each pass, and these filled up to `batch` by repeats of the last, whose results are left out."""
    for start in range(0, len(items), batch):
        part = items[start : start + batch]
        yield part, [*part, *[part[-1]] * (batch - len(part))]


def generators(prompts: Sequence[ImagePrompt]) -> list[Any]:
    """A noise source per prompt, on the CPU, whose noise is the same beside any accelerator."""
    import torch

    return [torch.Generator("cpu").manual_seed(prompt.seed) for prompt in prompts]


def _unknown(model: str, setting: str, value: object, expected: str) -> BuildError:
    return BuildError("TOOL_MISSING", model, f"{setting} {value!r}", expected, "name another in the tool's settings")


INSTRUCT_PIX2PIX = "timbrooks/instruct-pix2pix"
_MULTIPLE = 8
"""Pixels per block of the autoencoder."""


@dataclass(frozen=True)
class EditSettings:
    """Settings of an editor, otherwise as in `PipelineSettings`.

    `guidance` is the closeness to the instruction, `image_guidance` (at least 1) to the edited image, `size` the longer
    side in pixels at which the model works.
    """

    steps: int = 100
    guidance: float = 7.5
    image_guidance: float = 1.5
    size: int = 512
    dtype: str = ""
    variant: str = ""
    batch: int = 1


class InstructPix2PixEditor:
    """Edits by InstructPix2Pix; nothing depends on the other images. Arguments and errors as in `DiffusersGenerator`.

    An edited image keeps its size. Where the pipeline's safety checker objects it is black, and a check rejects it.
    """

    def __init__(
        self, model: str = INSTRUCT_PIX2PIX, *, settings: EditSettings | None = None, device: str = ""
    ) -> None:
        for package in ("diffusers", "transformers"):
            weights.need(package, "build", model)
        self._weights = weights.find(model, "model_index.json")
        self.settings, self.device = settings or EditSettings(), device

    @property
    def name(self) -> str:
        """Model with commit or hash, and every setting."""
        settings = self.settings
        words = f"{settings.steps} steps guidance {settings.guidance:g} image guidance {settings.image_guidance:g}"
        together = f"batch {settings.batch}" if settings.batch > 1 else ""
        files = " ".join(filter(None, [f"{settings.size}px", settings.dtype, settings.variant, together]))
        return f"instruct-pix2pix {self._weights.name} {words} {files}"

    def edit(self, images: Sequence[Image], instructions: Sequence[ImagePrompt]) -> list[Image]:
        """One RGB image per instruction."""
        sizes = [self._size(image) for image in images]
        edited: dict[int, Image] = {}
        for size in dict.fromkeys(sizes):
            for part, full in passes([n for n, other in enumerate(sizes) if other == size], self.settings.batch):
                made = self._edit([images[place] for place in full], [instructions[place] for place in full], size)
                edited |= dict(zip(part, made, strict=False))  # without the pass's repeats
        return [edited[place] for place in range(len(images))]

    def _size(self, image: Image) -> tuple[int, int]:
        scale = self.settings.size / max(image.size)
        width, height = (max(1, round(side * scale / _MULTIPLE)) * _MULTIPLE for side in image.size)
        return width, height

    def _edit(self, images: Sequence[Image], instructions: Sequence[ImagePrompt], size: tuple[int, int]) -> list[Image]:
        from PIL.Image import Resampling

        settings = self.settings
        edited = self._pipeline(
            prompt=[instruction.text for instruction in instructions],
            image=[image.convert("RGB").resize(size, Resampling.LANCZOS) for image in images],
            num_inference_steps=settings.steps,
            guidance_scale=settings.guidance,
            image_guidance_scale=settings.image_guidance,
            generator=generators(instructions),
        ).images
        return [
            result.convert("RGB").resize(image.size, Resampling.LANCZOS)
            for result, image in zip(edited, images, strict=True)
        ]

    @cached_property
    def _pipeline(self) -> Any:
        from diffusers import StableDiffusionInstructPix2PixPipeline

        settings, kind = self.settings, StableDiffusionInstructPix2PixPipeline
        return load(kind, self._weights, dtype=settings.dtype, variant=settings.variant, device=self.device)
