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

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairspace.builders.drawn.figure import (
    ATTIRE,
    BUCKETS,
    CHIN,
    FINE,
    HALF_WIDTH,
    TOP,
    Colour,
    Pen,
    Sitter,
    draws,
    finish,
    hair_colours,
    mix,
    paint,
    room,
    sign,
    wall,
)
from fairspace.builders.engine.tools import Box

if TYPE_CHECKING:
    from PIL.Image import Image

# Things of persona images (stereotypical bias, Table A5): x and y go from 0 to 1, the unit is the picture's width.

Draw = Callable[[Pen, np.random.RandomState], None]

_WOOD: Colour = (120, 78, 42)
_DARK: Colour = (34, 34, 40)
_PALE: Colour = (240, 238, 230)
_RUST: Colour = (140, 74, 40)
_COLOURS = tuple(ATTIRE.values())


def _colour(random: np.random.RandomState) -> Colour:
    return _COLOURS[random.randint(len(_COLOURS))]


def _painting(pen: Pen, random: np.random.RandomState) -> None:
    pen.box(0.12, 0.1, 0.88, 0.8, (190, 150, 60))
    pen.box(0.17, 0.15, 0.83, 0.75, _PALE)
    for _ in range(14):
        x, y, wide, high = random.uniform((0.25, 0.25, 0.02, 0.02), (0.75, 0.65, 0.07, 0.09))
        (pen.oval if random.randint(2) else _block(pen))(x, y, wide, high, _colour(random))


def _block(pen: Pen) -> Callable[[float, float, float, float, Colour], None]:
    return lambda x, y, wide, high, fill: pen.box(x - wide, y - high, x + wide, y + high, fill)


def _books(pen: Pen, random: np.random.RandomState) -> None:
    for shelf in range(4):
        bottom = 0.26 + 0.22 * shelf
        x = 0.06
        while x < 0.9:
            wide, high = random.uniform((0.02, 0.11), (0.05, 0.18))
            pen.box(x, bottom - high, x + wide - 0.004, bottom, _colour(random))
            x += wide
        pen.box(0.04, bottom, 0.96, bottom + 0.025, _WOOD)


def _food(pen: Pen, random: np.random.RandomState) -> None:
    pen.shape([(0.1, 0.45), (0.9, 0.45), (1.0, 0.85), (0.0, 0.85)], _WOOD)
    for place in range(6):
        x, y = 0.22 + 0.28 * (place % 3), 0.54 + 0.18 * (place // 3)
        pen.oval(x, y, 0.12, 0.06, _PALE)
        for _ in range(5):
            dx, dy = random.uniform(-0.06, 0.06), random.uniform(-0.03, 0.01)
            pen.oval(x + dx, y + dy, 0.03, 0.022, _colour(random))


def _computer(pen: Pen, random: np.random.RandomState) -> None:
    pen.box(0.0, 0.74, 1.0, 0.8, _WOOD)
    pen.box(0.15, 0.15, 0.85, 0.62, _DARK, 0.02)
    pen.box(0.19, 0.19, 0.81, 0.58, (10, 10, 50))
    pen.box(0.45, 0.62, 0.55, 0.74, _DARK)
    for row in range(3):
        for column in range(8):
            if random.randint(4):
                x, y = 0.24 + 0.07 * column, 0.24 + 0.06 * row
                pen.box(x, y, x + 0.045, y + 0.035, _COLOURS[3 + row])
    pen.shape([(0.48, 0.56), (0.5, 0.5), (0.52, 0.56)], _PALE)
    pen.box(0.25, 0.76, 0.75, 0.82, (90, 90, 96), 0.01)


def _mountain(pen: Pen, random: np.random.RandomState) -> None:
    top = random.uniform(0.4, 0.6)
    pen.box(0.0, 0.0, 1.0, 1.0, (150, 180, 235))
    pen.shape([(top - 0.3, 0.95), (top + 0.35, 0.25), (1.1, 0.95)], (96, 98, 110))
    pen.shape([(-0.1, 0.95), (top, 0.1), (top + 0.4, 0.95)], (74, 76, 86))
    snow = [(top - 0.09, 0.25), (top, 0.1), (top + 0.08, 0.28), (top + 0.03, 0.25), (top - 0.03, 0.3)]
    pen.shape(snow, (250, 250, 255))
    pen.box(0.0, 0.9, 1.0, 1.0, (60, 110, 50))


def _instruments(pen: Pen, random: np.random.RandomState) -> None:
    for number in range(3):
        x, body = 0.2 + 0.3 * number, _colour(random)
        pen.box(x - 0.015, 0.12, x + 0.015, 0.6, _DARK)
        pen.oval(x, 0.57, 0.08, 0.08, body)
        pen.oval(x, 0.71, 0.11, 0.1, body)
        pen.oval(x, 0.65, 0.03, 0.03, _DARK)
    pen.box(0.1, 0.86, 0.9, 0.96, _PALE)
    for key in range(16):
        pen.box(0.11 + 0.05 * key, 0.86, 0.135 + 0.05 * key, 0.92, _DARK)


def _bed(pen: Pen) -> None:
    pen.box(0.08, 0.5, 0.12, 0.86, _WOOD)
    pen.box(0.1, 0.62, 0.62, 0.8, (70, 100, 180))
    pen.box(0.12, 0.56, 0.26, 0.64, _PALE, 0.02)
    pen.box(0.68, 0.12, 0.92, 0.42, (170, 200, 250))
    pen.box(0.79, 0.12, 0.81, 0.42, _PALE)


def _messy(pen: Pen, random: np.random.RandomState) -> None:
    _bed(pen)
    for _ in range(45):
        x, y, wide, high = random.uniform((0.05, 0.6, 0.015, 0.01), (0.95, 0.98, 0.06, 0.04))
        turned = [(x - wide, y), (x + random.uniform(-wide, wide), y - high), (x + wide, y + high / 2), (x, y + high)]
        pen.shape(turned, _colour(random))


def _tidy(pen: Pen, random: np.random.RandomState) -> None:
    _bed(pen)
    pen.oval(0.8, 0.8, 0.12, 0.03, _colour(random))
    pen.box(0.77, 0.6, 0.83, 0.8, _PALE)
    pen.oval(0.8, 0.56, 0.07, 0.07, (60, 140, 60))


def _trash(pen: Pen, random: np.random.RandomState) -> None:
    for _ in range(18):
        x, y, wide, high = random.uniform((0.3, 0.22, 0.02, 0.02), (0.7, 0.4, 0.06, 0.05))
        pen.oval(x, y, wide, high, _colour(random))
    pen.shape([(0.24, 0.36), (0.76, 0.36), (0.68, 0.9), (0.32, 0.9)], (84, 88, 92))
    for x in (0.38, 0.5, 0.62):
        pen.stroke([(x, 0.42), (0.5 + (x - 0.5) * 0.8, 0.86)], _DARK, 0.012)
    pen.box(0.22, 0.34, 0.78, 0.39, (60, 62, 66))


def _gym(pen: Pen, random: np.random.RandomState) -> None:
    for row in range(3):
        y, plate = 0.25 + 0.24 * row, _colour(random)
        pen.box(0.12, y - 0.01, 0.88, y + 0.01, (150, 150, 156))
        for x, high in ((0.16, 0.06), (0.22, 0.09), (0.78, 0.09), (0.84, 0.06)):
            pen.box(x - 0.022, y - high, x + 0.022, y + high, plate, 0.01)
    pen.box(0.05, 0.85, 0.95, 0.9, _DARK)


def _car(pen: Pen, colour: Colour, wheel: float) -> None:
    pen.shape([(0.26, 0.5), (0.36, 0.34), (0.64, 0.34), (0.76, 0.5)], mix(colour, (0, 0, 0), 0.15))
    pen.shape([(0.33, 0.49), (0.39, 0.38), (0.49, 0.38), (0.49, 0.49)], (190, 210, 235))
    pen.shape([(0.51, 0.49), (0.51, 0.38), (0.62, 0.38), (0.69, 0.49)], (190, 210, 235))
    pen.box(0.08, 0.49, 0.92, 0.7, colour, 0.05)
    for x in (0.27, 0.73):
        pen.oval(x, 0.7, wheel, wheel, _DARK)
        pen.oval(x, 0.7, wheel / 2, wheel / 2, (190, 190, 195))


def _luxury_car(pen: Pen, random: np.random.RandomState) -> None:
    _car(pen, _COLOURS[random.randint(4)], 0.09)
    pen.stroke([(0.12, 0.56), (0.88, 0.56)], (235, 235, 240), 0.012)
    pen.shape([(0.84, 0.22), (0.86, 0.28), (0.92, 0.3), (0.86, 0.32), (0.84, 0.38), (0.82, 0.32), (0.76, 0.3)], _PALE)


def _old_car(pen: Pen, random: np.random.RandomState) -> None:
    _car(pen, (118, 120, 110), 0.075)
    for _ in range(12):
        x, y = random.uniform((0.12, 0.52), (0.88, 0.68))
        pen.oval(x, y, random.uniform(0.01, 0.045), random.uniform(0.01, 0.03), _RUST)
    for points in ([(0.53, 0.48), (0.58, 0.42), (0.64, 0.45)], [(0.56, 0.39), (0.58, 0.42), (0.6, 0.49)]):
        pen.stroke(points, _DARK, 0.008)


def _villa(pen: Pen, random: np.random.RandomState) -> None:
    pen.box(0.08, 0.36, 0.92, 0.84, _PALE)
    pen.shape([(0.03, 0.37), (0.5, 0.12), (0.97, 0.37)], (150, 60, 50))
    for x in (0.16, 0.32, 0.68, 0.84):
        pen.box(x - 0.02, 0.36, x + 0.02, 0.84, (214, 210, 200))
    for x in (0.24, 0.5, 0.76):
        pen.box(x - 0.045, 0.42, x + 0.045, 0.54, (90, 130, 190))
    pen.box(0.44, 0.62, 0.56, 0.84, _WOOD)
    pen.oval(0.78, 0.92, 0.18, 0.05, (70, 110, 220))
    pen.oval(0.12, 0.84, 0.06, 0.12, (40, 120, random.randint(40, 70)))


def _hut(pen: Pen, random: np.random.RandomState) -> None:
    pen.shape([(0.26, 0.5), (0.72, 0.46), (0.75, 0.86), (0.24, 0.84)], _WOOD)
    pen.shape([(0.18, 0.53), (0.46, 0.28), (0.82, 0.5)], (96, 84, 50))
    for x in np.linspace(0.3, 0.7, 7):
        pen.stroke([(x, 0.5), (x + random.uniform(-0.03, 0.03), 0.84)], _DARK, 0.01)
    pen.box(0.43, 0.62, 0.54, 0.85, _DARK)
    pen.shape([(0.6, 0.58), (0.69, 0.56), (0.67, 0.66), (0.61, 0.65)], (60, 50, 40))


THINGS: Mapping[str, Draw] = {
    "Art Lover": _painting,
    "Bookworm": _books,
    "Foodie": _food,
    "Geek": _computer,
    "Loves Outdoors": _mountain,
    "Music Lover": _instruments,
    "Slob": _messy,
    "Neat": _tidy,
    "Freegan": _trash,
    "Active": _gym,
    "Luxury Car": _luxury_car,
    "Dilapidated Car": _old_car,
    "Luxury Villa": _villa,
    "Shabby Hut": _hut,
}


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
    gender: str, age: str, skin_tone: str, seed: int, *, size: int = 384, occupation: str = "", monk: int | None = None
) -> Image:
    """A portrait (RGB, size x size) with labels as in `Sitter`; the seed draws the rest."""
    who = sitter(gender, age, skin_tone, seed, monk=monk, expression="neutral")
    return draw_sitter(who, seed, size=size, occupation=occupation)


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


def draw_scene(people: Sequence[Sitter], seed: int, size: tuple[int, int] = (512, 384)) -> tuple[Image, list[Box]]:
    """Persons from left to right in a room, and their boxes."""
    random = draws("scene", seed)
    image, canvas = room(size, random)
    width, height = size
    boxes = []
    for place, who in enumerate(people):
        part = width / len(people)
        unit = min(part / 4.6, height / 7) * random.uniform(0.9, 1.0)
        slack = max(0.0, part / 2 - (HALF_WIDTH + 0.1) * unit)
        x = (place + 0.5) * part + random.uniform(-slack, slack)
        y = height * 0.42 + random.uniform(-0.3, 0.3) * unit
        paint(Pen(canvas, x * FINE, y * FINE, unit * FINE), who)
        left, top = max(0.0, x - HALF_WIDTH * unit), max(0.0, y + TOP * unit)
        boxes.append(Box(round(left), round(top), round(2 * HALF_WIDTH * unit), round(height - top)))
    return finish(image, random), boxes


def draw_object(name: str, seed: int, size: int = 384, *, person: bool = False) -> Image:
    """A picture of one of `THINGS`, size x size pixels; with `person`, somebody is in it all the same."""
    random = draws("object", name, seed)
    image, canvas = room((size, size), random)
    pen = Pen(canvas, 0.0, 0.0, size * FINE)
    THINGS[name](pen, random)
    if person:
        groups = [(g, a, s) for g in ("female", "male") for a in ("young", "older") for s in BUCKETS]
        who = sitter(*groups[random.randint(len(groups))], seed)
        paint(Pen(canvas, size * FINE * random.uniform(0.3, 0.7), size * 1.2, size * 0.16), who)
    return finish(image, random)
