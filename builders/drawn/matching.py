"""How well a drawing fits a text, and how alike two drawings are: what CLIP says of photographs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fairspace.builders.drawn.faces import Face
from fairspace.builders.drawn.measure import measure
from fairspace.builders.drawn.prompts import Asked, Wish, read_prompt

if TYPE_CHECKING:
    from PIL.Image import Image

Thumbnail = npt.NDArray[np.int16]

_wish = lru_cache(maxsize=1024)(read_prompt)
_ALIKE = 40
"""Colours whose red, green and blue differ by less look alike."""


class DrawnMatcher:
    """Compares drawings with words by what is measured, and with each other by colours and outlines seen from afar."""

    def __init__(self) -> None:
        self._known: tuple[Sequence[Image], list[list[Face]]] | None = None

    @property
    def name(self) -> str:
        """`measured drawings`."""
        return "measured drawings"

    def text_similarity(self, images: Sequence[Image], texts: Sequence[str]) -> list[float]:
        """(right - wrong) / said, over what each text says: how many persons, and their labels."""
        if self._known is None or self._known[0] is not images:  # one set of images is compared with many texts
            self._known = images, [measure(image) for image in images]
        return [_agreement(faces, _wish(text)) for faces, text in zip(self._known[1], texts, strict=True)]

    def image_similarity(self, first: Sequence[Image], second: Sequence[Image]) -> list[float]:
        """In [0, 1]: the mean of the share of places with the same colour and the share with the same outlines."""
        return [_likeness(_thumbnail(a), _thumbnail(b)) for a, b in zip(first, second, strict=True)]


def _agreement(faces: list[Face], wish: Wish) -> float:
    checks = [len(faces) == len(wish.people)]
    left = list(faces)
    for person in wish.people:
        if left:
            best = max(left, key=lambda face: sum(_checks(face, person)))
            left.remove(best)
            checks += _checks(best, person)
        else:
            checks += [False] * sum(value not in ("", None) for value in asdict(person).values())
    return (sum(checks) - sum(not check for check in checks)) / len(checks)


def _checks(face: Face, person: Asked) -> list[bool]:
    accessories = None if face.accessory == "" else face.accessory != "none"
    seen = replace(
        Asked(face.gender, face.age, face.skin_tone, face.attire, face.expression),
        accessories=accessories,
        insignia=face.insignia,
        facial_hair=face.facial_hair,
    )
    said = {key: value for key, value in asdict(person).items() if value not in ("", None)}
    return [getattr(seen, key) == value for key, value in said.items()]


def _thumbnail(image: Image) -> Thumbnail:
    """(24, 24, 3) mean colours."""
    from PIL import Image as Images

    return np.asarray(image.convert("RGB").resize((24, 24), Images.Resampling.BOX), dtype=np.int16)


def _likeness(first: Thumbnail, second: Thumbnail) -> float:
    colours = (abs(first - second).max(axis=-1) < _ALIKE).mean()
    shared = [(_edges(first, axis) == _edges(second, axis)).mean() for axis in (0, 1)]
    return float(colours / 2 + sum(shared) / 4)


def _edges(thumbnail: Thumbnail, axis: int) -> npt.NDArray[np.bool_]:
    """Where neighbours do not look alike."""
    edges: npt.NDArray[np.bool_] = abs(np.diff(thumbnail, axis=axis)).max(axis=-1) >= _ALIKE
    return edges
