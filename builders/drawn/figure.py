"""Drawn persons: their colours, room and painting, and where faces are found in a drawing.

The unit is the distance between the eyes, the origin is the point between them, y points down. Faces are found by their
irises, whose colour nothing else has; one eye is enough for half a face. `builders/drawn/tools.py` measures the same
places.
"""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

# Skin has the ten published colours of the Monk Skin Tone Scale (E. Monk, 2019, https://skintone.google). All other
# colours are ours: hair stands out from every skin that it is drawn with, walls are never grey or skin-like.

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


Pixels = npt.NDArray[np.int16]
_SMALLEST = 1.2
NO_SKIN = 45.0
"""Distance from every swatch at which a colour is no skin."""


@dataclass(frozen=True)
class Face:
    """One face, in pixels, with labels as in `Sitter`; '' or None where a label cannot be seen.

    (x, y) is the point between the eyes, `unit` their distance. `side` is 0 if both eyes are seen, -1 or 1 if only the
    left or the right one in the picture. `monk` is the nearest swatch, `hair` its colour above the forehead.
    """

    x: float
    y: float
    unit: float
    side: int = 0
    gender: str = ""
    age: str = ""
    monk: int | None = None
    hair: Colour | None = None
    attire: str = ""
    expression: str = ""
    accessory: str = ""
    insignia: bool | None = None
    facial_hair: bool | None = None

    @property
    def skin_tone(self) -> str:
        """`light`, `middle` or `dark`; '' without a swatch."""
        return next((bucket for bucket, swatches in BUCKETS.items() if self.monk in swatches), "")


def _irises(pixels: Pixels) -> list[tuple[float, float, float]]:
    from scipy import ndimage

    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    mask = (green - red > 48) & (blue - red > 48) & (abs(green - blue) < 50)
    marked, _ = ndimage.label(mask)
    faces = []
    for number, part in enumerate(ndimage.find_objects(marked), start=1):
        high, wide = (edge.stop - edge.start for edge in part)
        area = int((marked[part] == number).sum())
        if min(wide, high) < 2 * _SMALLEST or max(wide, high) > 1.5 * min(wide, high) or area < 0.45 * wide * high:
            continue
        middle = ((part[1].start + part[1].stop - 1) / 2, (part[0].start + part[0].stop - 1) / 2)
        faces.append((*middle, (wide + high) / 4))
    return faces


def find_faces(pixels: Pixels) -> list[Face]:
    """The faces of a picture (rows, columns, 3) from left to right, without labels."""
    irises = sorted(_irises(pixels))
    faces, paired = [], set[int]()
    for i, (x, y, radius) in enumerate(irises):
        for j, (other_x, other_y, other) in enumerate(irises[i + 1 :], start=i + 1):
            apart = (other_x - x) * 2 * IRIS_RADIUS / (radius + other)
            level = abs(other_y - y) < 0.2 * (other_x - x)
            if not {i, j} & paired and level and 0.7 < apart < 1.4 and 0.6 < other / radius < 1.6:
                faces.append(Face((x + other_x) / 2, (y + other_y) / 2, other_x - x))
                paired |= {i, j}
    for i, (x, y, radius) in enumerate(irises):
        if i not in paired and radius > 3:
            unit = radius / IRIS_RADIUS
            halves = [Face(x - side * unit / 2, y, unit, side) for side in (-1, 1)]
            faces += [half for half in halves if _is_half(pixels, half)][:1]
    return sorted(faces, key=lambda face: face.x)


def _is_half(pixels: Pixels, face: Face) -> bool:
    """Whether a single eye belongs to half a face: skin on the cheek, hair above and at the outer side."""
    look = Look(pixels, face)
    cheek, crown, temple = look.patch(0.78, 0.52, 0.05), look.patch(0.35, -1.42, 0.09), look.patch(1.13, -0.55, 0.06)
    if cheek is None or crown is None or temple is None:
        return False
    skin = min(distance(cheek, swatch) for swatch in MONK.values()) < NO_SKIN and distance(cheek, crown) > NO_SKIN
    return skin and (distance(temple, crown) < NO_SKIN or is_grey(temple))


class Look:
    """Looks at places of a face in its own units; `x` counts from the nose to the side that is seen."""

    def __init__(self, pixels: Pixels, face: Face) -> None:
        self.pixels, self.face = pixels, face
        self.sides = (face.side,) if face.side else (-1, 1)

    def area(self, x: float, y: float, wide: float, high: float) -> Pixels | None:
        """(rows, columns, 3) around a place; None where more than its edge is out of the picture."""
        face, (height, width) = self.face, self.pixels.shape[:2]
        left, right = (face.x + (x + side * wide) * face.unit for side in (-1, 1))
        top, bottom = (face.y + (y + side * high) * face.unit for side in (-1, 1))
        if left < -1 or top < -1 or right > width or bottom > height:
            return None
        column, row = max(0, round(left)), max(0, round(top))
        return self.pixels[row : max(row + 1, round(bottom) + 1), column : max(column + 1, round(right) + 1)]

    def patch(self, x: float, y: float, half: float, side: int = 0) -> Colour | None:
        """The median colour of a square; on the seen side unless `side` names one."""
        seen = self.area(x * (side or self.sides[-1]), y, half, half)
        if seen is None or seen.size == 0:
            return None
        red, green, blue = np.median(seen.reshape(-1, 3), axis=0)
        return int(red), int(green), int(blue)

    def patches(self, x: float, y: float, half: float) -> list[Colour]:
        """The colours on both sides, as far as they are seen."""
        patches = (self.patch(x, y, half, side) for side in self.sides)
        return [colour for colour in patches if colour is not None]


def is_grey(colour: Colour) -> bool:
    """Whether this may be grey hair; black hair is not."""
    return max(colour) - min(colour) < 28 and sum(colour) > 345


TOP, CHIN, SHOULDERS, HALF_WIDTH = -1.75, 1.75, 2.25, 2.1
"""Ends of a person's hair, face and shoulders, and the shoulders' reach to each side."""
MOUTH = 1.12
IRIS_RADIUS = 0.16


@dataclass(frozen=True)
class Sitter:
    """The person to draw.

    `gender` is `female` or `male`; `age` `young`, `middle-aged` or `older`; `monk` the swatch of the skin, 1 to 10;
    `hair` its colour before it greys; `attire` a colour word; `expression` `neutral`, `smiling` or `serious`;
    `accessory` `glasses`, `tie` or ''.
    """

    gender: str
    age: str
    monk: int
    hair: Colour
    attire: str = "blue"
    expression: str = "neutral"
    accessory: str = ""
    insignia: bool = False
    facial_hair: bool = False


def paint(pen: Pen, who: Sitter) -> None:
    """Draw a person from the hair to the lower edge of the canvas."""
    skin = MONK[who.monk]
    grey = grey_hair(who.monk)
    crown = grey if who.age == "older" else who.hair
    sides = who.hair if who.age == "young" else grey
    if who.gender == "female":
        _long_hair(pen, crown, sides)
    pen.box(-0.55, 1.2, 0.55, 2.7, mix(skin, shade(skin), 0.35), 0.1)
    _attire(pen, who)
    _head(pen, who, skin)
    if who.facial_hair:
        _beard(pen, crown)
    _lines(pen, who.age, shade(skin, 0.42))
    _features(pen, who, skin)
    _hair(pen, who, crown, sides)
    if who.accessory == "glasses":
        frame = max(((15, 15, 20), (250, 200, 60)), key=lambda colour: distance(colour, skin))
        for x in (-0.5, 0.5):
            pen.ring(x, 0.0, 0.4, frame, 0.075)
        pen.stroke([(-0.12, -0.03), (0.12, -0.03)], frame, 0.075)


def _long_hair(pen: Pen, crown: Colour, sides: Colour) -> None:
    pen.oval(0.0, -0.35, 1.55, 1.4, crown)
    for side in (-1, 1):
        pen.shape([(side * 0.3, -0.6), (side * 1.55, -0.5), (side * 1.72, 2.5), (side * 0.5, 2.7)], crown)
        pen.shape([(side * 1.02, -0.7), (side * 1.42, -0.7), (side * 1.5, 0.6), (side * 1.1, 0.6)], sides)


def _attire(pen: Pen, who: Sitter) -> None:
    colour = ATTIRE[who.attire]
    edge = shade(colour, 0.35)
    shoulders = [(-0.6, SHOULDERS), (-1.7, 2.5), (-HALF_WIDTH, 3.1), (-HALF_WIDTH, 40.0)]
    pen.shape([*shoulders, *((-x, y) for x, y in reversed(shoulders))], colour)
    pen.stroke([(-1.45, 3.3), (-1.45, 9.0)], edge, 0.05)
    pen.stroke([(1.45, 3.3), (1.45, 9.0)], edge, 0.05)
    pen.shape([(-0.6, SHOULDERS - 0.05), (0.0, 2.85), (0.6, SHOULDERS - 0.05)], mix(MONK[who.monk], (0, 0, 0), 0.08))
    pen.stroke([(-0.62, SHOULDERS - 0.05), (0.0, 2.9), (0.62, SHOULDERS - 0.05)], edge, 0.12)
    if who.accessory == "tie":
        tie = (190, 20, 60) if distance(colour, (190, 20, 60)) > 110 else (250, 225, 90)
        pen.shape([(-0.17, 2.72), (0.17, 2.72), (0.1, 3.0), (0.27, 4.6), (0.0, 4.9), (-0.27, 4.6), (-0.1, 3.0)], tie)
    if who.insignia:
        pen.oval(0.93, 3.12, 0.31, 0.31, (20, 25, 60))
        pen.oval(0.93, 3.12, 0.26, 0.26, (250, 250, 250))
        star = [(0.0, -0.24), (0.07, -0.07), (0.23, -0.07), (0.1, 0.04), (0.15, 0.2)]
        star += [(0.0, 0.1), *((-x, y) for x, y in reversed(star[1:]))]
        pen.shape([(0.93 + x, 3.12 + y) for x, y in star], (205, 30, 40))


def _head(pen: Pen, who: Sitter, skin: Colour) -> None:
    if who.gender == "male":
        for side in (-1, 1):
            pen.oval(side * 1.2, 0.2, 0.17, 0.3, mix(skin, shade(skin), 0.3))
        pen.oval(0.0, -0.1, 1.17, 1.35, skin)
        pen.box(-1.12, -0.1, 1.12, CHIN, skin, 0.8)
    else:
        pen.oval(0.0, -0.1, 1.12, 1.3, skin)
        pen.oval(0.0, 0.35, 1.08, CHIN - 0.35, skin)


def _beard(pen: Pen, colour: Colour) -> None:
    jaw = [(-1.12, 0.62), (-1.1, 1.1), (-0.85, 1.55), (-0.45, 1.8)]
    inner = [(-0.95, 0.62), (-0.86, 1.05), (-0.6, 1.38), (-0.3, 1.46)]
    pen.shape([*jaw, *((-x, y) for x, y in reversed(jaw)), *((-x, y) for x, y in inner), *reversed(inner)], colour)
    lip = [(0.0, 0.72), (0.3, 0.74), (0.56, 0.9), (0.3, 0.9), (0.0, 0.86)]
    pen.shape([*lip, *((-x, y) for x, y in reversed(lip))], colour)


def _lines(pen: Pen, age: str, line: Colour) -> None:
    if age == "young":
        return
    for side in (-1, 1):
        pen.stroke([(side * 0.36, 0.5), (side * 0.56, 0.72), (side * 0.66, 0.98)], line, 0.05)
    heights = (-0.52,) if age == "middle-aged" else (-0.46, -0.58, -0.7)
    for y in heights:
        pen.stroke([(-0.5, y + 0.02), (0.0, y - 0.03), (0.5, y + 0.02)], line, 0.045)
    if age == "older":
        for side in (-1, 1):
            pen.stroke([(side * 0.3, 0.3), (side * 0.5, 0.37), (side * 0.72, 0.3)], line, 0.05)
            for y in (-0.14, 0.0, 0.14):
                pen.stroke([(side * 0.88, y * 0.6), (side * 1.04, y * 1.4)], line, 0.04)


def _features(pen: Pen, who: Sitter, skin: Colour) -> None:
    female = who.gender == "female"
    ink = (20, 14, 16)
    brow = mix(who.hair, (10, 8, 8), 0.35) if distance(who.hair, skin) > 90 else shade(skin, 0.6)
    frown = 0.13 if who.expression == "serious" else 0.0
    for side in (-1, 1):
        if female:
            pen.oval(side * 0.5, -0.03, 0.31, 0.22, ink)
            pen.stroke([(side * 0.72, -0.1), (side * 0.88, -0.2)], ink, 0.06)
        pen.oval(side * 0.5, 0.0, 0.29, 0.19, (252, 252, 252))
        pen.oval(side * 0.5, 0.0, IRIS_RADIUS, IRIS_RADIUS, IRIS)
        pen.oval(side * 0.5, 0.0, 0.06, 0.06, ink)
        ends = [(side * 0.22, -0.3 + frown), (side * 0.5, -0.36), (side * 0.82, -0.29 - frown / 2)]
        pen.stroke(ends, brow, 0.06 if female else 0.12)
    pen.stroke([(0.06, 0.1), (0.17, 0.55), (-0.08, 0.6)], shade(skin, 0.38), 0.06)
    _mouth(pen, who, skin)


def _mouth(pen: Pen, who: Sitter, skin: Colour) -> None:
    bend = {"smiling": -0.24, "neutral": 0.0, "serious": 0.2}[who.expression]
    thick, lips = (0.12, (196, 24, 58)) if who.gender == "female" else (0.07, mix(shade(skin, 0.5), (150, 70, 66), 0.4))
    # A parabola whose ends lie `bend` below its middle, the middle of the mouth at its mean height.
    curve = [(x / 10, MOUTH + bend * ((x / 5) ** 2 - 0.4)) for x in range(-5, 6)]
    if who.expression == "smiling":
        pen.shape([*curve, (0.3, MOUTH + 0.18), (0.0, MOUTH + 0.24), (-0.3, MOUTH + 0.18)], lips)
        upper = [(x * 0.8, y + 0.02) for x, y in curve]
        pen.shape([*upper, (0.22, MOUTH + 0.14), (0.0, MOUTH + 0.17), (-0.22, MOUTH + 0.14)], (255, 255, 255))
    pen.stroke(curve, lips, 2 * thick if who.expression != "smiling" else thick)
    if who.expression != "smiling":
        pen.stroke([(x * 0.9, y) for x, y in curve], mix(lips, (15, 5, 8), 0.6), 0.04)


def _hair(pen: Pen, who: Sitter, crown: Colour, sides: Colour) -> None:
    female = who.gender == "female"
    line = -0.85 if female or who.age != "older" else -1.08
    wide = 1.3 if female else 1.24
    over = [(-wide, -0.55), (-1.24, -1.1), (-0.9, -1.5), (-0.4, -1.72), (0.0, TOP)]
    outer = [*over, *((-x, y) for x, y in reversed(over[:-1]))]
    inner = [(1.02, -0.5), (0.86, line + 0.12), (0.35, line), (-0.3, line - 0.04), (-0.86, line + 0.12), (-1.02, -0.5)]
    pen.shape([*outer, *inner], crown)
    for side in (-1, 1):
        end = 0.45 if female else 0.12
        temple = [(side * wide, -0.85), (side * 1.0, -0.8), (side * 1.0, -0.2), (side * 1.12, end)]
        pen.shape([*temple, (side * (wide + 0.02), end)], sides)
    for x in (-0.7, -0.25, 0.2, 0.65):
        pen.stroke([(x * 0.5, -1.66), (x, -1.2)], mix(crown, shade(crown), 0.5), 0.03)
