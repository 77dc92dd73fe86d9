"""The image processor of ARES: images of any kind to squares of pixels in [0, 1], and the fate of each input.

The whole image is squeezed into the square (bicubic, with antialiasing), not cropped: in an upright portrait a head
often touches the upper edge, and the experts are trained with changes of proportions up to 4:3. Most generated images
are square, and only scaled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers.image_processing_utils import BaseImageProcessor, BatchFeature
from transformers.processing_utils import ImagesKwargs

from .fates_ares import Fate, ImageLimits
from .reading_ares import quiet, read_image

_DEFAULTS = ImageLimits()


class AresImagesKwargs(ImagesKwargs, total=False):  # type: ignore[call-arg, misc, unused-ignore]
    """The settings; see `AresImageProcessor`."""

    image_size: int
    max_bytes: int
    max_pixels: int
    min_side: int
    detail: int


@dataclass(frozen=True)
class PreparedInput:
    """One input.

    Args:
        pixels: (s, s, 3) of uint8; None where it is unreadable, or only `image` was asked for.
        image: Upright RGB, its longer side at most `detail`, where it was asked for.
    """

    fate: Fate
    pixels: NDArray[np.uint8] | None = None
    image: Image.Image | None = None


class AresImageProcessor(BaseImageProcessor):
    """Reader and scaler of images.

    Args:
        image_size: Pixels of the square's side; the model's `image_size`.
        max_bytes: Size above which files are refused unread.
        max_pixels: Pixels in the header above which images are refused undecoded.
        min_side: Smallest side of an image.
        detail: Longer side, in pixels, of the images for a face detector and a vision-language model.
    """

    model_input_names = ("pixel_values",)
    valid_kwargs = AresImagesKwargs

    def __init__(
        self,
        image_size: int = 224,
        max_bytes: int = _DEFAULTS.bytes,
        max_pixels: int = _DEFAULTS.pixels,
        min_side: int = _DEFAULTS.side,
        detail: int = 1024,
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("auto_map", {"AutoImageProcessor": "image_processing_ares.AresImageProcessor"})
        super().__init__(**kwargs)
        self.image_size = image_size
        self.max_bytes = max_bytes
        self.max_pixels = max_pixels
        self.min_side = min_side
        self.detail = detail

    def preprocess(self, images: Any, *args: Any, **kwargs: Any) -> BatchFeature:
        """Read images.

        Args:
            images: One image, or many in a sequence, a dataset's column, or an array with a fourth dimension in front;
                see `reading_ares.read_image` for the kinds.
            args: Unused.
            kwargs: Unused; the result is that of `return_tensors="pt"`.

        Returns:
            `pixel_values`: (n, 3, s, s) float32 in [0, 1] of the n readable ones, in order; `fates`: one `Fate` for
            each input.
        """
        unknown = [*args, *(set(kwargs) - {"return_tensors"})]
        if unknown or kwargs.get("return_tensors", "pt") != "pt":
            raise TypeError(f"AresImageProcessor takes images and return_tensors='pt', not {unknown or kwargs}")
        with quiet():
            prepared = [self.prepare(image) for image in as_images(images)]
        pixels = [each.pixels for each in prepared if each.pixels is not None]
        return BatchFeature({"pixel_values": self.tensor(pixels), "fates": [each.fate for each in prepared]})

    def prepare(self, image: Any, *, square: bool = True, keep: bool = False) -> PreparedInput:
        """Read one image; safe in several threads at once, within `reading_ares.quiet()`.

        `image`: see `reading_ares.read_image`; `square`: scale it to the square; `keep`: keep it in detail as well.
        """
        limits = ImageLimits(self.max_bytes, self.max_pixels, self.min_side)
        read, fate = read_image(image, limits, least=2 * self.image_size if square else self.detail)
        if read is None:
            return PreparedInput(fate)
        pixels = self.square(read) if square else None
        if not keep:
            return PreparedInput(fate, pixels)
        if max(read.size) > self.detail:
            read.thumbnail((self.detail, self.detail), Image.Resampling.BICUBIC, reducing_gap=None)
        return PreparedInput(fate, pixels, read)

    def square(self, image: Image.Image) -> NDArray[np.uint8]:
        """An RGB image as (s, s, 3)."""
        size = (self.image_size, self.image_size)
        scaled = image if image.size == size else image.resize(size, Image.Resampling.BICUBIC)
        return np.array(scaled)

    def tensor(self, pixels: Sequence[NDArray[np.uint8]], device: Any = None, dtype: Any = None) -> torch.Tensor:
        """Squares as (n, 3, s, s) in [0, 1]; eight bits travel to the device."""
        if not len(pixels):
            return torch.zeros(0, 3, self.image_size, self.image_size, device=device, dtype=dtype)
        whole = torch.from_numpy(np.stack(pixels)).to(device)
        return (whole.permute(0, 3, 1, 2).float() / 255).to(dtype or torch.float32).contiguous()


def as_images(images: Any) -> Iterable[Any]:
    """A user's input as many images: a single one becomes a list of one."""
    return [images] if is_single(images) else images


def is_single(images: Any) -> bool:
    """Whether a user gave one image, and not many."""
    dimensions = getattr(images, "ndim", None)
    single = isinstance(images, str | bytes | bytearray | memoryview | dict | Image.Image) or dimensions in (2, 3)
    return single or not hasattr(images, "__iter__")
