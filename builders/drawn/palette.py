"""The colours of drawn persons, draws from a seed, the pen, and the room around a person.

Skin has the ten published colours of the Monk Skin Tone Scale (E. Monk, 2019, https://skintone.google). All other
colours are ours: hair stands out from every skin it is drawn with, walls are never grey or skin-like, and only irises
have the colour of irises.
"""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw


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
    """A colour for lines on this one: darker, or lighter on very dark colours."""
    return mix(colour, (0, 0, 0) if sum(colour) > 240 else (225, 200, 180), share)


def hair_colours(monk: int) -> list[Colour]:
    """The hair colours that stand out from a skin."""
    return [hair for hair in HAIR if distance(hair, MONK[monk]) > 60]


def grey_hair(monk: int) -> Colour:
    """The grey that stands out most from a skin."""
    return max(GREY_HAIR, key=lambda grey: distance(grey, MONK[monk]))


def wall(random: np.random.RandomState) -> Colour:
    """A background colour."""
    low, high = _HUES[random.randint(len(_HUES))]
    hue = random.randint(low, high)
    red, green, blue = colorsys.hsv_to_rgb(hue / 360, random.uniform(0.34, 0.48), random.uniform(0.58, 0.8))
    return round(red * 255), round(green * 255), round(blue * 255)


@lru_cache
def grain() -> np.typing.NDArray[np.int16]:
    """(2048, 2048) camera noise, standard deviation 2; pictures take a window of it."""
    return np.rint(np.random.RandomState(52).normal(0, 2, (2048, 2048))).astype(np.int16)


Point = tuple[float, float]


class Pen:
    """Draws in units of a figure: (x, y) is the point between the eyes in pixels, `unit` the distance between them."""

    def __init__(self, canvas: ImageDraw, x: float, y: float, unit: float) -> None:
        self.canvas, self.x, self.y, self.unit = canvas, x, y, unit

    def at(self, points: Sequence[Point]) -> list[Point]:
        """Points in pixels."""
        return [(self.x + x * self.unit, self.y + y * self.unit) for x, y in points]

    def oval(self, x: float, y: float, wide: float, high: float, fill: Colour) -> None:
        """An ellipse by its middle and half axes."""
        self.canvas.ellipse(self.at([(x - wide, y - high), (x + wide, y + high)]), fill=fill)

    def shape(self, points: Sequence[Point], fill: Colour) -> None:
        """A polygon."""
        self.canvas.polygon(self.at(points), fill=fill)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour, round_: float = 0.0) -> None:
        """A rectangle with round corners."""
        edges = self.at([(left, top), (right, bottom)])
        self.canvas.rounded_rectangle(edges, radius=round_ * self.unit, fill=fill)

    def stroke(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        """A line through points."""
        self.canvas.line(self.at(points), fill=fill, width=max(1, round(width * self.unit)), joint="curve")

    def ring(self, x: float, y: float, radius: float, fill: Colour, width: float) -> None:
        """A circle's edge."""
        edges = self.at([(x - radius, y - radius), (x + radius, y + radius)])
        self.canvas.ellipse(edges, outline=fill, width=max(1, round(width * self.unit)))


FINE = 2
"""Factor by which pictures are drawn larger, then shrunk: it smooths edges."""


def room(size: tuple[int, int], random: np.random.RandomState) -> tuple[Image, ImageDraw]:
    """A wall with some shapes on it, `FINE` times as large as the picture."""
    from PIL import Image, ImageDraw

    width, height = (side * FINE for side in size)
    colour = wall(random)
    image = Image.new("RGB", (width, height), colour)
    canvas = ImageDraw.Draw(image)
    for _ in range(random.randint(2, 6)):
        tint = mix(colour, ((255, 255, 255), (0, 0, 0))[random.randint(2)], random.uniform(0.04, 0.14))
        x, y = random.uniform(0, width), random.uniform(0, height)
        wide, high = random.uniform(0.05, 0.3, 2) * width
        draw = canvas.rectangle if random.randint(2) else canvas.ellipse
        draw((x - wide, y - high, x + wide, y + high), fill=tint)
    floor = height * random.uniform(0.82, 0.95)
    canvas.rectangle((0, floor, width, height), fill=mix(colour, (0, 0, 0), 0.25))
    return image, canvas


def sign(canvas: ImageDraw, width: int, occupation: str) -> None:
    """A sign in the upper left corner: one of four shapes in one of eleven colours, on a white or dark plate."""
    random = draws("sign", occupation)
    side = width * 0.13
    edge = side * 0.2
    plate: Colour = ((250, 250, 250), (40, 40, 60))[random.randint(2)]
    canvas.rectangle((edge, edge, edge + side, edge + side), fill=plate)
    step = random.randint(11)
    # Hues 30 degrees apart, but for the one of irises.
    red, green, blue = colorsys.hsv_to_rgb((step + (step > 5)) / 12 + 0.03, 0.9, 0.85)
    fill = (round(red * 255), round(green * 255), round(blue * 255))
    low, high = edge + side * 0.18, edge + side * 0.82
    middle = (low + high) / 2
    shape = random.randint(4)
    if shape == 0:
        canvas.ellipse((low, low, high, high), fill=fill)
    elif shape == 1:
        canvas.rectangle((low, low, high, high), fill=fill)
    elif shape == 2:
        canvas.polygon([(middle, low), (high, high), (low, high)], fill=fill)
    else:
        canvas.polygon([(middle, low), (high, middle), (middle, high), (low, middle)], fill=fill)


def finish(image: Image, random: np.random.RandomState) -> Image:
    """Shrink to the size of the picture and add camera noise."""
    from PIL import Image

    small = np.asarray(image.reduce(FINE), dtype=np.int16)
    height, width = small.shape[:2]
    field = grain()
    x, y = random.randint(field.shape[1] - width), random.randint(field.shape[0] - height)
    noisy = small + field[y : y + height, x : x + width, None]
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))
