"""Images made from text by a diffusers pipeline: SDXL, SDXL with its refiner, SD 3.5, or another text-to-image model.

IRIS-Ideal-52 fills its gaps with SDXL and SD 3.5 images (appendix C.1). GENRES makes its images with SDXL base and
refiner: Euler Ancestral, 40 steps, guidance 7.0, 1024x1024, the last fifth of the denoising by the refiner (appendix
B.2, step 2); these are the settings here unless the user names others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
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
    """How a pipeline is run; the defaults are those of GENRES, appendix B.2, step 2.

    Args:
        steps: of denoising.
        guidance: classifier-free guidance scale.
        size: side of the square image, in pixels.
        scheduler: class name in diffusers; '' is Euler Ancestral for SDXL, as in B.2, and the model's own for others.
        handover: with a refiner, the share of the denoising that the base model does.
        dtype: of `DTYPES`; '' is bfloat16 on a GPU and float32 on a CPU.
        variant: of the weight files, such as `fp16`; '' takes the plain ones.
        compile: whether torch compiles the denoisers, as B.2 does: slower to start, then faster.
        batch: images per pass. Another number may change a pixel by a level or so, so the tool's name says it. A pass
            that is not full is filled up: all have one shape, and an image does not depend on those beside it.
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
    """Images by a text-to-image pipeline; a prompt's seed alone decides its noise.

    Args:
        model: folder or ID[@REVISION].
        refiner: the same of an image-to-image pipeline that ends the denoising; '' for none.
        settings: how.
        device: of torch; '' takes a GPU if there is one.

    Errors: BuildError TOOL_MISSING without the weights or packages, or if the weights are not safetensors.
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
        remaining = iter(prompts)
        while part := list(islice(remaining, self.settings.batch)):
            made = self._generate(filled(part, self.settings.batch))
            images += [image.convert("RGB") for image in made[: len(part)]]
        return images

    def _generate(self, prompts: Sequence[Prompt]) -> list[Image]:
        chosen = self.settings
        texts, noise = [prompt.text for prompt in prompts], generators(prompts)
        common = {"prompt": texts, "generator": noise, "guidance_scale": chosen.guidance}
        square = {"height": chosen.size, "width": chosen.size, "num_inference_steps": chosen.steps}
        if self._refine is None:
            return list(self._pipeline(**common, **square).images)
        halfway = self._pipeline(**common, **square, denoising_end=chosen.handover, output_type="latent").images
        return list(
            self._refine(
                **common, image=halfway, num_inference_steps=chosen.steps, denoising_start=chosen.handover
            ).images
        )

    @cached_property
    def _scheduler(self) -> str:
        """Class name of the scheduler that replaces the model's own; '' keeps that."""
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
    """A pipeline from safetensors, on its device, quiet. `pipeline` is the class to load it with."""
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


def filled(part: Sequence[T], batch: int) -> list[T]:
    """A pass that has its whole number of images: the last one is repeated, and what comes of that is left out."""
    return [*part, *[part[-1]] * (batch - len(part))]


def generators(prompts: Sequence[Prompt]) -> list[Any]:
    """A source of noise per prompt. They are on the CPU, whose noise is the same beside any accelerator."""
    import torch

    return [torch.Generator("cpu").manual_seed(prompt.seed) for prompt in prompts]


def _unknown(model: str, setting: str, value: str, expected: str) -> BuildError:
    return BuildError("TOOL_MISSING", model, f"{setting} {value!r}", expected, "name another in the tool's settings")
