"""What a drawing shows, measured from its pixels alone: where faces are, and the labels of each.

Faces are found by their irises, whose colour nothing else has. Every label is then read at the place where
`builders/drawing_figure.py` draws it: the cheek's colour is compared with the Monk swatches, the hair beside the neck
with the hair above the temple, and so on. Nothing hidden in the file is read, so it works on any copy of a picture:
JPEG, shrunk, cropped. A part that is outside of the picture or covered gives no label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from builders.drawing_figure import HALF_WIDTH, IRIS_RADIUS, MOUTH, TOP
from builders.drawing_palette import ATTIRE, BUCKETS, MONK, Colour, distance
from builders.tools import Box

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = npt.NDArray[np.int16]
_SMALLEST = 1.2
"""Smallest radius of an iris in pixels."""
_NO_SKIN = 45.0
"""A colour this far from every swatch is no skin."""


@dataclass(frozen=True)
class Face:
    """One face; '' or None where a label cannot be seen.

    Args:
        x: the point between the eyes, in pixels.
        y: the same.
        unit: distance between the eyes, in pixels.
        side: 0 if both eyes were seen, -1 or 1 if only the left or the right one in the picture.
        gender: `female` or `male`.
        age: `young`, `middle-aged` or `older`.
        monk: nearest swatch.
        hair: colour of the hair above the forehead.
        attire: a colour word.
        expression: `neutral`, `smiling` or `serious`.
        accessory: `glasses`, `tie` or `none`.
        insignia: whether there is a badge.
        facial_hair: whether there is a beard.
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


def measure(image: Image) -> list[Face]:
    """The faces of a drawing from left to right, with their labels."""
    pixels: Pixels = np.asarray(image.convert("RGB"), dtype=np.int16)
    return [_labels(pixels, face) for face in _faces(pixels)]


def person_box(face: Face, size: tuple[int, int]) -> Box:
    """The person that a face belongs to: shoulder to shoulder, hair to lower edge of the picture."""
    left, right = (min(max(face.x + side * HALF_WIDTH * face.unit, 0), size[0]) for side in (-1, 1))
    top = max(face.y + TOP * face.unit, 0)
    return Box(round(left), round(top), round(right - left), round(size[1] - top), 0.98 if face.side == 0 else 0.74)


def _irises(pixels: Pixels) -> list[tuple[float, float, float]]:
    """Middle and radius of each round blob of the iris colour."""
    from scipy import ndimage

    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    mask = (green - red > 48) & (blue - red > 48) & (abs(green - blue) < 50)
    marked, _ = ndimage.label(mask)
    found = []
    for number, part in enumerate(ndimage.find_objects(marked), start=1):
        high, wide = (edge.stop - edge.start for edge in part)
        area = int((marked[part] == number).sum())
        if min(wide, high) < 2 * _SMALLEST or max(wide, high) > 1.5 * min(wide, high) or area < 0.45 * wide * high:
            continue
        middle = ((part[1].start + part[1].stop - 1) / 2, (part[0].start + part[0].stop - 1) / 2)
        found.append((*middle, (wide + high) / 4))
    return found


def _faces(pixels: Pixels) -> list[Face]:
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
    """Whether an eye alone is that of half a face: skin on its cheek, hair above it, and hair at the outer side."""
    look = _Look(pixels, face)
    cheek, crown, temple = look.patch(0.78, 0.52, 0.05), look.patch(0.35, -1.42, 0.09), look.patch(1.13, -0.55, 0.06)
    if cheek is None or crown is None or temple is None:
        return False
    skin = min(distance(cheek, swatch) for swatch in MONK.values()) < _NO_SKIN and distance(cheek, crown) > _NO_SKIN
    return skin and (distance(temple, crown) < _NO_SKIN or _is_grey(temple))


class _Look:
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
        """The colours on both sides, those that are seen."""
        found = (self.patch(x, y, half, side) for side in self.sides)
        return [colour for colour in found if colour is not None]


def _labels(pixels: Pixels, face: Face) -> Face:
    look = _Look(pixels, face)
    cheeks = look.patches(0.78, 0.52, 0.05)
    fits = [(distance(cheek, swatch), monk, cheek) for cheek in cheeks for monk, swatch in MONK.items()]
    if not fits or min(fits)[0] > _NO_SKIN:
        return face
    _, monk, skin = min(fits)
    crown = look.patch(0.35, -1.42, 0.09)
    attire = look.patch(0.45, 3.1, 0.08)
    word = min(ATTIRE, key=lambda name: distance(ATTIRE[name], attire)) if attire else ""
    chin = look.patches(0.6, MOUTH, 0.04)
    bare = any(distance(colour, skin) < 35 for colour in chin)
    return replace(
        face,
        monk=monk,
        hair=crown,
        gender=_gender(look, crown),
        age=_age(look, crown),
        attire=word if attire and distance(ATTIRE[word], attire) < 60 else "",
        expression=_expression(look, skin) if bare else "",
        accessory=_accessory(look, skin, attire),
        insignia=_insignia(look, attire),
        facial_hair=_beard(look, skin, crown) if bare else None,
    )


def _is_grey(colour: Colour) -> bool:
    return max(colour) - min(colour) < 28 and sum(colour) > 345


def _gender(look: _Look, crown: Colour | None) -> str:
    """Hair beside the neck, or not."""
    beside = look.patches(1.38, 1.2, 0.09)
    if crown is None or not beside:
        return ""
    return "female" if min(distance(colour, crown) for colour in beside) < 42 else "male"


def _age(look: _Look, crown: Colour | None) -> str:
    """Where hair is grey."""
    temples = look.patches(1.13, -0.55, 0.06)
    if crown is None or not temples:
        return ""
    if _is_grey(crown):
        return "older"
    return "middle-aged" if any(map(_is_grey, temples)) else "young"


def _expression(look: _Look, skin: Colour) -> str:
    """The height of the mouth's middle against that of its ends."""
    heights = []
    for x in (0.0, 0.4):
        column = look.area(look.sides[-1] * x, MOUTH + 0.05, 0.03, 0.25)
        if column is None:
            return ""
        strength = np.clip(np.linalg.norm(column - np.array(skin), axis=-1).mean(axis=1) - 20, 0, 60)
        if strength.sum() == 0:
            return ""
        heights.append(float((strength * np.arange(len(strength))).sum() / strength.sum()))
    bend = (heights[0] - heights[1]) / look.face.unit
    return "smiling" if bend > 0.055 else "serious" if bend < -0.055 else "neutral"


def _accessory(look: _Look, skin: Colour, attire: Colour | None) -> str:
    """A bridge between the eyes, or a strip below the collar."""
    bridge = look.area(0.0, -0.03, 0.05, 0.07)
    if bridge is not None and np.linalg.norm(bridge - np.array(skin), axis=-1).mean(axis=1).max() > 48:
        return "glasses"
    strip = look.patch(0.0, 3.2, 0.05)
    if attire is None or strip is None:
        return ""
    return "tie" if distance(strip, attire) > 70 else "none"


def _insignia(look: _Look, attire: Colour | None) -> bool | None:
    """Something of other colours on the chest, on the right as one looks."""
    chest = look.area(0.93, 3.12, 0.28, 0.28) if look.face.side >= 0 else None
    if chest is None or attire is None:
        return None
    return bool((np.linalg.norm(chest - np.array(attire), axis=-1) > 60).mean() > 0.12)


def _beard(look: _Look, skin: Colour, crown: Colour | None) -> bool | None:
    chin = look.patch(0.15, 1.6, 0.06)
    if chin is None or crown is None:
        return None
    return distance(chin, crown) < distance(chin, skin)
