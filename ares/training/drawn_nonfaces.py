"""Drawn images without a single whole face, to train and to measure the gate of a small ARES.

Some kinds are drawn, the others are made of pictures of faces. `held_out` kinds are in no training set, so that their
measurement holds for unseen kinds. An image follows from (seed, part, kind, number) and the faces alone.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.gate_ares import NO_FACE, OUT_OF_DISTRIBUTION, SEVERAL_FACES
from fairspace.builders.drawn import spoilt_faces
from fairspace.builders.drawn.drawing import THINGS, draw_object, draw_scene, sitter
from fairspace.builders.drawn.figure import BUCKETS, FINE, MONK, Pen, Sitter, draws, finish, paint, room
from fairspace.builders.iris.groups import AGES, GENDERS

Pixels = NDArray[np.uint8]
Random = np.random.RandomState
Paint = Callable[[Pen, Random], None]
_PEOPLE = list(product(GENDERS, AGES, BUCKETS))


@dataclass(frozen=True)
class Kind:
    """A kind of images: its right outcome, one of `gate_ares.OUTCOMES`, and its maker.

    `make`: random numbers, size, (n, size, size, 3) faces -> (size, size, 3); `held_out`: kept from all training;
    `hard`: more training images, because they differ much, or have much of a face.
    """

    outcome: str
    make: Callable[[Random, int, Pixels], Pixels]
    held_out: bool = False
    hard: bool = False


def nonface(kind: str, part: str, number: int, faces: Pixels, *, seed: int = 0) -> Pixels:
    """An image (s, s, 3) of a kind in `KINDS`; parts (`train`, `test`, ...) never share a draw.

    `faces`: (n, s, s, 3), n > 0, the material of kinds that show faces.
    """
    return KINDS[kind].make(draws("drawn non-face", seed, part, kind, number), faces.shape[1], faces)


def _noise(random: Random, size: int, faces: Pixels) -> Pixels:
    coarse = 2 ** random.randint(4)
    side = -(-size // coarse)
    values = random.normal(spoilt_faces.colour(random), random.uniform(10, 90), (side, side, 3))
    fine = values.repeat(coarse, axis=0).repeat(coarse, axis=1)[:size, :size]
    return np.clip(fine, 0, 255).astype(np.uint8)


def _gradient(random: Random, size: int, faces: Pixels) -> Pixels:
    angle = random.uniform(0, 2 * np.pi)
    y, x = np.mgrid[:size, :size] / size - 0.5
    share = np.clip(0.5 + x * np.cos(angle) + y * np.sin(angle), 0, 1)[..., None]
    return (share * spoilt_faces.colour(random) + (1 - share) * spoilt_faces.colour(random)).astype(np.uint8)


def _pattern(random: Random, size: int, faces: Pixels) -> Pixels:
    y, x = np.mgrid[:size, :size] // random.randint(2, max(3, size // 4))
    chosen = ((x + y) % 2, x % 2, y % 2)[random.randint(3)][..., None]
    return np.where(chosen, spoilt_faces.colour(random), spoilt_faces.colour(random)).astype(np.uint8)


def _shapes(pen: Pen, random: Random) -> None:
    for _ in range(random.randint(3, 20)):
        x, y, wide, high = random.uniform((0, 0, 0.03, 0.03), (1, 1, 0.35, 0.35))
        if random.randint(2):
            pen.oval(x, y, wide, high, spoilt_faces.colour(random))
        else:
            pen.shape([(x - wide, y), (x, y - high), (x + wide, y), (x, y + high)], spoilt_faces.colour(random))


def _ovals(pen: Pen, random: Random) -> None:
    x, y = random.uniform(0.4, 0.6, 2)
    wide, high = random.uniform(0.12, 0.45, 2)
    for _ in range(random.randint(3)):
        below, (wider, higher) = random.uniform(0.6, 1.1), random.uniform(0.1, 0.5, 2)
        pen.oval(x, below, wider, higher, spoilt_faces.colour(random))
    pen.oval(x, y, wide, high, spoilt_faces.skin(random))
    for _ in range(random.randint(9)):
        angle, reach, first = random.uniform((0, 0.2, 0.02), (2 * np.pi, 1.1, 0.15))
        ink = spoilt_faces.colour(random)
        for side in (-1, 1)[: random.randint(1, 3)]:
            across, down = side * reach * wide * np.cos(angle), reach * high * np.sin(angle)
            pen.oval(x + across, y + down, first, first * random.uniform(0.3, 1.5), ink)


def _text(pen: Pen, random: Random) -> None:
    lines = random.randint(2, 9)
    pen.box(0, 0, 1, 1, spoilt_faces.colour(random))
    ink = spoilt_faces.colour(random)
    for line in range(lines):
        letters = "".join(random.choice(list(string.ascii_letters + "   "), 30))
        pen.canvas.text(pen.at([(0.03, (line + 0.1) / lines)])[0], letters, ink, font_size=pen.unit * 0.7 / lines)


def _person(random: Random) -> Sitter:
    gender, age, tone = _PEOPLE[random.randint(len(_PEOPLE))]
    return sitter(gender, age, tone, int(random.randint(2**31)))


def _faceless(pen: Pen, random: Random) -> None:
    who = _person(random)
    head = Pen(pen.canvas, pen.x + 0.5 * pen.unit, pen.y + random.uniform(0.37, 0.43) * pen.unit, 0.155 * pen.unit)
    paint(head, who)
    head.oval(0, 0.15, 1.3, 1.75, (MONK[who.monk], who.hair)[random.randint(2)])


def _drawn(*paints: Paint) -> Callable[[Random, int, Pixels], Pixels]:
    def make(random: Random, size: int, faces: Pixels) -> Pixels:
        image, canvas = room((size, size), random)
        if paints:
            paints[random.randint(len(paints))](Pen(canvas, 0.0, 0.0, size * FINE), random)
        return np.array(finish(image, random))

    return make


def _object(random: Random, size: int, faces: Pixels) -> Pixels:
    return np.array(draw_object(list(THINGS)[random.randint(len(THINGS))], int(random.randint(2**31)), size))


def _scene(random: Random, size: int, faces: Pixels) -> Pixels:
    people = [_person(random) for _ in range(random.randint(2, 11))]
    return np.array(draw_scene(people, int(random.randint(2**31)), (size, size))[0])


def _texture(random: Random, size: int, faces: Pixels) -> Pixels:
    y, x = np.mgrid[:size, :size] / size
    whole = np.empty((size, size, 3))
    whole[:] = spoilt_faces.colour(random)
    for _ in range(random.randint(1, 6)):
        across, down, start = random.uniform((-40, -40, 0), (40, 40, 2 * np.pi))
        wave = np.sin(across * x + down * y + start + random.uniform(0, 4) * np.sin(9 * y))
        whole += wave[..., None] * random.uniform(-70, 70, 3)
    return np.clip(whole, 0, 255).astype(np.uint8)


def _cover(random: Random, size: int, faces: Pixels, face: Pixels) -> Pixels:
    return (_noise, _gradient, _pattern, _texture)[random.randint(4)](random, size, faces)


KINDS: Mapping[str, Kind] = {
    "noise": Kind(NO_FACE, _noise),
    "gradient": Kind(NO_FACE, _gradient),
    "pattern": Kind(NO_FACE, _pattern),
    "texture": Kind(NO_FACE, _texture),
    "shapes": Kind(NO_FACE, _drawn(_shapes)),
    "ovals": Kind(NO_FACE, _drawn(_ovals)),
    "text": Kind(NO_FACE, _drawn(_text)),
    "empty_room": Kind(NO_FACE, _drawn()),
    "object": Kind(NO_FACE, _object),
    "hand": Kind(NO_FACE, _drawn(spoilt_faces.hand)),
    "fruit": Kind(NO_FACE, _drawn(spoilt_faces.fruit)),
    "tree": Kind(NO_FACE, _drawn(spoilt_faces.tree)),
    "house": Kind(NO_FACE, _drawn(spoilt_faces.house)),
    "animal": Kind(NO_FACE, _drawn(spoilt_faces.fish, spoilt_faces.bird, spoilt_faces.dog)),
    "mask": Kind(OUT_OF_DISTRIBUTION, _drawn(spoilt_faces.mask)),
    "faceless": Kind(NO_FACE, _drawn(_faceless)),
    "grid": Kind(SEVERAL_FACES, spoilt_faces.grid),
    "overlaid": Kind(SEVERAL_FACES, spoilt_faces.overlaid, hard=True),
    "several_persons": Kind(SEVERAL_FACES, _scene),
    "crop": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.crop),
    "erased": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.erased),
    "coarse": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.coarse, hard=True),
    "chimera": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.chimera),
    "blend": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.blend, hard=True),
    "squeezed": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.squeezed),
    "shuffled": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.shuffled, hard=True),
    "upside_down": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.upside_down, hard=True),
    "sideways": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.sideways),
    "recoloured": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.recoloured, hard=True),
    "smoothed": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.smoothed, hard=True),
    "covered": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.replaced(_cover), hard=True),
    "pasted": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.pasted, hard=True),
    "displaced": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.displaced, hard=True),
    "tinted": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.tinted, hard=True),
    "swirled": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.swirled, hard=True),
    "cat": Kind(NO_FACE, _drawn(spoilt_faces.cat), held_out=True),
    "flower": Kind(NO_FACE, _drawn(spoilt_faces.flower), held_out=True),
    "cartoon": Kind(OUT_OF_DISTRIBUTION, _drawn(spoilt_faces.cartoon), held_out=True),
    "collage": Kind(SEVERAL_FACES, spoilt_faces.collage, held_out=True),
    "strips": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.strips, held_out=True),
    "negative": Kind(OUT_OF_DISTRIBUTION, spoilt_faces.negative, held_out=True),
}
