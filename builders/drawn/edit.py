"""Draw the person of a drawing again with other labels, and leave the rest of the picture as it is.

All that is needed is measured from the picture (`builders/drawn/measure.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fairspace.builders.drawn.faces import Face
from fairspace.builders.drawn.figure import Sitter, paint
from fairspace.builders.drawn.palette import BUCKETS, HAIR, distance, draws, hair_colours
from fairspace.builders.drawn.pen import Pen
from fairspace.builders.drawn.prompts import Asked
from fairspace.builders.drawn.room import FINE

if TYPE_CHECKING:
    from PIL.Image import Image


def redraw(image: Image, face: Face, wanted: Asked, seed: int) -> Image:
    """The picture with its person drawn again.

    Args:
        image: a drawing.
        face: its one face, as measured.
        wanted: the labels to change.
        seed: decides what neither the picture nor the instruction says (swatch of a new skin tone, colour under grey).

    Returns:
        A new RGB picture of the same size.
    """
    from PIL import Image as Images

    before = _sitter(face, seed)
    after = _changed(before, wanted, seed)
    pixels = np.asarray(image.convert("RGB"), dtype=np.float64)
    _, old = _layer(before, face, image.size)
    paint_after, new = _layer(after, face, image.size)
    filled = _without(pixels, old > 0.02)
    done = paint_after + (1 - new[..., None]) * filled
    return Images.fromarray(np.clip(np.rint(done), 0, 255).astype(np.uint8))


def _sitter(face: Face, seed: int) -> Sitter:
    """Who was drawn, as far as it can be seen."""
    monk = face.monk or 5
    hair = hair_colours(monk)
    drawn = hair[draws("hair under grey", seed).randint(len(hair))]
    seen = face.hair if face.age != "older" else None
    nearest = min(HAIR, key=lambda colour: distance(colour, seen)) if seen else drawn
    return Sitter(
        face.gender or "female",
        face.age or "young",
        monk,
        nearest,
        face.attire or "blue",
        face.expression or "neutral",
        face.accessory.replace("none", ""),
        bool(face.insignia),
        bool(face.facial_hair),
    )


def _changed(who: Sitter, wanted: Asked, seed: int) -> Sitter:
    random = draws("edit", seed)
    tones = BUCKETS.get(wanted.skin_tone, ())
    monk = who.monk if not tones or who.monk in tones else tones[random.randint(len(tones))]
    hair = hair_colours(monk)
    accessory = who.accessory
    if wanted.accessories is not None:
        accessory = (who.accessory or ("glasses", "tie")[random.randint(2)]) if wanted.accessories else ""
    gender = wanted.gender or who.gender
    return replace(
        who,
        gender=gender,
        age=wanted.age or who.age,
        monk=monk,
        hair=who.hair if who.hair in hair else hair[random.randint(len(hair))],
        attire=wanted.attire or who.attire,
        expression=wanted.expression or who.expression,
        accessory=accessory,
        insignia=who.insignia if wanted.insignia is None else wanted.insignia,
        facial_hair=who.facial_hair and gender == "male" if wanted.facial_hair is None else wanted.facial_hair,
    )


def _layer(who: Sitter, face: Face, size: tuple[int, int]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A person alone: (height, width, 3) colours times opacity, and (height, width) opacity in [0, 1].

    Painted on black and on white; what differs between the two is not the person.
    """
    from PIL import Image, ImageDraw

    grounds = []
    for ground in ((0, 0, 0), (255, 255, 255)):
        canvas = Image.new("RGB", (size[0] * FINE, size[1] * FINE), ground)
        paint(Pen(ImageDraw.Draw(canvas), (face.x + 0.5) * FINE, (face.y + 0.5) * FINE, face.unit * FINE), who)
        grounds.append(np.asarray(canvas.reduce(FINE), dtype=np.float64))
    black, white = grounds
    return black, 1 - (white - black).mean(axis=-1) / 255


def _without(pixels: npt.NDArray[np.float64], person: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The picture with the person's pixels replaced by the median wall of their rows."""
    from scipy import ndimage

    person = ndimage.binary_dilation(person, iterations=2)
    # Every fourth column is enough for a median.
    walls = np.where(person[:, ::4, None], np.nan, pixels[:, ::4])
    hidden = person[:, ::4].all(axis=1)
    walls[hidden] = np.median(pixels[~person], axis=0) if not person.all() else pixels.mean(axis=(0, 1))
    return np.where(person[..., None], np.nanmedian(walls, axis=1)[:, None], pixels)
