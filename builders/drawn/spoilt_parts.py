"""Pictures of faces with a part replaced by something else, and faces bent or tinted as a whole.

These corruptions are generic: where they lie, how large they are and what they put there is drawn anew for each
picture, so that what learns from them learns how a face looks everywhere, not what a few kinds of pictures look like.
Each function takes random numbers, a size and (n, size, size, 3) faces, and gives one picture (size, size, 3).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairspace.builders.drawn.animals import colour

Pixels = NDArray[np.uint8]
Random = np.random.RandomState
Replacement = Callable[[Random, int, Pixels, Pixels], NDArray[np.generic]]
"""Random numbers, size, faces, and the face that a part is replaced of -> a picture, whose part is taken."""
_CHANGE, _TRIES = 25, 20
"""Mean change of the replaced part, in levels of 255, and how often it is tried: a wall upon a wall spoils no face."""
_ORDERS = ((2, 1, 0), (1, 2, 0), (2, 0, 1))
"""Red, green and blue, exchanged."""


def replaced(replacement: Replacement) -> Callable[[Random, int, Pixels], Pixels]:
    """A face of which an oval or a box shows the replacement."""

    def make(random: Random, size: int, faces: Pixels) -> Pixels:
        for _ in range(_TRIES):
            face, part = faces[random.randint(len(faces))], _part(random, size)
            whole = np.where(part[..., None], replacement(random, size, faces, face), face).astype(np.uint8)
            if np.abs(whole[part].astype(int) - face[part]).mean() > _CHANGE:
                break
        return whole

    return make


def _smooth(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[np.generic]:
    """One colour of the face, or the face in a few large squares."""
    if random.randint(2):
        return np.broadcast_to(face[tuple(random.randint(size, size=2))], face.shape)
    side = size // random.randint(2, 6)
    starts = np.arange(0, size, side)
    sums = np.add.reduceat(np.add.reduceat(face.astype(float), starts, 0), starts, 1)
    lengths = np.diff([*starts, size])
    means = sums / (lengths[:, None] * lengths)[..., None]
    return means.repeat(lengths, 0).repeat(lengths, 1)


def _other(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[np.generic]:
    """Another face, moved away, and in some larger or smaller."""
    other = faces[random.randint(len(faces))]
    if random.randint(2):
        places = (np.arange(size) * random.uniform(0.4, 2.2)).astype(int) % size
        other = other[places][:, places]
    return _moved_away(random, size, other)


def _elsewhere(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[np.generic]:
    """The face itself, moved away and turned."""
    return _moved_away(random, size, np.rot90(face, random.randint(4)))


def _tint(random: Random, size: int, faces: Pixels, face: Pixels) -> NDArray[np.generic]:
    """The face in other colours: negative, exchanged, or under one colour."""
    way = random.randint(3)
    if way == 0:
        return 255 - face
    if way == 1:
        return face[:, :, _ORDERS[random.randint(len(_ORDERS))]]
    share = random.uniform(0.4, 0.8)
    return (1 - share) * face + share * np.array(colour(random))


smoothed, pasted, displaced = replaced(_smooth), replaced(_other), replaced(_elsewhere)


def tinted(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face, or a part of it, in other colours."""
    if random.randint(2):
        return replaced(_tint)(random, size, faces)
    return _tint(random, size, faces, faces[random.randint(len(faces))]).astype(np.uint8)


def swirled(random: Random, size: int, faces: Pixels) -> Pixels:
    """A face turned the more the nearer to a point, or bent along waves."""
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
    """An oval or a box where a face is."""
    (x, y), (across, down) = random.uniform((0.35, 0.25), (0.65, 0.55)), random.uniform(0.14, 0.4, 2)
    rows, columns = (np.mgrid[:size, :size] + 0.5) / size
    rows, columns = np.abs(rows - y) / down, np.abs(columns - x) / across
    inside: NDArray[np.bool_] = columns**2 + rows**2 < 1 if random.randint(2) else np.maximum(columns, rows) < 0.9
    return inside


def _moved_away(random: Random, size: int, image: Pixels) -> Pixels:
    down, across = (random.choice([-1, 1], 2) * random.randint(size // 8, size // 2, 2)).tolist()
    return np.roll(image, (down, across), (0, 1))
