"""What a drawing shows, measured from its pixels alone: the labels of each face.

Faces are found first (`builders/drawn/faces.py`). Every label is then read at the place where
`builders/drawn/figure.py` draws it: the cheek's colour is compared with the Monk swatches, the hair beside the neck
with the hair above the temple, and so on. Nothing hidden in the file is read, so it works on any copy of a picture:
JPEG, shrunk, cropped. A part that is outside of the picture or covered gives no label.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairspace.builders.drawn.faces import NO_SKIN, Face, Look, Pixels, find_faces, is_grey
from fairspace.builders.drawn.figure import HALF_WIDTH, MOUTH, TOP
from fairspace.builders.drawn.palette import ATTIRE, MONK, Colour, distance
from fairspace.builders.engine.tools import Box

if TYPE_CHECKING:
    from PIL.Image import Image


def measure(image: Image) -> list[Face]:
    """The faces of a drawing from left to right, with their labels."""
    pixels: Pixels = np.asarray(image.convert("RGB"), dtype=np.int16)
    return [_labels(pixels, face) for face in find_faces(pixels)]


def person_box(face: Face, size: tuple[int, int]) -> Box:
    """The person that a face belongs to: shoulder to shoulder, hair to lower edge of the picture."""
    left, right = (min(max(face.x + side * HALF_WIDTH * face.unit, 0), size[0]) for side in (-1, 1))
    top = max(face.y + TOP * face.unit, 0)
    return Box(round(left), round(top), round(right - left), round(size[1] - top), 0.98 if face.side == 0 else 0.74)


def _labels(pixels: Pixels, face: Face) -> Face:
    look = Look(pixels, face)
    cheeks = look.patches(0.78, 0.52, 0.05)
    fits = [(distance(cheek, swatch), monk, cheek) for cheek in cheeks for monk, swatch in MONK.items()]
    if not fits or min(fits)[0] > NO_SKIN:
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


def _gender(look: Look, crown: Colour | None) -> str:
    """Hair on both sides of the neck, or not; a shape on the wall may look like hair on one."""
    beside = look.patches(1.38, 1.2, 0.09)
    if crown is None or not beside:
        return ""
    return "female" if max(distance(colour, crown) for colour in beside) < 42 else "male"


def _age(look: Look, crown: Colour | None) -> str:
    """Where hair is grey."""
    temples = look.patches(1.13, -0.55, 0.06)
    if crown is None or not temples:
        return ""
    if is_grey(crown):
        return "older"
    return "middle-aged" if any(map(is_grey, temples)) else "young"


def _expression(look: Look, skin: Colour) -> str:
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


def _accessory(look: Look, skin: Colour, attire: Colour | None) -> str:
    """A bridge between the eyes, or a strip below the collar."""
    bridge = look.area(0.0, -0.03, 0.05, 0.07)
    if bridge is not None and np.linalg.norm(bridge - np.array(skin), axis=-1).mean(axis=1).max() > 48:
        return "glasses"
    strip = look.patch(0.0, 3.2, 0.05)
    if attire is None or strip is None:
        return ""
    return "tie" if distance(strip, attire) > 70 else "none"


def _insignia(look: Look, attire: Colour | None) -> bool | None:
    """Something of other colours on the chest, on the right as one looks."""
    chest = look.area(0.93, 3.12, 0.28, 0.28) if look.face.side >= 0 else None
    if chest is None or attire is None:
        return None
    return bool((np.linalg.norm(chest - np.array(attire), axis=-1) > 60).mean() > 0.12)


def _beard(look: Look, skin: Colour, crown: Colour | None) -> bool | None:
    chin = look.patch(0.15, 1.6, 0.06)
    if chin is None or crown is None:
        return None
    return distance(chin, crown) < distance(chin, skin)
