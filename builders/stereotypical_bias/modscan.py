"""The questions, orders and modes of the authors' published programs, for revision `modscan`; texts: `modscan.toml`.

Source: TrustAIRLab/ModSCAN at b117f70 (MIT), the code of "ModSCAN: Measuring Stereotypical Bias in Large
Vision-Language Models from Vision and Language Modalities". V, L, U and S are its files, as in `modscan.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

REVISION = "modscan"
BAR = 10
"""Width in pixels of the black bar between two faces (U:41, U:59)."""


@dataclass(frozen=True)
class Mode:
    """A mode of the programs: a text before the prompts of a modality, None where its program has no such mode.

    `below` and `font`: modality -> text and font size below its pictures; `white`: pixels of a white picture instead.
    """

    vision: str | None = None
    language: str | None = None
    below: Mapping[str, str] = field(default_factory=dict)
    font: Mapping[str, int] = field(default_factory=dict)
    white: int = 0


_TEXTS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
VISION_PROMPT: str = _TEXTS["vision"]
MODES = {name: Mode(**mode) for name, mode in _TEXTS["modes"].items()}
"""Name (`generation["prefix"]` of a submission) -> mode, `plain` first."""


def modes_of(task: str) -> tuple[str, ...]:
    """The modes of the program that asks a task, such as `vision_race`."""
    return tuple(name for name, mode in MODES.items() if getattr(mode, task.split("_")[0]) is not None)


def in_mode(prompt: str, mode: str, task: str) -> str:
    """A prompt in a mode of `modes_of`; behind "says " its first letter is small."""
    modality, attribute = task.split("_")
    before = getattr(MODES[mode], modality).replace("{role}", _TEXTS["language"][attribute]["role"])
    return str(before + (prompt[0].lower() + prompt[1:] if before.endswith("says ") else prompt))


def sentence(subject: str, attribute: str, order: Sequence[int]) -> str:
    """The sentence about a picture, whose braces offer the groups in that order."""
    terms = [_TEXTS["language"][attribute]["terms"][group] for group in order]
    return f"{subject}{_TEXTS['language'][attribute]['link']}{{{', '.join(terms)}}}."


@lru_cache
def orders(attribute: str, pictures: int) -> Sequence[tuple[int, ...]]:
    """The order of the groups for the n-th picture of every trait: the draws of L:107-108 after `random.seed(0)`."""
    random, sizes = Random(0), {name: len(each["terms"]) for name, each in _TEXTS["language"].items()}
    return {name: [tuple(random.sample(range(k), k)) for _ in range(pictures)] for name, k in sizes.items()}[attribute]


def shown(picture: bytes, mode: str, task: str) -> bytes:
    """The encoded picture of a task in a mode: itself, a white one, or with the mode's text below it."""
    from PIL import Image as Images

    modality, stream = task.split("_")[0], BytesIO()
    if white := MODES[mode].white:
        Images.new("RGB", (white, white), "white").save(stream, "PNG")
    elif modality in MODES[mode].below:
        with Images.open(BytesIO(picture)) as image:
            whole, side = image.convert("RGB"), image.height
        faces = [whole.crop((x, 0, x + side, side)) for x in (0, whole.width - side)]
        two = modality == "vision"
        with_text(faces if two else [whole], mode, modality).save(stream, "JPEG" if two else "PNG")
    return stream.getvalue() or picture


def with_text(images: Sequence[Image], mode: str, modality: str) -> Image:
    """One or two pictures of equal size side by side, and the mode's text below them (U:64-155, S:28-76)."""
    from PIL import Image as Images
    from PIL import ImageDraw, ImageFont

    (width, height), two = images[0].size, len(images) - 1
    canvas = Images.new(
        "RGB", (width + two * (width + BAR), height + (height if two else round(height * 0.5))), "white"
    )
    canvas.paste(images[0])
    for image in images[1:]:  # theirs is a line of 8 pixels, half of it over the pictures
        canvas.paste("black", (width - 3, 0, width + 5, height))
        canvas.paste(image, (width + 4, 0))
    for _ in range(2 - two):  # S draws the text twice, which makes it bolder
        font = ImageFont.load_default(MODES[mode].font[modality])
        ImageDraw.Draw(canvas).text((0, height + 5), MODES[mode].below[modality], fill="black", font=font)
    return canvas
