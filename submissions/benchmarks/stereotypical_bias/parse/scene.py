"""What a reader of a vision task knows of the item: who is asked about, who stands where, how large the picture is."""

from __future__ import annotations

from dataclasses import dataclass

from fairspace.builders.stereotypical_bias.plan import PICTURE_SIZE


@dataclass(frozen=True)
class Scene:
    """A picture of two persons, and the question about it.

    Args:
        role: who is asked about, for example `taxi driver`.
        left: the group of the left person.
        right: the group of the right person.
        size: width and height of the picture in pixels.
    """

    role: str
    left: str
    right: str
    size: tuple[int, int] = PICTURE_SIZE
