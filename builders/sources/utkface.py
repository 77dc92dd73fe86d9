"""UTKFace's faces: age, gender and race, which only the file names state.

Layout as published: `[age]_[gender]_[race]_[date&time].jpg` or `.jpg.chip.jpg` (aligned faces), in any folders. Age is
0 to 116; gender 0 male, 1 female; race 0 White, 1 Black, 2 Asian, 3 Indian, 4 Others; date and time are 17 digits.
Names that break this (`61_1_20170109142408075.jpg.chip.jpg` has no race) are left out and counted by reason. A face
found in two folders under the same label and time counts once.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fairspace.builders.errors import BuildError

OLDEST = 116
GENDERS = ("male", "female")
RACES = ("White", "Black", "Asian", "Indian", "")
"""Races by code; Others is no group, so ''."""
REASONS = ("other file", "missing part", "age", "gender", "race", "date and time", "twice")
_ENDING = re.compile(r"\.jpg(\.chip\.jpg)?\Z", re.IGNORECASE)
_TIME = re.compile(r"[0-9]{17}\Z")


class UtkFace(NamedTuple):
    """One face: `file` below the source's folder, `age` in years, `gender`, and `race` ('' for Others)."""

    file: str
    age: int
    gender: str
    race: str


@dataclass(frozen=True)
class Scan:
    """The content of a folder: faces by path, reason -> number of skipped files, reason -> first such file."""

    faces: tuple[UtkFace, ...]
    skipped: Mapping[str, int]
    examples: Mapping[str, str]


def scan(folder: Path) -> Scan:
    """Read the names of all files below a folder, sorted by path. BuildError SOURCE_LAYOUT if none fits the layout."""
    faces: list[UtkFace] = []
    skipped: Counter[str] = Counter()
    examples: dict[str, str] = {}
    seen: set[str] = set()
    for file in sorted(_files(folder)):
        face = read_name(file)
        if isinstance(face, UtkFace):
            name = _ENDING.sub("", file.rpartition("/")[2])
            if name not in seen:
                seen.add(name)
                faces.append(face)
                continue
            face = "twice"
        skipped[face] += 1
        examples.setdefault(face, file)
    if not faces:
        what = ", ".join(f"{count} files: {reason}" for reason, count in skipped.items()) or "no files"
        expected = "[age]_[gender]_[race]_[date&time].jpg"
        raise BuildError("SOURCE_LAYOUT", str(folder), what, expected, "unpack UTKFace there with its own file names")
    return Scan(tuple(faces), {reason: skipped[reason] for reason in REASONS if skipped[reason]}, examples)


def read_name(file: str) -> UtkFace | str:
    """The face that a path names, or the first reason (of `REASONS`) why it names none."""
    name = file.rpartition("/")[2]
    parts = _ENDING.sub("", name).split("_")
    if not _ENDING.search(name) or name.startswith("."):
        return "other file"
    if len(parts) != 4 or not all(parts):
        return "missing part"
    age, gender, race, time = parts
    if not (age.isascii() and age.isdigit() and len(age) <= 3 and int(age) <= OLDEST):
        return "age"
    if gender not in ("0", "1"):
        return "gender"
    if race not in ("0", "1", "2", "3", "4"):
        return "race"
    if not _TIME.match(time):
        return "date and time"
    return UtkFace(file, int(age), GENDERS[int(gender)], RACES[int(race)])


def _files(folder: Path) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        below = Path(place).relative_to(folder).as_posix()
        yield from (name if below == "." else f"{below}/{name}" for name in names)
