"""Where names stand beside points: each as near as it can be without covering a point, a name or the frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
_TURNS = (0, 180, 90, 270, 35, -35, 145, -145, 65, -65, 115, -115)
"""Directions in the order in which they are tried, in degrees: right, left, below, above, between."""
_DISTANCES = (9.0, 18.0, 30.0, 46.0, 64.0, 84.0)


@dataclass(frozen=True)
class Place:
    """A name's box, and whether it is so far from its point that a line must join them."""

    box: Box
    joined: bool


def place_labels(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    frame: Box,
    blocked: Sequence[Box] = (),
    radius: float = 6.0,
) -> list[Place | None]:
    """A place for each name, None where there is none.

    Args:
        points: where the marks stand; names of earlier ones are placed first.
        sizes: width and height of each name.
        frame: that no name may leave.
        blocked: where no name may stand.
        radius: of the marks.
    """
    taken: list[Box] = [(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    taken += blocked
    places: list[Place | None] = []
    for number, (point, size) in enumerate(zip(points, sizes, strict=True)):
        box = _free(point, size, frame, taken, number)
        places.append(box)
        if box is not None:
            taken.append(box.box)
    return places


def _free(
    point: tuple[float, float], size: tuple[float, float], frame: Box, taken: Sequence[Box], own: int
) -> Place | None:
    for distance in _DISTANCES:
        for turn in _TURNS:
            box = _box(point, size, distance, turn)
            inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
            if inside and not any(_meet(box, other) for place, other in enumerate(taken) if place != own):
                return Place(box, distance > _DISTANCES[1])
    return None


def _box(point: tuple[float, float], size: tuple[float, float], distance: float, turn: float) -> Box:
    across, down = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    x, y = point[0] + distance * across, point[1] + distance * down
    left = x - size[0] * (1 - across) / 2
    top = y - size[1] * (1 - down) / 2
    return left, top, left + size[0], top + size[1]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
