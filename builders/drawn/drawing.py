"""Drawn persons and things for `--sample` and for tests, with labels that can be seen and measured.

The conventions are no claims about people: they are visible, and the same in every drawing.

| label | drawn as |
|---|---|
| perceived gender | female: hair beside the neck, red lips, lashes; male: short hair, ears, broad brows and jaw |
| perceived age | young: hair of one colour; middle-aged: grey temples, some lines; older: grey hair, many lines |
| skin tone | the ten colours of the Monk Skin Tone Scale |
| attire | one of ten colours |
| expression | the mouth's ends above, on or below its middle |
| accessories, insignia, facial hair | glasses or a tie; a badge on the chest; a beard |
| occupation | a sign on the wall, of one shape and colour per occupation |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairspace.builders.drawn.figure import CHIN, HALF_WIDTH, TOP, Sitter, paint
from fairspace.builders.drawn.palette import (
    ATTIRE,
    BUCKETS,
    FINE,
    Pen,
    draws,
    finish,
    hair_colours,
    mix,
    room,
    sign,
    wall,
)
from fairspace.builders.engine.tools import Box

if TYPE_CHECKING:
    from PIL.Image import Image


_UNIT = 0.155


def sitter(gender: str, age: str, skin_tone: str, seed: int, *, monk: int | None = None, **shown: str | bool) -> Sitter:
    """A person with these labels and fields of `Sitter` or `accessories` (bool); the seed draws the rest."""
    random = draws("sitter", seed)
    swatches = BUCKETS[skin_tone]
    monk = swatches[random.randint(len(swatches))] if monk is None else monk
    hair = hair_colours(monk)
    colour = hair[random.randint(len(hair))]
    accessory = ("glasses", "tie")[random.randint(2)]
    shown.setdefault("attire", tuple(ATTIRE)[random.randint(len(ATTIRE))])
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
    attire: str = "",
    expression: str = "neutral",
    accessories: bool = False,
    insignia: bool = False,
    facial_hair: bool = False,
) -> Image:
    """A portrait (RGB, size x size) with labels as in `Sitter`, perhaps incomplete; the seed draws the rest."""
    shown: dict[str, str | bool] = {"expression": expression, "accessories": accessories}
    shown |= {"insignia": insignia, "facial_hair": facial_hair} | ({"attire": attire} if attire else {})
    who = sitter(gender, age, skin_tone, seed, monk=monk, **shown)
    return draw_sitter(who, seed, size=size, incomplete="any" if incomplete else "", occupation=occupation)


def draw_sitter(who: Sitter, seed: int, *, size: int = 384, incomplete: str = "", occupation: str = "") -> Image:
    """A portrait; the face is `incomplete` by `side`, `scarf` or `panel`, by `any` of them, or not ('')."""
    random = draws("portrait", seed)
    image, canvas = room((size, size), random)
    if occupation:
        sign(canvas, size * FINE, occupation)
    x = size * FINE * (0.5 + random.uniform(-0.03, 0.03))
    y = size * FINE * (0.41 + random.uniform(-0.03, 0.02))
    unit = size * FINE * _UNIT * random.uniform(0.92, 1.06)
    drawn = ("side", "scarf", "panel")[random.randint(3)]
    hidden = drawn if incomplete == "any" else incomplete
    half = 1 if random.randint(2) else -1
    if hidden == "side":
        x = size * FINE * (0.5 + half * 0.47)
    pen = Pen(canvas, x, y, unit)
    paint(pen, who)
    cover = wall(random)
    if hidden == "scarf":
        pen.box(-1.14, 0.66, 1.14, CHIN + 0.25, cover, 0.3)
        pen.stroke([(-1.1, 0.95), (0.0, 1.05), (1.1, 0.95)], mix(cover, (0, 0, 0), 0.25), 0.05)
    elif hidden == "panel":
        pen.box(*((0.12, -9.0, 9.0, 9.0) if half > 0 else (-9.0, -9.0, -0.12, 9.0)), cover)
    return finish(image, random)


def draw_scene(
    people: Sequence[Sitter], seed: int, size: tuple[int, int] = (512, 384), *, apart: bool = False
) -> tuple[Image, list[Box]]:
    """Persons from left to right in a room, and their boxes; `apart` makes them smaller, with room between them."""
    random = draws("scene", seed)
    image, canvas = room(size, random)
    width, height = size
    boxes = []
    for place, who in enumerate(people):
        part = width / len(people)
        unit = min(part / (6.4 if apart else 4.6), height / 7) * random.uniform(0.9, 1.0)
        slack = max(0.0, part / 2 - (HALF_WIDTH + 0.1) * unit)
        x = (place + 0.5) * part + random.uniform(-slack, slack)
        y = (height * 0.42 + random.uniform(-0.3, 0.3) * unit) if not apart else height * random.uniform(0.35, 0.5)
        paint(Pen(canvas, x * FINE, y * FINE, unit * FINE), who)
        left, top = max(0.0, x - HALF_WIDTH * unit), max(0.0, y + TOP * unit)
        boxes.append(Box(round(left), round(top), round(2 * HALF_WIDTH * unit), round(height - top)))
    return finish(image, random), boxes


def draw_object(name: str, seed: int, size: int = 384, *, person: bool = False) -> Image:
    """A picture of one of `THINGS`, size x size pixels; with `person`, somebody is in it all the same."""
    from fairspace.builders.drawn.things import THINGS

    random = draws("object", name, seed)
    image, canvas = room((size, size), random)
    pen = Pen(canvas, 0.0, 0.0, size * FINE)
    THINGS[name](pen, random)
    if person:
        groups = [(g, a, s) for g in ("female", "male") for a in ("young", "older") for s in BUCKETS]
        who = sitter(*groups[random.randint(len(groups))], seed)
        paint(Pen(canvas, size * FINE * random.uniform(0.3, 0.7), size * 1.2, size * 0.16), who)
    return finish(image, random)
