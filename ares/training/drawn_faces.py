"""Drawn faces with known labels, to train and to test a small ARES without any photograph.

All six groups of age and gender meet all ten Monk swatches equally often. Some faces are incomplete, small or noisy, so
that experts err and routing has work. A drawing follows from (seed, part, number) alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fairspace.builders.drawn.drawing import draw_sitter, sitter
from fairspace.builders.drawn.palette import ATTIRE, BUCKETS, draws, wall
from fairspace.builders.iris.groups import AGES, GENDERS

if TYPE_CHECKING:
    from PIL.Image import Image

INCOMPLETE, SMALL, NOISY = 0.1, 0.1, 0.2
"""Shares of the faces."""
_NOISE = 14.0
"""Largest standard deviation of the noise, in levels of 255."""
_SWATCH = {monk: tone for tone, swatches in BUCKETS.items() for monk in swatches}
_CELLS = list(product(GENDERS, AGES, _SWATCH))


@dataclass(frozen=True)
class DrawnFace:
    """A square RGB drawing with its labels, the `monk` swatch of its skin, and whether part of the face is missing.

    Labels are of `gender`, `age`, `skin_tone` and `accessories` (`with` or `without`).
    """

    image: Image
    labels: dict[str, str]
    monk: int
    incomplete: bool


def drawn_face(part: str, number: int, *, seed: int = 0, size: int = 64) -> DrawnFace:
    """The face of a number; parts (`train`, `test`, ...) never share a draw.

    60 numbers in a row hold each group and swatch once. `size`: pixels of a side.
    """
    random = draws("drawn face", seed, part, number)
    gender, age, monk = _CELLS[number % len(_CELLS)]
    incomplete, small, noisy = random.random_sample(3) < (INCOMPLETE, SMALL, NOISY)
    accessories, insignia, beard = random.random_sample(3) < (0.5, 0.2, 0.3)
    colours = list(ATTIRE)
    who = sitter(
        gender,
        age,
        _SWATCH[monk],
        int(random.randint(2**31)),
        monk=monk,
        accessories=bool(accessories),
        insignia=bool(insignia),
        facial_hair=bool(beard and gender == "male"),
        attire=colours[random.randint(len(colours))],
        expression=("neutral", "smiling", "serious")[random.randint(3)],
    )
    inner = round(size * random.uniform(0.7, 0.95)) if small else size
    kind = ("side", "scarf", "panel")[random.randint(3)] if incomplete else ""
    image = draw_sitter(who, int(random.randint(2**31)), size=inner, incomplete=kind)
    pixels = _placed(np.asarray(image, np.float64), size, random)
    if noisy:
        pixels = pixels + random.normal(0, random.uniform(0, _NOISE), pixels.shape)
    labels = {"gender": gender, "age": age, "skin_tone": _SWATCH[monk]}
    labels["accessories"] = "with" if accessories else "without"
    return DrawnFace(_picture(pixels), labels, monk, bool(incomplete))


def _placed(
    pixels: np.typing.NDArray[np.float64], size: int, random: np.random.RandomState
) -> np.typing.NDArray[np.float64]:
    inner = len(pixels)
    if inner == size:
        return pixels
    whole = np.empty((size, size, 3))
    whole[:] = wall(random)
    x, y = random.randint(size - inner + 1, size=2)
    whole[y : y + inner, x : x + inner] = pixels
    return whole


def _picture(pixels: np.typing.NDArray[np.float64]) -> Image:
    from PIL import Image

    return Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))
