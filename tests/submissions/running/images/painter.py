"""A user's own functions that make images, right and wrong, and small plans for them."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Images
from PIL.Image import Image

from fairspace.builders.engine.tools import ImagePrompt
from fairspace.submissions.benchmarks.task import Ask

FILE = str(Path(__file__))


def plan(count: int = 150, *, refused: Sequence[int] = (), failed: Sequence[int] = ()) -> list[Ask]:
    """Five images of each prompt; `refused` and `failed` are places whose prompt makes `paint` do so."""
    words = {**dict.fromkeys(refused, "refuse"), **dict.fromkeys(failed, "fail")}
    return [
        Ask("generation_neutral", f"neutral/{place // 5}", place % 5, f"{words.get(place, 'paint')} {place // 5}")
        for place in range(count)
    ]


def picture(prompt: ImagePrompt, size: int = 16) -> Image:
    noise = np.random.default_rng(prompt.seed).integers(0, 256, (size, size, 3), np.uint8)
    return Images.fromarray(noise)


def paint(prompts: list[ImagePrompt]) -> list[Image | None]:
    """A picture for each, None for a refusal. ValueError for a batch with an impossible prompt."""
    if any(prompt.text.startswith("fail") for prompt in prompts):
        raise ValueError("no paint left")
    return [None if prompt.text.startswith("refuse") else picture(prompt) for prompt in prompts]


paint.settings = {"strokes": 3}  # type: ignore[attr-defined]


def encode(prompts: list[ImagePrompt]) -> tuple[bytes, ...]:
    """JPEG files, or the kind that a prompt names."""
    return tuple(encoded(picture(prompt), prompt.text) for prompt in prompts)


def encoded(image: Image, form: str = "JPEG") -> bytes:
    """A file of a format; `half` is the first half of one, `text` no image."""
    stream = io.BytesIO()
    image.save(stream, form if form in ("PNG", "JPEG", "WEBP", "GIF", "BMP") else "JPEG")
    data = stream.getvalue()
    return {"half": data[: len(data) // 2], "text": b"no image"}.get(form, data)


def few(prompts: list[ImagePrompt]) -> list[Any]:
    return [picture(prompt) for prompt in prompts[1:]]


def paths(prompts: list[ImagePrompt]) -> list[Any]:
    return ["picture.png" for _ in prompts]


def endless(prompts: list[ImagePrompt]) -> Any:
    return (picture(prompt) for prompt in prompts)
