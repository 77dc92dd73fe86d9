"""Where faces are in a drawing, and what colours they have at which place.

Faces are found by their irises, whose colour nothing else has. Of half a face, one eye is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairspace.builders.drawn.figure import IRIS_RADIUS
from fairspace.builders.drawn.palette import BUCKETS, MONK, Colour, distance

Pixels = npt.NDArray[np.int16]
_SMALLEST = 1.2
"""Smallest radius of an iris in pixels."""
NO_SKIN = 45.0
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


def _irises(pixels: Pixels) -> list[tuple[float, float, float]]:
    """Middle and radius of each round blob of the iris colour."""
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
    """Whether an eye alone is that of half a face: skin on its cheek, hair above it, and hair at the outer side."""
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
        """The colours on both sides, those that are seen."""
        patches = (self.patch(x, y, half, side) for side in self.sides)
        return [colour for colour in patches if colour is not None]


def is_grey(colour: Colour) -> bool:
    """Whether this may be grey hair; black hair is not."""
    return max(colour) - min(colour) < 28 and sum(colour) > 345
