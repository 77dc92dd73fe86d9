"""Images changed as an instruction says, by InstructPix2Pix (Brooks et al. 2023).

IRIS-Steer-60 makes its counterfactual pairs with it: "only the target demographic attribute was altered" (appendix
C.2). The paper states no settings; the defaults are those of the model's makers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from fairspace.builders.engine.tools import Prompt
from fairspace.builders.models import diffusion, weights

if TYPE_CHECKING:
    from PIL.Image import Image

INSTRUCT_PIX2PIX = "timbrooks/instruct-pix2pix"
_MULTIPLE = 8
"""The autoencoder works on blocks of so many pixels."""


@dataclass(frozen=True)
class EditSettings:
    """How images are edited.

    Args:
        steps: of denoising.
        guidance: how closely the result follows the instruction.
        image_guidance: how closely it follows the image that is edited, at least 1.
        size: longer side at which the model works, in pixels.
        dtype: of `diffusion.DTYPES`; '' is bfloat16 on a GPU and float32 on a CPU.
        variant: of the weight files, such as `fp16`; '' takes the plain ones.
        batch: images of one size per pass, as for `diffusion.Settings`.
    """

    steps: int = 100
    guidance: float = 7.5
    image_guidance: float = 1.5
    size: int = 512
    dtype: str = ""
    variant: str = ""
    batch: int = 1


class InstructPix2PixEditor:
    """Edits by InstructPix2Pix; nothing depends on what else is edited.

    Args:
        model: folder or ID[@REVISION].
        settings: how.
        device: of torch; '' takes a GPU if there is one.

    An edited image has the size of the image it was made from. Where the pipeline's safety checker objects, the image
    is black, and a check of the result rejects it. Errors: as for `DiffusersGenerator`.
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
            places = iter([place for place, other in enumerate(sizes) if other == size])
            while part := list(islice(places, self.settings.batch)):
                full = diffusion.filled(part, self.settings.batch)
                made = self._edit([images[place] for place in full], [instructions[place] for place in full], size)
                edited |= dict(zip(part, made, strict=False))  # without what filled the pass up
        return [edited[place] for place in range(len(images))]

    def _size(self, image: Image) -> tuple[int, int]:
        """Width and height at which the model sees an image."""
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
            generator=diffusion.generators(instructions),
        ).images
        return [
            result.convert("RGB").resize(image.size, Resampling.LANCZOS)
            for result, image in zip(edited, images, strict=True)
        ]

    @cached_property
    def _pipeline(self) -> Any:
        from diffusers import StableDiffusionInstructPix2PixPipeline

        return diffusion.load(
            StableDiffusionInstructPix2PixPipeline,
            self._weights,
            dtype=self.settings.dtype,
            variant=self.settings.variant,
            device=self.device,
        )
