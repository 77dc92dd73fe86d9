"""Images made from text or edited by a diffusers pipeline.

Defaults are GENRES' (appendix B.2, step 2): SDXL base and refiner, Euler Ancestral, 40 steps, guidance 7.0, 1024x1024,
the last fifth of the denoising by the refiner. IRIS-Ideal-52 uses SDXL and SD 3.5 (appendix C.1). IRIS-Steer-60 edits
pairs with InstructPix2Pix (Brooks et al. 2023; appendix C.2), without stated settings: the defaults are those of the
model's makers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from fairspace.builders.engine.tools import Prompt
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
class Settings:
    """Settings of a pipeline; the defaults are those of GENRES, appendix B.2, step 2.

    Args:
        guidance: classifier-free guidance scale.
        size: side of the square image, in pixels.
        scheduler: class name in diffusers; '' is Euler Ancestral for SDXL, as in B.2, and the model's own for others.
        handover: The base model's share of the denoising.
        dtype: one of `DTYPES`; '' is bfloat16 on a GPU and float32 on a CPU.
        variant: variant of the weight files, such as `fp16`; '' takes the plain ones.
        compile: whether torch compiles the denoisers, as in B.2: slower to start, then faster.
        batch: images per pass, part of the tool's name because it may change a pixel by a level. Passes are filled up,
            so an image does not depend on those beside it.
    """

    steps: int = 40
    guidance: float = 7.0
    size: int = 1024
    scheduler: str = ""
    handover: float = 0.8
    dtype: str = ""
    variant: str = ""
    compile: bool = False
    batch: int = 1


class DiffusersGenerator:
    """Images by a text-to-image pipeline and a refiner, if any; a prompt's seed alone decides its noise.

    Models are folders or ID[@REVISION]; device '' takes a GPU if there is one. Errors: BuildError TOOL_MISSING without
    packages or safetensors weights.
    """

    def __init__(
        self, model: str = SDXL, *, refiner: str = "", settings: Settings | None = None, device: str = ""
    ) -> None:
        for package in ("diffusers", "transformers"):
            weights.need(package, "build", model)
        self._base = weights.find(model, "model_index.json")
        self._refiner = weights.find(refiner, "model_index.json") if refiner else None
        self.settings, self.device = settings or Settings(), device
        if self.settings.dtype not in DTYPES:
            raise _unknown(model, "dtype", self.settings.dtype, ", ".join(DTYPES[1:]))

    @property
    def name(self) -> str:
        """Models with commit or hash, and every setting that decides pixels."""
        chosen = self.settings
        return " ".join(
            part
            for part in (
                f"diffusers {self._base.name}",
                f"+ refiner {self._refiner.name} from {chosen.handover:g}" if self._refiner else "",
                self._scheduler,
                f"{chosen.steps} steps guidance {chosen.guidance:g} {chosen.size}x{chosen.size}",
                chosen.dtype,
                chosen.variant,
                "compiled" if chosen.compile else "",
                f"batch {chosen.batch}" if chosen.batch > 1 else "",
            )
            if part
        )

    def generate(self, prompts: Sequence[Prompt]) -> list[Image]:
        """One RGB image per prompt."""
        images: list[Image] = []
        for part, full in passes(prompts, self.settings.batch):
            images += [image.convert("RGB") for image in self._generate(full)[: len(part)]]
        return images

    def _generate(self, prompts: Sequence[Prompt]) -> list[Image]:
        chosen = self.settings
        texts, noise = [prompt.text for prompt in prompts], generators(prompts)
        common: dict[str, Any] = {"prompt": texts, "generator": noise, "guidance_scale": chosen.guidance}
        square = {"height": chosen.size, "width": chosen.size, "num_inference_steps": chosen.steps}
        if self._refine is None:
            return list(self._pipeline(**common, **square).images)
        halfway = self._pipeline(**common, **square, denoising_end=chosen.handover, output_type="latent").images
        common |= {"image": halfway, "num_inference_steps": chosen.steps, "denoising_start": chosen.handover}
        return list(self._refine(**common).images)

    @cached_property
    def _scheduler(self) -> str:
        made_by = json.loads(self._base.marker.read_text(encoding="utf-8")).get("_class_name", "")
        return self.settings.scheduler or (EULER_ANCESTRAL if made_by.startswith("StableDiffusionXL") else "")

    @cached_property
    def _pipeline(self) -> Any:
        from diffusers import AutoPipelineForText2Image

        return self._load(AutoPipelineForText2Image, self._base)

    @cached_property
    def _refine(self) -> Any:
        if self._refiner is None:
            return None
        from diffusers import AutoPipelineForImage2Image

        return self._load(AutoPipelineForImage2Image, self._refiner)

    def _load(self, auto: Any, source: weights.Weights) -> Any:
        chosen = self.settings
        pipeline = load(auto, source, dtype=chosen.dtype, variant=chosen.variant, device=self.device)
        if self._scheduler:
            known = {kind.__name__: kind for kind in [*pipeline.scheduler.compatibles, type(pipeline.scheduler)]}
            if self._scheduler not in known:
                raise _unknown(source.name, "scheduler", self._scheduler, ", ".join(sorted(known)))
            pipeline.scheduler = known[self._scheduler].from_config(pipeline.scheduler.config)
        if chosen.compile:
            denoiser = pipeline.unet if getattr(pipeline, "unet", None) is not None else pipeline.transformer
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


def generators(prompts: Sequence[Prompt]) -> list[Any]:
    """A noise source per prompt, on the CPU, whose noise is the same beside any accelerator."""
    import torch

    return [torch.Generator("cpu").manual_seed(prompt.seed) for prompt in prompts]


def _unknown(model: str, setting: str, value: str, expected: str) -> BuildError:
    return BuildError("TOOL_MISSING", model, f"{setting} {value!r}", expected, "name another in the tool's settings")


INSTRUCT_PIX2PIX = "timbrooks/instruct-pix2pix"
_MULTIPLE = 8
"""Pixels per block of the autoencoder."""


@dataclass(frozen=True)
class EditSettings:
    """Settings of an editor, otherwise as in `Settings`.

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
        chosen = self.settings
        how = f"{chosen.steps} steps guidance {chosen.guidance:g} image guidance {chosen.image_guidance:g}"
        together = f"batch {chosen.batch}" if chosen.batch > 1 else ""
        files = " ".join(filter(None, [f"{chosen.size}px", chosen.dtype, chosen.variant, together]))
        return f"instruct-pix2pix {self._weights.name} {how} {files}"

    def edit(self, images: Sequence[Image], instructions: Sequence[Prompt]) -> list[Image]:
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

    def _edit(self, images: Sequence[Image], instructions: Sequence[Prompt], size: tuple[int, int]) -> list[Image]:
        from PIL.Image import Resampling

        chosen = self.settings
        edited = self._pipeline(
            prompt=[instruction.text for instruction in instructions],
            image=[image.convert("RGB").resize(size, Resampling.LANCZOS) for image in images],
            num_inference_steps=chosen.steps,
            guidance_scale=chosen.guidance,
            image_guidance_scale=chosen.image_guidance,
            generator=generators(instructions),
        ).images
        return [
            result.convert("RGB").resize(image.size, Resampling.LANCZOS)
            for result, image in zip(edited, images, strict=True)
        ]

    @cached_property
    def _pipeline(self) -> Any:
        from diffusers import StableDiffusionInstructPix2PixPipeline

        chosen, kind = self.settings, StableDiffusionInstructPix2PixPipeline
        return load(kind, self._weights, dtype=chosen.dtype, variant=chosen.variant, device=self.device)
