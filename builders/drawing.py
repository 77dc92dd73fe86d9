"""Drawn persons and things: pictures for `--sample` and for tests, with labels that can be seen and measured.

A drawing shows its labels by conventions, so that a person can read them off, a program can measure them
(`builders/drawing_measure.py`), and a small classifier can learn them. The conventions are no claims about people: they
only have to be visible and to be the same in every drawing.

| label | drawn as |
|---|---|
| perceived gender | female: hair beside the neck, red lips, lashes; male: short hair, ears, broad brows and jaw |
| perceived age | young: hair of one colour; middle-aged: grey temples, some lines; older: grey hair, many lines |
| skin tone | the ten colours of the Monk Skin Tone Scale |
| attire | one of ten colours |
| expression | the mouth's ends above, on or below its middle |
| accessories, insignia, facial hair | glasses or a tie; a badge on the chest; a beard |
| occupation | a sign on the wall, of one shape and colour per occupation |

Irises have a colour that nothing else has, so that faces can be found.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from builders.drawing_figure import CHIN, HALF_WIDTH, TOP, Pen, Sitter, paint
from builders.drawing_palette import BUCKETS, Colour, draws, grain, hair_colours, mix, wall
from builders.tools import Box

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

    from builders.tools import Tools

_FINE = 2
"""Pictures are drawn this many times larger, then shrunk, which smooths every edge."""
_UNIT = 0.155
"""Distance between the eyes of a portrait, as a share of the picture's width."""


def sitter(gender: str, age: str, skin_tone: str, seed: int, *, monk: int | None = None, **shown: str | bool) -> Sitter:
    """A person with the labels asked for; the swatch within the skin tone and the hair are drawn from the seed.

    Args:
        gender: `female` or `male`.
        age: `young`, `middle-aged` or `older`.
        skin_tone: `light`, `middle` or `dark`.
        seed: of the draws.
        monk: a swatch, instead of one of the skin tone.
        shown: other fields of `Sitter`, and `accessories` (whether there is a tie or glasses).
    """
    random = draws("sitter", seed)
    swatches = BUCKETS[skin_tone]
    monk = swatches[random.randint(len(swatches))] if monk is None else monk
    hair = hair_colours(monk)
    colour = hair[random.randint(len(hair))]
    accessory = ("glasses", "tie")[random.randint(2)]
    if shown.pop("accessories", False):
        shown.setdefault("accessory", accessory)
    return Sitter(gender, age, monk, colour, **shown)  # type: ignore[arg-type]


def draw_face(
    gender: str,
    age: str,
    skin_tone: str,
    seed: int,
    *,
    size: int = 384,
    incomplete: bool = False,
    occupation: str = "",
    monk: int | None = None,
    attire: str = "blue",
    expression: str = "neutral",
    accessories: bool = False,
    insignia: bool = False,
    facial_hair: bool = False,
) -> Image:
    """A portrait.

    Args:
        gender: `female` or `male`.
        age: `young`, `middle-aged` or `older`.
        skin_tone: `light`, `middle` or `dark`.
        seed: decides what the labels do not: swatch, hair, place, size, wall, noise.
        size: width and height in pixels.
        incomplete: whether part of the face is out of the picture or covered.
        occupation: adds a sign.
        monk: a swatch, instead of one of the skin tone.
        attire: one of the ten colour words.
        expression: `neutral`, `smiling` or `serious`.
        accessories: glasses or a tie.
        insignia: a badge.
        facial_hair: a beard.

    Returns:
        RGB, size x size.
    """
    shown: dict[str, str | bool] = {"attire": attire, "expression": expression, "accessories": accessories}
    shown |= {"insignia": insignia, "facial_hair": facial_hair}
    who = sitter(gender, age, skin_tone, seed, monk=monk, **shown)
    return draw_sitter(who, seed, size=size, incomplete="any" if incomplete else "", occupation=occupation)


def draw_sitter(who: Sitter, seed: int, *, size: int = 384, incomplete: str = "", occupation: str = "") -> Image:
    """A portrait of a person; see `draw_face`.

    `incomplete` says how: `side` (half of the face outside the picture), `scarf` (over mouth and chin), `panel` (in
    front of one half), or `any` of these.
    """
    random = draws("portrait", seed)
    image, canvas = _room((size, size), random)
    if occupation:
        _sign(canvas, size * _FINE, occupation)
    x = size * _FINE * (0.5 + random.uniform(-0.03, 0.03))
    y = size * _FINE * (0.41 + random.uniform(-0.03, 0.02))
    unit = size * _FINE * _UNIT * random.uniform(0.92, 1.06)
    drawn = ("side", "scarf", "panel")[random.randint(3)]
    hidden = drawn if incomplete == "any" else incomplete
    sign = 1 if random.randint(2) else -1
    if hidden == "side":
        x = size * _FINE * (0.5 + sign * 0.47)
    pen = Pen(canvas, x, y, unit)
    paint(pen, who)
    cover = wall(random)
    if hidden == "scarf":
        pen.box(-1.14, 0.66, 1.14, CHIN + 0.25, cover, 0.3)
        pen.stroke([(-1.1, 0.95), (0.0, 1.05), (1.1, 0.95)], mix(cover, (0, 0, 0), 0.25), 0.05)
    elif hidden == "panel":
        pen.box(*((0.12, -9.0, 9.0, 9.0) if sign > 0 else (-9.0, -9.0, -0.12, 9.0)), cover)
    return _finish(image, random)


def draw_scene(
    people: Sequence[Sitter], seed: int, size: tuple[int, int] = (512, 384), *, apart: bool = False
) -> tuple[Image, list[Box]]:
    """Persons beside each other in a room.

    Args:
        people: from left to right; none give an empty room.
        seed: decides their places and sizes, and the room.
        size: width and height in pixels.
        apart: smaller, so that there is room between them.

    Returns:
        The picture, and the box of each person.
    """
    random = draws("scene", seed)
    image, canvas = _room(size, random)
    width, height = size
    boxes = []
    for place, who in enumerate(people):
        part = width / len(people)
        unit = min(part / (6.4 if apart else 4.6), height / 7) * random.uniform(0.9, 1.0)
        slack = max(0.0, part / 2 - (HALF_WIDTH + 0.1) * unit)
        x = (place + 0.5) * part + random.uniform(-slack, slack)
        y = (height * 0.42 + random.uniform(-0.3, 0.3) * unit) if not apart else height * random.uniform(0.35, 0.5)
        paint(Pen(canvas, x * _FINE, y * _FINE, unit * _FINE), who)
        left, top = max(0.0, x - HALF_WIDTH * unit), max(0.0, y + TOP * unit)
        boxes.append(Box(round(left), round(top), round(2 * HALF_WIDTH * unit), round(height - top)))
    return _finish(image, random), boxes


def draw_object(name: str, seed: int, size: int = 384, *, person: bool = False) -> Image:
    """A picture of things without a person.

    Args:
        name: one of `builders.drawing_things.THINGS`.
        seed: decides places and colours.
        size: width and height in pixels.
        person: whether somebody is in it after all.
    """
    from builders.drawing_things import THINGS

    random = draws("object", name, seed)
    image, canvas = _room((size, size), random)
    pen = Pen(canvas, 0.0, 0.0, size * _FINE)
    THINGS[name](pen, random)
    if person:
        groups = [(g, a, s) for g in ("female", "male") for a in ("young", "older") for s in BUCKETS]
        who = sitter(*groups[random.randint(len(groups))], seed)
        paint(Pen(canvas, size * _FINE * random.uniform(0.3, 0.7), size * 1.2, size * 0.16), who)
    return _finish(image, random)


def sample_tools() -> Tools:
    """The tools of a `--sample` build: they draw and measure drawings."""
    from builders.drawing_tools import sample_tools

    return sample_tools()


def _room(size: tuple[int, int], random: np.random.RandomState) -> tuple[Image, ImageDraw]:
    """A wall with some shapes on it, twice as large as the picture will be."""
    from PIL import Image, ImageDraw

    width, height = (side * _FINE for side in size)
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


def _sign(canvas: ImageDraw, width: int, occupation: str) -> None:
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


def _finish(image: Image, random: np.random.RandomState) -> Image:
    """Shrink to the size of the picture, and add the noise of a camera."""
    from PIL import Image

    small = np.asarray(image.reduce(_FINE), dtype=np.int16)
    height, width = small.shape[:2]
    field = grain()
    x, y = random.randint(field.shape[1] - width), random.randint(field.shape[0] - height)
    noisy = small + field[y : y + height, x : x + width, None]
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))
