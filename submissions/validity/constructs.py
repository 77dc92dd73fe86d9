"""A construct that several benchmarks claim to measure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Construct:
    """One benchmark's measure of a construct.

    Args:
        name: the same in every benchmark that measures it.
        values: the value or score, and further names that printed rows have for it.
        sign: 1 if a higher number is more bias, -1 if less.
    """

    name: str
    values: tuple[str, ...]
    sign: int = 1


GENDER_IMAGES = "gender in the images that are made"
RACE_IMAGES = "race or skin tone in the images that are made"
GENDER_ANSWERS = "gender and occupation or topic in answers"
RACE_ANSWERS = "race or skin tone and occupation or topic in answers"
