"""Swatches: drawn persons and things for `--sample` and for tests, whose strips of colour are their labels.

A person is a column of ten strips, each an eighth of its width high: a marker, by which the person is found, then a
strip for each label in the order of `STRIPS`. A label's colour stands in `STRIPS`; a strip in `MISSING` says nothing,
which is how an incomplete person is drawn. A thing is a box of one colour, without a marker. Walls and camera noise
differ with the seed. Reading takes pixels alone, so it works on any copy of a picture (JPEG, shrunk, cropped).
"""

from __future__ import annotations

import colorsys
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairspace.builders.engine.tools import PersonBox
from fairspace.builders.iris.groups import AGES, GENDERS, OCCUPATIONS
from fairspace.builders.stereotypical_bias.plan import TRAITS

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

Colour = tuple[int, int, int]
Pixels = npt.NDArray[np.int16]

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
"""Swatch -> colour of the Monk Skin Tone Scale (E. Monk, 2019, https://skintone.google): #f6ede4, #f3e7db, #f7ead0,
#eadaba, #d7bd96, #a07e56, #825c43, #604134, #3a312a, #292420."""
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
MARKER: Colour = (0, 178, 190)
"""Colour of the strip by which a person is found; no wall and no label has it."""
MISSING: Colour = (255, 0, 255)
_YES_NO: dict[bool, Colour] = {True: (30, 160, 60), False: (200, 60, 40)}
_COLOURS: list[Colour] = [
    (red, green, blue)
    for red, green, blue in product((20, 90, 160, 230), repeat=3)
    if min(math.dist((red, green, blue), special) for special in (MARKER, MISSING)) > 90
]
"""Colours at least 70 apart, unlike `MARKER` and `MISSING`."""
STRIPS: Mapping[str, Mapping[Any, Colour]] = {
    "gender": dict(zip(GENDERS, ((220, 120, 40), (50, 60, 200)), strict=True)),
    "age": dict(zip(AGES, ((60, 190, 60), (230, 220, 60), (110, 110, 118)), strict=True)),
    "monk": MONK,
    "attire": ATTIRE,
    "expression": {"neutral": (128, 128, 128), "smiling": (250, 210, 40), "serious": (70, 30, 110)},
    "accessories": _YES_NO,
    "insignia": _YES_NO,
    "facial_hair": _YES_NO,
    "occupation": dict(zip(OCCUPATIONS, _COLOURS, strict=False)),
}
"""Field of `SwatchPerson` -> label -> colour, from the upper strip to the lower one."""
_THINGS = dict(zip(TRAITS, _COLOURS, strict=False))
_PER_WIDTH = 8
"""Strips whose height together is a person's width."""
_FARTHEST = 60.0
"""Largest distance of a measured colour from its label's."""
_MARKED = 45
"""Largest difference of red, green and blue from `MARKER`'s."""
_HUES = ((80, 150), (208, 295))


@dataclass(frozen=True)
class SwatchPerson:
    """The labels of a person asked for, drawn or read; '' or None where nothing is said or seen.

    `gender`, `age` and `skin_tone` are IRIS' (`fairspace.builders.iris.groups`), `monk` is the swatch of the skin, 1 to
    10, `attire` a colour word, `expression` `neutral`, `smiling` or `serious`, `occupation` one of IRIS' 52.
    """

    gender: str = ""
    age: str = ""
    skin_tone: str = ""
    attire: str = ""
    expression: str = ""
    accessories: bool | None = None
    insignia: bool | None = None
    facial_hair: bool | None = None
    occupation: str = ""
    monk: int | None = None

    def labels(self) -> dict[str, str | int | bool]:
        """The fields that say something."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}

    def updated(self, other: SwatchPerson) -> SwatchPerson:
        """This person with everything that another one says."""
        return replace(self, **other.labels())  # type: ignore[arg-type]


class Place(NamedTuple):
    """A person's column in a picture, in pixels: the upper left corner and the width."""

    x: float
    y: float
    width: float

    def box(self, size: tuple[int, int]) -> PersonBox:
        """The column's box down to the lower edge of a picture of that size."""
        left, top = max(0.0, self.x), max(0.0, self.y)
        return PersonBox(round(left), round(top), round(self.width), round(size[1] - top))


def draws(*key: str | int) -> np.random.RandomState:
    """A stream of random numbers that depends on the key alone."""
    digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
    # RandomState, because its streams are frozen for ever; those of a Generator may change between NumPy versions.
    return np.random.RandomState(np.frombuffer(digest[:16], dtype="<u4"))


def person(gender: str, age: str, skin_tone: str, seed: int, **labels: str | int | bool) -> SwatchPerson:
    """A person with these labels and further fields of `SwatchPerson`; the seed draws an absent swatch or attire."""
    random = draws("sitter", seed)
    drawn = {
        "monk": BUCKETS[skin_tone][random.randint(len(BUCKETS[skin_tone]))],
        "attire": list(ATTIRE)[random.randint(len(ATTIRE))],
    }
    return SwatchPerson(gender, age, skin_tone, **drawn | labels)  # type: ignore[arg-type]


def wall(random: np.random.RandomState) -> Colour:
    """A background colour, never grey or like a skin."""
    low, high = _HUES[random.randint(len(_HUES))]
    hue = random.randint(low, high)
    red, green, blue = colorsys.hsv_to_rgb(hue / 360, random.uniform(0.34, 0.48), random.uniform(0.58, 0.8))
    return round(red * 255), round(green * 255), round(blue * 255)


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """The first colour with a share in [0, 1] of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def room(size: tuple[int, int], random: np.random.RandomState) -> tuple[Image, ImageDraw]:
    """An empty wall with some shapes on it, and a pen to draw on it."""
    from PIL import Image, ImageDraw

    width, height = size
    colour = wall(random)
    image = Image.new("RGB", size, colour)
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


@lru_cache
def _grain() -> Pixels:
    """(2048, 2048) camera noise, standard deviation 2; pictures take a window of it."""
    return np.rint(np.random.RandomState(52).normal(0, 2, (2048, 2048))).astype(np.int16)


def finish(image: Image, random: np.random.RandomState) -> Image:
    """The picture with camera noise."""
    from PIL import Image as Images

    x, y = (random.randint(2048 - side) for side in image.size)
    noisy = np.asarray(image, np.int16) + _grain()[y : y + image.height, x : x + image.width, None]
    return Images.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))


def paint(canvas: ImageDraw, place: Place, who: SwatchPerson) -> None:
    """Draw a person's strips; labels that it does not say are `MISSING`."""
    high = place.width / _PER_WIDTH
    labels = who.labels()
    colours = [MARKER, *(of.get(labels.get(name, ""), MISSING) for name, of in STRIPS.items())]
    for number, colour in enumerate(colours):
        top, bottom = (round(place.y + high * edge) for edge in (number, number + 1))
        canvas.rectangle((round(place.x), top, round(place.x + place.width) - 1, max(top, bottom - 1)), fill=colour)


def draw_person(who: SwatchPerson, seed: int, size: int = 384, *, incomplete: bool = False) -> Image:
    """A picture (RGB, size x size) of a person; an incomplete one lacks the strip of gender, age or skin tone."""
    random = draws("portrait", seed)
    image, canvas = room((size, size), random)
    x, y, width = random.uniform((0.14, 0.06, 0.6), (0.2, 0.12, 0.68)) * size
    hidden: dict[str, Any] = ({"gender": ""}, {"age": ""}, {"monk": None})[random.randint(3)]
    paint(canvas, Place(x, y, width), replace(who, **hidden) if incomplete else who)
    return finish(image, random)


def draw_face(gender: str, age: str, skin_tone: str, seed: int, *, size: int = 384, **labels: str | int) -> Image:
    """A picture of a `person` with these labels."""
    return draw_person(person(gender, age, skin_tone, seed, expression="neutral", **labels), seed, size)


def draw_scene(
    people: Sequence[SwatchPerson], seed: int, size: tuple[int, int] = (512, 384)
) -> tuple[Image, list[PersonBox]]:
    """Persons from left to right in a room, and their boxes."""
    random = draws("scene", seed)
    image, canvas = room(size, random)
    places = []
    for number, who in enumerate(people):
        part = size[0] / len(people)
        unit = min(part / 4.6, size[1] / 7) * random.uniform(0.9, 1.0)
        slack = max(0.0, part / 2 - 2.2 * unit)
        middle = (number + 0.5) * part + random.uniform(-slack, slack)
        top = size[1] * 0.42 + random.uniform(-0.3, 0.3) * unit - 1.75 * unit
        places.append(Place(middle - 2.1 * unit, top, 4.2 * unit))
        paint(canvas, places[-1], who)
    return finish(image, random), [place.box(size) for place in places]


def draw_object(trait: str, seed: int, size: int = 384, *, with_person: bool = False) -> Image:
    """A picture of a trait's thing (stereotypical bias, Table A5), size x size; somebody is in it `with_person`."""
    random = draws("object", trait, seed)
    image, canvas = room((size, size), random)
    left, top, right, bottom = random.uniform((0.1, 0.1, 0.8, 0.8), (0.2, 0.2, 0.9, 0.9)) * size
    canvas.rectangle((left, top, right, bottom), fill=_THINGS[trait])
    if with_person:
        groups = list(product(GENDERS, AGES, BUCKETS))
        who = person(*groups[random.randint(len(groups))], seed)
        paint(canvas, Place(size * random.uniform(0.05, 0.35), size * 0.15, size * 0.5), who)
    return finish(image, random)


def find(pixels: Pixels) -> list[Place]:
    """The whole persons of a picture (rows, columns, 3), from left to right."""
    from scipy import ndimage

    unlike = [abs(pixels[..., channel] - value) for channel, value in enumerate(MARKER)]
    marked, _ = ndimage.label(np.maximum.reduce(unlike) < _MARKED)
    places = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(marked), start=1):
        high, wide = rows.stop - rows.start, columns.stop - columns.start
        filled = (marked[rows, columns] == number).mean()
        if high > 1 and filled > 0.8 and 0.7 * _PER_WIDTH < wide / high < 1.4 * _PER_WIDTH:
            places.append(Place(columns.start, rows.start, wide))
    return sorted(places)


def measure(image: Image) -> list[SwatchPerson]:
    """The persons of a picture from left to right, with the labels that their strips show."""
    pixels: Pixels = np.asarray(image.convert("RGB"), dtype=np.int16)
    return [read(pixels, place) for place in find(pixels)]


def read(pixels: Pixels, place: Place) -> SwatchPerson:
    """The labels of the person at a place of (rows, columns, 3) pixels."""
    high = place.width / _PER_WIDTH
    columns = slice(round(place.x + place.width * 0.2), round(place.x + place.width * 0.8), max(1, round(high / 4)))
    labels: dict[str, str | int | bool] = {}
    for number, (name, colours) in enumerate(STRIPS.items(), start=1):
        top, bottom = (round(place.y + high * (number + edge)) for edge in (0.3, 0.7))
        strip = pixels[top : max(bottom, top + 1), columns]
        if strip.size:
            colour = np.median(strip.reshape(-1, 3), axis=0).tolist()
            nearest = min(colours, key=lambda label: math.dist(colour, colours[label]))
            if math.dist(colour, colours[nearest]) < min(_FARTHEST, math.dist(colour, MISSING)):
                labels[name] = nearest
    who = SwatchPerson(**labels)  # type: ignore[arg-type]
    return replace(who, skin_tone=next((tone for tone, swatches in BUCKETS.items() if who.monk in swatches), ""))
