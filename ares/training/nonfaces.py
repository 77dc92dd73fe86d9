"""Images without a single whole face, to train and to measure the gate.

Some kinds are patterns or drawn swatches, the others are made of pictures of faces, photographs or swatches. `held_out`
kinds are in no training set, so that their measurement holds for unseen kinds. An image follows from (seed, part, kind,
number) and the faces alone. Place, size and content of a corruption are drawn anew for each image, so that a classifier
cannot learn its kind.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.gate_ares import NO_FACE, OUT_OF_DISTRIBUTION, SEVERAL_FACES
from fairspace.builders.drawn import swatches
from fairspace.builders.iris.groups import AGES, GENDERS
from fairspace.builders.stereotypical_bias.plan import TRAITS

Pixels = NDArray[np.uint8]
Random = np.random.RandomState
Make = Callable[[Random, int, Pixels], NDArray[Any]]
"""Random numbers, size, (n, size, size, 3) faces -> (size, size, 3) values from 0 to 255."""


@dataclass(frozen=True)
class Kind:
    """A kind of images: its right outcome, one of `gate_ares.OUTCOMES`, and its maker.

    `held_out`: kept from all training; `hard`: more training images, because they differ much, or have much of a face.
    """

    outcome: str
    make: Make
    held_out: bool = False
    hard: bool = False


KINDS: dict[str, Kind] = {}


def nonface(kind: str, part: str, number: int, faces: Pixels, *, seed: int = 0) -> Pixels:
    """An image (s, s, 3) of a kind in `KINDS`; parts (`train`, `test`, ...) never share a draw.

    `faces`: (n, s, s, 3), n > 0, the material of kinds that show faces.
    """
    made = KINDS[kind].make(swatches.draws("drawn non-face", seed, part, kind, number), faces.shape[1], faces)
    return np.ascontiguousarray(np.clip(made, 0, 255).astype(np.uint8))


def _kind(outcome: str, *, held_out: bool = False, hard: bool = False) -> Callable[[Make], Make]:
    """Enter a maker in `KINDS` by its name."""

    def enter(make: Make) -> Make:
        KINDS[make.__name__] = Kind(outcome, make, held_out, hard)
        return make

    return enter


def _colour(random: Random) -> swatches.Colour:
    red, green, blue = random.randint(0, 256, 3).tolist()
    return red, green, blue


@_kind(NO_FACE)
def noise(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Noise around one colour, fine or coarse."""
    coarse = 2 ** random.randint(4)
    side = -(-size // coarse)
    values = random.normal(_colour(random), random.uniform(10, 90), (side, side, 3))
    return values.repeat(coarse, axis=0).repeat(coarse, axis=1)[:size, :size]


@_kind(NO_FACE)
def gradient(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """One colour that becomes another."""
    angle = random.uniform(0, 2 * np.pi)
    y, x = np.mgrid[:size, :size] / size - 0.5
    share = np.clip(0.5 + x * np.cos(angle) + y * np.sin(angle), 0, 1)[..., None]
    values: NDArray[Any] = share * _colour(random) + (1 - share) * _colour(random)
    return values


@_kind(NO_FACE)
def pattern(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Squares or bars of two colours."""
    y, x = np.mgrid[:size, :size] // random.randint(2, max(3, size // 4))
    first = ((x + y) % 2, x % 2, y % 2)[random.randint(3)][..., None]
    return np.where(first, _colour(random), _colour(random))


@_kind(NO_FACE)
def texture(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Bent waves of colour through each other."""
    y, x = np.mgrid[:size, :size] / size
    whole = np.empty((size, size, 3))
    whole[:] = _colour(random)
    for _ in range(random.randint(1, 6)):
        across, down, start = random.uniform((-40, -40, 0), (40, 40, 2 * np.pi))
        wave = np.sin(across * x + down * y + start + random.uniform(0, 4) * np.sin(9 * y))
        whole += wave[..., None] * random.uniform(-70, 70, 3)
    return whole


@_kind(NO_FACE)
def shapes(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Ellipses and boxes in a room."""
    image, canvas = swatches.room((size, size), random)
    for _ in range(random.randint(3, 20)):
        x, y, wide, high = random.uniform((0, 0, 0.03, 0.03), (1, 1, 0.35, 0.35)) * size
        draw = canvas.ellipse if random.randint(2) else canvas.rectangle
        draw((x - wide, y - high, x + wide, y + high), fill=_colour(random))
    return np.array(swatches.finish(image, random))


@_kind(NO_FACE, held_out=True)
def ovals(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """An oval, perhaps of a colour of skin, with pairs of spots on it."""
    image, canvas = swatches.room((size, size), random)
    x, y = random.uniform(0.4, 0.6, 2) * size
    wide, high = random.uniform(0.12, 0.45, 2) * size
    body = swatches.MONK[random.randint(1, 11)] if random.randint(2) else _colour(random)
    canvas.ellipse((x - wide, y - high, x + wide, y + high), fill=body)
    for _ in range(random.randint(9)):
        across, down, spot = random.uniform((0.1, -0.8, 0.02), (0.9, 0.8, 0.12)) * (wide, high, size)
        ink = _colour(random)
        for side in (-across, across):
            canvas.ellipse((x + side - spot, y + down - spot, x + side + spot, y + down + spot), fill=ink)
    return np.array(swatches.finish(image, random))


@_kind(NO_FACE)
def text(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Lines of letters."""
    image, canvas = swatches.room((size, size), random)
    canvas.rectangle((0, 0, size, size), fill=_colour(random))
    lines, ink = random.randint(2, 9), _colour(random)
    for line in range(lines):
        letters = "".join(random.choice(list(string.ascii_letters + "   "), 30))
        canvas.text((0.03 * size, (line + 0.1) * size / lines), letters, ink, font_size=size * 0.7 / lines)
    return np.array(swatches.finish(image, random))


@_kind(NO_FACE)
def empty_room(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A room."""
    return np.array(swatches.finish(swatches.room((size, size), random)[0], random))


@_kind(NO_FACE)
def object(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A thing of stereotypical bias."""
    return np.array(swatches.draw_object(TRAITS[random.randint(len(TRAITS))], int(random.randint(2**31)), size))


@_kind(NO_FACE)
def faceless(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A swatch whose strips say nothing."""
    return np.array(swatches.draw_person(swatches.SwatchPerson(), int(random.randint(2**31)), size))


@_kind(SEVERAL_FACES)
def several_persons(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Two to ten swatches beside each other."""
    groups = list(product(GENDERS, AGES, swatches.BUCKETS))
    seeds = random.randint(2**31, size=random.randint(2, 11)).tolist()
    people = [swatches.person(*groups[random.randint(len(groups))], seed) for seed in seeds]
    return np.array(swatches.draw_scene(people, seeds[0], (size, size))[0])


_GRIDS = ((1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (2, 5), (5, 2))
_ORDERS = ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
_CHANGE, _TRIES = 25, 20
"""Least mean change of the replaced part (levels of 255; a wall upon a wall spoils no face), and tries to reach it."""


def _any(random: Random, faces: Pixels) -> Pixels:
    face: Pixels = faces[random.randint(len(faces))]
    return face


def _paste(whole: Pixels, face: Pixels, step: float, corner: Callable[[int], tuple[int, int]]) -> None:
    """Put a face, shrunk by a step, where `corner` (largest corner -> row and column) says."""
    places = (np.arange(len(face) / step) * step).astype(int)
    y, x = corner(len(whole) - len(places) + 1)
    whole[y : y + len(places), x : x + len(places)] = face[places][:, places]


@_kind(SEVERAL_FACES)
def grid(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Faces in rows and columns."""
    rows, columns = _GRIDS[random.randint(len(_GRIDS))]
    shown = faces[random.randint(len(faces), size=(rows, columns))]
    y, x = (np.arange(size) * count * size // size for count in (rows, columns))
    return shown[(y // size)[:, None], (x // size)[None], (y % size)[:, None], (x % size)[None]]


@_kind(SEVERAL_FACES, hard=True)
def overlaid(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face with one or two smaller ones upon it."""
    whole = _any(random, faces).copy()
    for _ in range(random.randint(1, 3)):
        _paste(whole, _any(random, faces), random.uniform(1.5, 3), lambda end: tuple(random.randint(end, size=2)))
    return whole


@_kind(SEVERAL_FACES, held_out=True)
def collage(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Faces of several sizes upon each other."""
    whole = np.empty((size, size, 3), np.uint8)
    whole[:] = swatches.wall(random)
    for number in range(random.randint(3, 7)):

        def corner(end: int, half: int = number % 2) -> tuple[int, int]:
            return random.randint(end), min(end - 1, half * end // 2 + random.randint(end // 2 + 1))

        _paste(whole, _any(random, faces), random.uniform(1.8, 3.5), corner)
    return whole


@_kind(OUT_OF_DISTRIBUTION)
def chimera(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Halves of two faces that do not meet: each is shifted away."""
    first, second = _any(random, faces), _any(random, faces)
    shift = random.randint(size // 5, size // 2)
    whole = np.concatenate([np.roll(first, shift, 0)[:, : size // 2], np.roll(second, -shift, 0)[:, size // 2 :]], 1)
    return whole if random.randint(2) else whole.transpose(1, 0, 2)


@_kind(OUT_OF_DISTRIBUTION, hard=True)
def blend(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Two faces through each other, one of them shifted."""
    first, second = _any(random, faces).astype(float), _any(random, faces).astype(float)
    shift = tuple(random.choice([-1, 1], 2) * random.randint(size // 6, size // 3, 2))
    return 0.5 * first + 0.5 * np.roll(second, shift, (0, 1))


@_kind(OUT_OF_DISTRIBUTION)
def crop(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A part too small to show a face, enlarged."""
    side = max(2, round(size * random.uniform(0.12, 0.28)))
    top, left = random.randint(size - side + 1, size=2)
    places = np.arange(size) * side // size
    part: NDArray[Any] = _any(random, faces)[(top + places)[:, None], (left + places)[None]]
    return part


@_kind(OUT_OF_DISTRIBUTION)
def erased(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face with its middle covered, by one colour or by noise."""
    whole = _any(random, faces).copy()
    high, wide = (random.uniform(0.35, 0.6, 2) * size).astype(int)
    top, left = max(0, size // 2 - high // 2 - random.randint(size // 10 + 1)), size // 2 - wide // 2
    cover = random.normal(_colour(random), random.choice([0, 40]), (high, wide, 3))
    whole[top : top + high, left : left + wide] = np.clip(cover, 0, 255)
    return whole


@_kind(OUT_OF_DISTRIBUTION, hard=True)
def coarse(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face of few large squares."""
    side = random.randint(3, 8)
    places = (np.arange(size) * side // size * 2 + 1) * size // (2 * side)
    return _any(random, faces)[places[:, None], places[None]]


@_kind(OUT_OF_DISTRIBUTION)
def squeezed(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face at half its width or height or less, twice and more."""
    places = (np.arange(size) * random.uniform(2, 4)).astype(int) % size
    whole = _any(random, faces)
    return whole[places] if random.randint(2) else whole[:, places]


def _moved(image: Pixels, rows: int, columns: int, random: Random) -> Pixels:
    high, wide = image.shape[0] // rows, image.shape[1] // columns
    order = random.permutation(rows * columns)
    moved = image.copy()
    for place, other in zip(order.tolist(), np.roll(order, 1).tolist(), strict=True):
        (top, left), (y, x) = divmod(place, columns), divmod(other, columns)
        part = image[y * high : (y + 1) * high, x * wide : (x + 1) * wide]
        moved[top * high : (top + 1) * high, left * wide : (left + 1) * wide] = part
    return moved


@_kind(OUT_OF_DISTRIBUTION, hard=True)
def shuffled(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """The parts of a face, none in its place."""
    return _moved(_any(random, faces), random.randint(1, 5), random.randint(2, 5), random)


@_kind(OUT_OF_DISTRIBUTION, held_out=True)
def strips(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """Strips of a face, none in its place."""
    return _moved(_any(random, faces), random.randint(3, 7), 1, random)


@_kind(OUT_OF_DISTRIBUTION, hard=True)
def upside_down(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face turned by 180 degrees."""
    return _any(random, faces)[::-1]


@_kind(OUT_OF_DISTRIBUTION)
def sideways(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face that lies on its side."""
    return np.rot90(_any(random, faces), random.choice([1, 3]))


@_kind(OUT_OF_DISTRIBUTION, held_out=True)
def negative(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face with light and dark exchanged."""
    return 255 - _any(random, faces)


@_kind(OUT_OF_DISTRIBUTION, hard=True)
def recoloured(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face with its colours exchanged; in some, light values above a threshold turn dark."""
    image = _any(random, faces)[:, :, _ORDERS[random.randint(len(_ORDERS))]]
    if random.randint(2):
        least = random.randint(90, 180)
        image = np.where(image > least, 255 - image, image)
    return image


def _part(random: Random, size: int) -> NDArray[np.bool_]:
    (x, y), (across, down) = random.uniform((0.35, 0.25), (0.65, 0.55)), random.uniform(0.14, 0.4, 2)
    rows, columns = (np.mgrid[:size, :size] + 0.5) / size
    rows, columns = np.abs(rows - y) / down, np.abs(columns - x) / across
    inside: NDArray[np.bool_] = columns**2 + rows**2 < 1 if random.randint(2) else np.maximum(columns, rows) < 0.9
    return inside


def _replaced(replacement: Callable[[Random, int, Pixels, Pixels], NDArray[Any]]) -> Make:
    """A face with an oval or a box that shows the replacement (random, size, faces, the face)."""

    def make(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
        for _ in range(_TRIES):
            face, part = _any(random, faces), _part(random, size)
            whole = np.where(part[..., None], np.clip(replacement(random, size, faces, face), 0, 255), face)
            if np.abs(whole[part].astype(int) - face[part]).mean() > _CHANGE:
                break
        return whole

    make.__name__ = replacement.__name__
    return make


def _shifted(random: Random, size: int, image: Pixels) -> Pixels:
    down, across = (random.choice([-1, 1], 2) * random.randint(size // 8, size // 2, 2)).tolist()
    return np.roll(image, (down, across), (0, 1))


@_kind(OUT_OF_DISTRIBUTION, hard=True)
@_replaced
def smoothed(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[Any]:
    """One colour of the face, or the means of its large squares."""
    if random.randint(2):
        return np.broadcast_to(face[tuple(random.randint(size, size=2))], face.shape)
    side = size // random.randint(2, 6)
    starts = np.arange(0, size, side)
    sums = np.add.reduceat(np.add.reduceat(face.astype(float), starts, 0), starts, 1)
    lengths = np.diff([*starts, size])
    means = sums / (lengths[:, None] * lengths)[..., None]
    squares: NDArray[Any] = means.repeat(lengths, 0).repeat(lengths, 1)
    return squares


@_kind(OUT_OF_DISTRIBUTION, hard=True)
@_replaced
def covered(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[Any]:
    """Noise, a gradient, a pattern or a texture."""
    return (noise, gradient, pattern, texture)[random.randint(4)](random, size, faces)


@_kind(OUT_OF_DISTRIBUTION, hard=True)
@_replaced
def pasted(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[Any]:
    """Another face from elsewhere, perhaps smaller or larger."""
    other = _any(random, faces)
    if random.randint(2):
        places = (np.arange(size) * random.uniform(0.4, 2.2)).astype(int) % size
        other = other[places][:, places]
    return _shifted(random, size, other)


@_kind(OUT_OF_DISTRIBUTION, hard=True)
@_replaced
def displaced(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[Any]:
    """The face itself from elsewhere, perhaps turned."""
    return _shifted(random, size, np.rot90(face, random.randint(4)))


def _tint(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[Any]:
    way = random.randint(3)
    if way == 0:
        return 255 - face
    if way == 1:
        return face[:, :, _ORDERS[random.randint(2, len(_ORDERS))]]
    share = random.uniform(0.4, 0.8)
    return (1 - share) * face + share * np.array(_colour(random))


@_kind(OUT_OF_DISTRIBUTION, hard=True)
def tinted(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face, or a part of it, in other colours."""
    if random.randint(2):
        return _replaced(_tint)(random, size, faces)
    return _tint(random, size, faces, _any(random, faces))


@_kind(OUT_OF_DISTRIBUTION, hard=True)
def swirled(random: Random, size: int, faces: Pixels) -> NDArray[Any]:
    """A face twisted around a point, or bent along waves."""
    y, x = np.mgrid[:size, :size] / size
    if random.randint(2):
        across, down, reach, turns = random.uniform((0.4, 0.3, 0.25, 2), (0.6, 0.5, 0.5, 6))
        x, y = x - across, y - down
        angle = random.choice([-1, 1]) * turns * np.exp(-(x**2 + y**2) / reach**2)
        x, y = x * np.cos(angle) - y * np.sin(angle) + across, x * np.sin(angle) + y * np.cos(angle) + down
    else:
        wide, high = random.uniform(0.06, 0.16, 2)
        first, second = random.uniform(1.5, 5, 2) * 2 * np.pi
        start, both = random.uniform(0, 2 * np.pi, 2), random.randint(2)
        x, y = x + wide * np.sin(first * y + start[0]), y + both * high * np.sin(second * x + start[1])
    rows, columns = ((np.clip(part, 0, 0.999) * size).astype(int) for part in (y, x))
    twisted: NDArray[Any] = _any(random, faces)[rows, columns]
    return twisted
