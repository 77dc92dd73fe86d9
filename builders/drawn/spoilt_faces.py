"""Pictures without a single whole face: spoilt faces, animals, and things that resemble a face.

A function that spoils takes random numbers, a size and (n, size, size, 3) faces, and gives a picture (size, size, 3).
Place, size and content of a corruption are drawn anew for each picture, so that a classifier cannot learn its kind.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.drawn.figure import MONK, Colour, Pen, mix, wall

# Animals and things: x and y go from 0 to 1, the unit is the picture's width.


def colour(random: np.random.RandomState) -> Colour:
    """Any colour."""
    red, green, blue = random.randint(0, 256, 3).tolist()
    return red, green, blue


def fish(pen: Pen, random: np.random.RandomState) -> None:
    """A fish seen from the side."""
    body = colour(random)
    pen.shape([(0.62, 0.5), (0.92, 0.3), (0.92, 0.7)], body)
    pen.oval(0.42, 0.5, 0.3, random.uniform(0.12, 0.25), body)
    pen.oval(0.26, 0.45, 0.03, 0.03, (10, 10, 10))


def bird(pen: Pen, random: np.random.RandomState) -> None:
    """A bird seen from the side."""
    body = colour(random)
    pen.oval(0.5, 0.6, 0.26, 0.18, body)
    pen.oval(0.32, 0.36, 0.13, 0.13, body)
    pen.shape([(0.2, 0.34), (0.06, 0.39), (0.21, 0.42)], (240, 170, 30))
    pen.oval(0.3, 0.34, 0.025, 0.025, (10, 10, 10))
    pen.shape([(0.7, 0.55), (0.95, 0.45), (0.9, 0.65)], mix(body, (0, 0, 0), 0.3))


def dog(pen: Pen, random: np.random.RandomState) -> None:
    """The head of a dog, from the front."""
    fur = colour(random)
    dark = mix(fur, (0, 0, 0), 0.4)
    pen.oval(0.5, 0.5, 0.28, 0.32, fur)
    for side in (-1, 1):
        pen.oval(0.5 + side * 0.3, 0.45, 0.09, random.uniform(0.2, 0.3), dark)
        pen.oval(0.5 + side * 0.11, 0.42, 0.04, 0.045, (15, 12, 10))
    pen.oval(0.5, 0.64, 0.14, 0.13, mix(fur, (255, 255, 255), 0.5))
    pen.oval(0.5, 0.58, 0.05, 0.04, (15, 12, 10))


def cat(pen: Pen, random: np.random.RandomState) -> None:
    """The head of a cat, from the front."""
    fur, eyes = colour(random), colour(random)
    for side in (-1, 1):
        pen.shape([(0.5 + side * 0.3, 0.12), (0.5 + side * 0.3, 0.5), (0.5 + side * 0.05, 0.32)], fur)
    pen.oval(0.5, 0.55, 0.32, 0.28, fur)
    for side in (-1, 1):
        pen.oval(0.5 + side * 0.13, 0.5, 0.06, 0.05, eyes)
        pen.oval(0.5 + side * 0.13, 0.5, 0.015, 0.05, (5, 5, 5))
        for slope in (-0.04, 0.0, 0.04):
            pen.stroke([(0.5 + side * 0.08, 0.66), (0.5 + side * 0.42, 0.64 + slope)], (240, 240, 240), 0.008)
    pen.shape([(0.46, 0.6), (0.54, 0.6), (0.5, 0.65)], (225, 130, 140))


def skin(random: np.random.RandomState) -> Colour:
    """A colour of skin, or any."""
    return MONK[random.randint(1, 11)] if random.randint(2) else colour(random)


def hand(pen: Pen, random: np.random.RandomState) -> None:
    """A hand or a glove with its fingers up."""
    tone = skin(random)
    x, y = random.uniform((0.42, 0.58), (0.58, 0.7))
    for finger in range(4):
        across, reach = 0.085 * (finger - 1.5), random.uniform(0.25, 0.4)
        pen.stroke([(x + across, y), (x + 1.6 * across, y - reach)], tone, 0.07)
    pen.stroke([(x, y + 0.05), (x + random.choice([-1, 1]) * 0.28, y - 0.12)], tone, 0.075)
    pen.oval(x, y, 0.18, 0.17, tone)
    pen.box(x - 0.11, y + 0.1, x + 0.11, 1.0, tone)


def fruit(pen: Pen, random: np.random.RandomState) -> None:
    """Something round with a light or hands on it: a ball, a fruit, a clock."""
    x, y, reach = random.uniform((0.4, 0.42, 0.15), (0.6, 0.58, 0.42))
    body = skin(random)
    pen.oval(x, y, reach, reach * random.uniform(0.8, 1.2), body)
    if random.randint(2):
        pen.oval(x - reach / 3, y - reach / 3, reach / 4, reach / 5, (245, 245, 240))
        pen.stroke([(x, y - reach), (x + 0.05, y - reach - 0.1)], colour(random), 0.03)
        return
    for angle in random.uniform(0, 2 * np.pi, random.randint(2, 13)):
        end = (x + 0.8 * reach * np.cos(angle), y + 0.8 * reach * np.sin(angle))
        pen.stroke([(x, y), end], colour(random), 0.02)


def tree(pen: Pen, random: np.random.RandomState) -> None:
    """A tree in front of hills."""
    pen.box(0, random.uniform(0.5, 0.8), 1, 1, colour(random))
    pen.box(0.46, 0.5, 0.54, 0.9, (90, 60, 40))
    leaf = colour(random)
    for _ in range(random.randint(3, 12)):
        x, y, reach = random.uniform((0.3, 0.15, 0.06), (0.7, 0.55, 0.2))
        pen.oval(x, y, reach, reach, mix(leaf, colour(random), 0.2))


def house(pen: Pen, random: np.random.RandomState) -> None:
    """A house with two windows and a door, which resembles a face."""
    body, hole = skin(random), colour(random)
    pen.box(0.2, 0.3, 0.8, 0.95, body)
    pen.shape([(0.12, 0.32), (0.5, random.uniform(0.02, 0.2)), (0.88, 0.32)], colour(random))
    for x in (0.35, 0.65):
        pen.box(x - 0.07, 0.42, x + 0.07, 0.55, hole)
    pen.box(0.43, 0.68, 0.57, 0.95, colour(random))


def mask(pen: Pen, random: np.random.RandomState) -> None:
    """A mask: a shield of one colour with holes and a pattern."""
    shield, hole = skin(random), mix(colour(random), (0, 0, 0), 0.7)
    pen.shape([(0.2, 0.2), (0.8, 0.2), (0.76, 0.65), (0.5, 0.92), (0.24, 0.65)], shield)
    for side in (-1, 1):
        pen.shape([(0.5 + side * x, y) for x, y in ((0.06, 0.42), (0.22, 0.36), (0.2, 0.48))], hole)
        pen.stroke([(0.5 + side * 0.1, 0.62), (0.5 + side * 0.22, 0.75)], colour(random), 0.04)
    pen.box(0.4, 0.7, 0.6, 0.74, hole)


def flower(pen: Pen, random: np.random.RandomState) -> None:
    """A flower on its stem."""
    petals, reach = random.randint(5, 10), random.uniform(0.18, 0.26)
    leaf, middle = colour(random), colour(random)
    pen.stroke([(0.5, 0.5), (0.5, 1.0)], (40, 130, 50), 0.04)
    for angle in np.arange(petals) * 2 * np.pi / petals:
        pen.oval(0.5 + reach * np.cos(angle), 0.42 + reach * np.sin(angle), 0.11, 0.11, leaf)
    pen.oval(0.5, 0.42, 0.13, 0.13, middle)


def cartoon(pen: Pen, random: np.random.RandomState) -> None:
    """A round face of two dots and a line, in any colour."""
    high = random.uniform(0.3, 0.42)
    pen.oval(0.5, 0.5, high, high, colour(random))
    ink = (15, 15, 15)
    for side in (-1, 1):
        pen.oval(0.5 + side * 0.13, 0.42, 0.035, 0.055, ink)
    bend = random.uniform(-0.1, 0.12)
    pen.stroke([(0.34, 0.6), (0.42, 0.6 + bend), (0.58, 0.6 + bend), (0.66, 0.6)], ink, 0.025)


Pixels = NDArray[np.uint8]
Random = np.random.RandomState
_GRIDS = ((1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3), (2, 5), (5, 2))
_ORDERS = ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


def grid(random: Random, size: int, faces: Pixels) -> Pixels:
    """Faces in rows and columns."""
    rows, columns = _GRIDS[random.randint(len(_GRIDS))]
    chosen = faces[random.randint(len(faces), size=(rows, columns))]
    y, x = (np.arange(size) * count * size // size for count in (rows, columns))
    return chosen[(y // size)[:, None], (x // size)[None], (y % size)[:, None], (x % size)[None]]


def collage(random: Random, size: int, faces: Pixels) -> Pixels:
    """Faces of several sizes upon each other."""
    whole = np.empty((size, size, 3), np.uint8)
    whole[:] = wall(random)
    for number in range(random.randint(3, 7)):
        small = _small(_drawn(random, faces), random.uniform(1.8, 3.5))
        edge = size - len(small) + 1
        x = min(edge - 1, (number % 2) * edge // 2 + random.randint(edge // 2 + 1))
        _paste(whole, small, random.randint(edge), x)
    return whole


def overlaid(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face with one or two smaller ones upon it."""
    whole = _drawn(random, faces).copy()
    for _ in range(random.randint(1, 3)):
        small = _small(_drawn(random, faces), random.uniform(1.5, 3))
        _paste(whole, small, *random.randint(size - len(small) + 1, size=2).tolist())
    return whole


def chimera(random: Random, size: int, faces: Pixels) -> Pixels:
    """Halves of two faces that do not meet: each is shifted away."""
    first, second = _drawn(random, faces), _drawn(random, faces)
    shift = random.randint(size // 5, size // 2)
    whole = np.concatenate([np.roll(first, shift, 0)[:, : size // 2], np.roll(second, -shift, 0)[:, size // 2 :]], 1)
    return whole if random.randint(2) else np.ascontiguousarray(whole.transpose(1, 0, 2))


def blend(random: Random, size: int, faces: Pixels) -> Pixels:
    """Two faces through each other, one of them shifted."""
    first, second = _drawn(random, faces).astype(float), _drawn(random, faces).astype(float)
    shift = tuple(random.choice([-1, 1], 2) * random.randint(size // 6, size // 3, 2))
    mixed: Pixels = (0.5 * first + 0.5 * np.roll(second, shift, (0, 1))).astype(np.uint8)
    return mixed


def crop(random: Random, size: int, faces: Pixels) -> Pixels:
    """A part too small to show a face, enlarged."""
    side = max(2, round(size * random.uniform(0.12, 0.28)))
    top, left = random.randint(size - side + 1, size=2)
    places = np.arange(size) * side // size
    return _drawn(random, faces)[(top + places)[:, None], (left + places)[None]]


def erased(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face with its middle covered, by one colour or by noise."""
    whole = _drawn(random, faces).copy()
    high, wide = (random.uniform(0.35, 0.6, 2) * size).astype(int)
    top, left = size // 2 - high // 2 - random.randint(size // 10 + 1), size // 2 - wide // 2
    cover = random.normal(colour(random), random.choice([0, 40]), (high, wide, 3))
    whole[max(0, top) : max(0, top) + high, left : left + wide] = np.clip(cover, 0, 255)
    return whole


def coarse(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face of few large squares."""
    side = random.randint(3, 8)
    places = (np.arange(size) * side // size * 2 + 1) * size // (2 * side)
    return _drawn(random, faces)[places[:, None], places[None]]


def squeezed(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face at half its width or height or less, twice and more."""
    places = (np.arange(size) * random.uniform(2, 4)).astype(int) % size
    whole = _drawn(random, faces)
    return whole[places] if random.randint(2) else whole[:, places]


def shuffled(random: Random, size: int, faces: Pixels) -> Pixels:
    """The parts of a face, none in its place."""
    return _moved(_drawn(random, faces), random.randint(1, 5), random.randint(2, 5), random)


def strips(random: Random, size: int, faces: Pixels) -> Pixels:
    """Strips of a face, none in its place."""
    return _moved(_drawn(random, faces), random.randint(3, 7), 1, random)


def upside_down(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face turned by 180 degrees."""
    return _drawn(random, faces)[::-1]


def sideways(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face that lies on its side."""
    return np.rot90(_drawn(random, faces), random.choice([1, 3]))


def negative(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face with light and dark exchanged."""
    return 255 - _drawn(random, faces)


def recoloured(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face with its colours exchanged; in some, light values above a threshold turn dark."""
    image = _drawn(random, faces)[:, :, _ORDERS[random.randint(len(_ORDERS))]]
    if random.randint(2):
        least = random.randint(90, 180)
        image = np.where(image > least, 255 - image, image)
    return image


def _drawn(random: Random, faces: Pixels) -> Pixels:
    return faces[random.randint(len(faces))]


def _small(face: Pixels, step: float) -> Pixels:
    places = (np.arange(len(face) / step) * step).astype(int)
    return face[places][:, places]


def _paste(whole: Pixels, small: Pixels, y: int, x: int) -> None:
    whole[y : y + len(small), x : x + len(small)] = small


def _moved(image: Pixels, rows: int, columns: int, random: Random) -> Pixels:
    high, wide = image.shape[0] // rows, image.shape[1] // columns
    order = random.permutation(rows * columns)
    moved = image.copy()
    for place, other in zip(order.tolist(), np.roll(order, 1).tolist(), strict=True):
        (top, left), (y, x) = divmod(place, columns), divmod(other, columns)
        part = image[y * high : (y + 1) * high, x * wide : (x + 1) * wide]
        moved[top * high : (top + 1) * high, left * wide : (left + 1) * wide] = part
    return moved


Replacement = Callable[[Random, int, Pixels, Pixels], NDArray[np.generic]]
"""Random numbers, size, faces and the spoilt face -> the picture that its replaced part is taken from."""
_CHANGE, _TRIES = 25, 20
"""Least mean change of the replaced part (levels of 255; a wall upon a wall spoils no face), and tries to reach it."""
_PART_ORDERS = ((2, 1, 0), (1, 2, 0), (2, 0, 1))


def replaced(replacement: Replacement) -> Callable[[Random, int, Pixels], Pixels]:
    """A face with an oval or a box that shows the replacement."""

    def make(random: Random, size: int, faces: Pixels) -> Pixels:
        for _ in range(_TRIES):
            face, part = faces[random.randint(len(faces))], _part(random, size)
            whole = np.where(part[..., None], replacement(random, size, faces, face), face).astype(np.uint8)
            if np.abs(whole[part].astype(int) - face[part]).mean() > _CHANGE:
                break
        return whole

    return make


def _smooth(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[np.generic]:
    if random.randint(2):
        return np.broadcast_to(face[tuple(random.randint(size, size=2))], face.shape)
    side = size // random.randint(2, 6)
    starts = np.arange(0, size, side)
    sums = np.add.reduceat(np.add.reduceat(face.astype(float), starts, 0), starts, 1)
    lengths = np.diff([*starts, size])
    means = sums / (lengths[:, None] * lengths)[..., None]
    return means.repeat(lengths, 0).repeat(lengths, 1)


def _other(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[np.generic]:
    other = faces[random.randint(len(faces))]
    if random.randint(2):
        places = (np.arange(size) * random.uniform(0.4, 2.2)).astype(int) % size
        other = other[places][:, places]
    return _moved_away(random, size, other)


def _elsewhere(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[np.generic]:
    return _moved_away(random, size, np.rot90(face, random.randint(4)))


def _tint(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[np.generic]:
    way = random.randint(3)
    if way == 0:
        return 255 - face
    if way == 1:
        return face[:, :, _PART_ORDERS[random.randint(len(_PART_ORDERS))]]
    share = random.uniform(0.4, 0.8)
    return (1 - share) * face + share * np.array(colour(random))


smoothed, pasted, displaced = replaced(_smooth), replaced(_other), replaced(_elsewhere)


def tinted(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face, or a part of it, in other colours."""
    if random.randint(2):
        return replaced(_tint)(random, size, faces)
    return _tint(random, size, faces, faces[random.randint(len(faces))]).astype(np.uint8)


def swirled(random: Random, size: int, faces: Pixels) -> Pixels:
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
    return faces[random.randint(len(faces))][rows, columns]


def _part(random: Random, size: int) -> NDArray[np.bool_]:
    (x, y), (across, down) = random.uniform((0.35, 0.25), (0.65, 0.55)), random.uniform(0.14, 0.4, 2)
    rows, columns = (np.mgrid[:size, :size] + 0.5) / size
    rows, columns = np.abs(rows - y) / down, np.abs(columns - x) / across
    inside: NDArray[np.bool_] = columns**2 + rows**2 < 1 if random.randint(2) else np.maximum(columns, rows) < 0.9
    return inside


def _moved_away(random: Random, size: int, image: Pixels) -> Pixels:
    down, across = (random.choice([-1, 1], 2) * random.randint(size // 8, size // 2, 2)).tolist()
    return np.roll(image, (down, across), (0, 1))
