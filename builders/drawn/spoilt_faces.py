"""Pictures of faces spoilt so that none shows a single whole face.

Each function takes random numbers, a size and (n, size, size, 3) faces, and gives one picture (size, size, 3). Place,
size and content of a corruption are drawn anew for each picture, so that a classifier cannot learn the kind of picture.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.drawn.lookalikes import colour
from fairspace.builders.drawn.palette import wall

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
