"""The result of one prompt: an encoded image, a refusal or a failure."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from fairspace.ares.fates_ares import ImageLimits
from fairspace.builders.engine.tools import ImagePrompt
from fairspace.builders.errors import BuildError
from fairspace.submissions.errors import RunError, plain, unopened
from fairspace.submissions.running.asking.journal import Fate

if TYPE_CHECKING:
    from PIL.Image import Image

Setting = str | int | float | bool | None
KEPT = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp"}
"""Formats handed in unchanged, with their extensions; others become PNG."""
LIMITS = ImageLimits(bytes=15 * 2**20)
"""Bounds of an image, so that a shard of 64 fits into a submission; the bound on pixels is ARES'."""


@dataclass(frozen=True)
class GeneratedImage:
    """The result of one prompt: answered, refused by the model or its provider, or failed after all attempts.

    `image` has the bytes of a PNG, JPEG or WebP file that can be decoded, None unless answered; `reason` is that of a
    refusal or failure in one line, '' if answered.
    """

    image: bytes | None
    fate: Fate
    reason: str = ""


class ImageModel(ABC):
    """A maker of images. With a `concurrency` above 1, several threads call `make` at once.

    Args:
        name: name in submissions.
        revision: commit, hash, version or date; `not stated` if unknown.
        engine: software that runs the model, of the `engine_version`.
        batch: prompts of one call; images of one call may decide each other's rounding.
        concurrency: calls at the same time; changes no image.
    """

    name: str
    revision: str
    engine: str
    engine_version: str
    batch: int = 1
    concurrency: int = 1

    @abstractmethod
    def settings(self) -> Mapping[str, Setting]:
        """All that decides the images beside prompt and seed."""

    def open(self) -> None:  # noqa: B027 - most have nothing to load
        """Load the model, unless it is loaded. RunError if it cannot be: that is no failure of a prompt."""

    @abstractmethod
    def images(self, prompts: Sequence[ImagePrompt]) -> Sequence[Image | bytes | GeneratedImage]:
        """The model's image for each prompt, or its fate; any Exception is the fate of them all."""

    def make(self, prompts: Sequence[ImagePrompt]) -> list[GeneratedImage]:
        """Results, one for each prompt. RunError if further requests are of no use."""
        self.open()
        try:
            made = self.images(prompts)
        except RunError:
            raise
        except BuildError as error:
            raise unopened(error) from error
        except Exception as error:  # noqa: BLE001 - whatever breaks in a model is the fate of these prompts
            made = [failed(f"{type(error).__name__}: {error}") for _ in prompts]
        return [each if isinstance(each, GeneratedImage) else checked(each) for each in made]


def checked(picture: Image | bytes) -> GeneratedImage:
    """An image ready to hand in: decoded to the last pixel, bounded in bytes and pixels, else failed.

    PNG, JPEG and WebP files stay unchanged, metadata included, for their hash is the model's; others, and PIL images,
    become a PNG of upright RGB pixels.
    """
    from fairspace.ares.reading_ares import quiet, read_image

    with quiet():
        pixels, fate = read_image(picture, LIMITS, 0)
    if pixels is None:
        return failed(f"no usable image: {fate.reason}, {fate.detail}")
    if "first_frame" in fate.notes:
        return failed("no usable image: several frames")
    if isinstance(picture, bytes) and fate.format in KEPT:
        return GeneratedImage(picture, "answered")
    image = png(pixels)
    if len(image) > LIMITS.bytes:
        return failed(f"no usable image: {len(image)} bytes as PNG; the limit is {LIMITS.bytes}")
    return GeneratedImage(image, "answered")


def served(picture: Image | bytes) -> GeneratedImage:
    """`checked`; refused if it has one colour, as services give instead of an image that a filter withheld."""
    from PIL import Image as Images

    made = checked(picture)
    if made.image is not None:
        with Images.open(BytesIO(made.image)) as image:
            if image.convert("RGB").getcolors(1):
                return refused("an image of one colour, as services give instead of one that a filter withheld")
    return made


def png(image: Image) -> bytes:
    """An RGB image as PNG without metadata; the same bytes each time."""
    from PIL import Image as Images

    stream = BytesIO()
    # A copy without the profile, the resolution and the texts that Pillow would write too.
    Images.frombytes("RGB", image.size, image.tobytes()).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def extension(image: bytes) -> str:
    """Extension of a file that `checked` kept."""
    if image.startswith(b"\x89PNG"):
        return KEPT["PNG"]
    return KEPT["JPEG" if image.startswith(b"\xff\xd8") else "WEBP"]


def sha256(image: bytes) -> str:
    """The hash as 64 hexadecimal digits."""
    return hashlib.sha256(image).hexdigest()


def refused(reason: str) -> GeneratedImage:
    """An image that the model or its provider withheld."""
    return GeneratedImage(None, "refused", _line(reason))


def failed(reason: str) -> GeneratedImage:
    """A prompt without a usable answer."""
    return GeneratedImage(None, "failed", _line(reason))


def _line(text: str) -> str:
    """One line of untrusted text, safe for a terminal."""
    return " ".join(plain(text.encode("utf-8", "replace").decode()).split())[:300] or "not said"
