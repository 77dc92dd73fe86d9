"""The colours of drawn persons, and draws from a seed.

Skin has the ten published colours of the Monk Skin Tone Scale (E. Monk, 2019, https://skintone.google). All other
colours are ours; they are chosen so that what a picture shows can be told apart: hair stands out from every skin it is
drawn with, walls are never grey or skin-like, and nothing but an iris has the colour of an iris.
"""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

Colour = tuple[int, int, int]

MONK: dict[int, Colour] = {
    1: (246, 237, 228),
    2: (243, 231, 219),
    3: (247, 234, 208),
    4: (234, 218, 186),
    5: (215, 189, 150),
    6: (160, 126, 86),
    7: (130, 92, 67),
    8: (96, 65, 52),
    9: (58, 49, 42),
    10: (41, 36, 32),
}
"""Swatch -> colour: #f6ede4, #f3e7db, #f7ead0, #eadaba, #d7bd96, #a07e56, #825c43, #604134, #3a312a, #292420."""
BUCKETS: dict[str, tuple[int, ...]] = {"light": (1, 2, 3), "middle": (4, 5, 6, 7), "dark": (8, 9, 10)}
"""IRIS' skin tones as swatches (A.2.1)."""
ATTIRE: dict[str, Colour] = {
    "black": (24, 24, 28),
    "white": (248, 248, 250),
    "blue": (35, 75, 190),
    "red": (200, 35, 40),
    "green": (35, 140, 60),
    "yellow": (245, 215, 40),
    "orange": (240, 130, 25),
    "gray": (128, 128, 132),
    "brown": (105, 65, 35),
    "purple": (125, 50, 160),
}
"""The ten colour words of `fairspace.builders.iris_steer_60.plan.COLOURS`."""
HAIR: tuple[Colour, ...] = ((24, 20, 22), (74, 46, 30), (122, 70, 38), (226, 188, 100), (168, 72, 36))
GREY_HAIR: tuple[Colour, ...] = ((160, 160, 165), (206, 206, 210))
IRIS: Colour = (0, 150, 165)
_HUES = ((80, 150), (208, 295))
"""Hues of walls in degrees: greens and blues to violets, none near skin or irises."""


def draws(*key: str | int) -> np.random.RandomState:
    """A stream of random numbers that depends on the key alone."""
    digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
    # RandomState, because its streams are frozen for ever; those of a Generator may change between NumPy versions.
    return np.random.RandomState(np.frombuffer(digest[:16], dtype="<u4"))


def distance(first: Iterable[float], second: Iterable[float]) -> float:
    """Euclidean distance of two colours."""
    return float(sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5)


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """The first colour with a share in [0, 1] of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def shade(colour: Colour, share: float = 0.3) -> Colour:
    """A line of this colour stands out from the colour: darker, on very dark colours lighter."""
    return mix(colour, (0, 0, 0) if sum(colour) > 240 else (225, 200, 180), share)


def hair_colours(monk: int) -> list[Colour]:
    """The hair colours that stand out from a skin."""
    return [hair for hair in HAIR if distance(hair, MONK[monk]) > 60]


def grey_hair(monk: int) -> Colour:
    """The grey that stands out most from a skin."""
    return max(GREY_HAIR, key=lambda grey: distance(grey, MONK[monk]))


def wall(random: np.random.RandomState) -> Colour:
    """A colour of a background."""
    low, high = _HUES[random.randint(len(_HUES))]
    hue = random.randint(low, high)
    red, green, blue = colorsys.hsv_to_rgb(hue / 360, random.uniform(0.34, 0.48), random.uniform(0.58, 0.8))
    return round(red * 255), round(green * 255), round(blue * 255)


@lru_cache
def grain() -> np.typing.NDArray[np.int16]:
    """(2048, 2048) noise of a camera, standard deviation 2; pictures take a window of it."""
    return np.rint(np.random.RandomState(52).normal(0, 2, (2048, 2048))).astype(np.int16)
