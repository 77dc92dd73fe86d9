"""FACET's persons: occupation, perceived presentation and box of each row of annotations.csv.

Layout as published (49 551 persons in 31 702 images): `person_id` (unique), `filename`, `class1`, `class2` (52 classes,
the second often empty), `bounding_box` (x, y, width, height in pixels, as JSON or with Python's quotes), `skin_tone_1`
to `skin_tone_10` and `skin_tone_na` (votes per Monk tone), and columns that are positive where they apply:
`gender_presentation_{masc,fem,non_binary,na}`, `age_presentation_{young,middle,older,na}`. Decisions:

- *Skin tone.* The label is the group with most votes of light (tones 1-3), middle (4-7) and dark (8-10); on a tie the
  tied group with the median vote. There is no label if the two middle votes lie in two groups, if the median lies
  outside the tied groups, or if more annotators voted that the tone cannot be told than for the group.
- *Age.* The words are taken over, as in IRIS. They are impressions; FACET's borders need not be IRIS' (40 and 65).
- *Gender.* fem is female, masc is male; IRIS has no group for non-binary presentation, so there is no label.
- Two positive columns of one attribute, or none: no label.
"""

import json
import os
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os.path import isfile
from pathlib import Path

from fairspace.builders.engine.tools import PersonBox
from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import OCCUPATIONS, SKIN_TONES
from fairspace.builders.sources import AGAIN, inside, table

ANNOTATIONS = "annotations/annotations.csv"
_TONES = tuple(f"skin_tone_{tone}" for tone in (*range(1, 11), "na"))
_GENDERS = {"fem": "female", "masc": "male", "non_binary": "", "na": ""}
_AGES = {"young": "young", "middle": "middle-aged", "older": "older", "na": ""}
_VOTES = (
    *_TONES,
    *(f"gender_presentation_{name}" for name in _GENDERS),
    *(f"age_presentation_{name}" for name in _AGES),
)
_CLASSES = frozenset(OCCUPATIONS)


@dataclass(frozen=True, slots=True)
class Person:
    """One annotated person with perceived labels; '' without a label.

    `line` is that of annotations.csv; `file` lies below the source's folder (`images/<filename>` if absent);
    `occupations` are one or two, the primary one first; `gender` is `female` or `male`, `age` `young`, `middle-aged` or
    `older`, `skin_tone` `light`, `middle` or `dark`.
    """

    line: int
    person_id: str
    file: str
    occupations: tuple[str, ...]
    gender: str
    age: str
    skin_tone: str
    box: PersonBox


def persons(folder: Path) -> Iterator[Person]:
    """The persons of FACET, in the order of the file, one row in memory at a time.

    BuildError SOURCE_LAYOUT, SOURCE_VALUE with file and line.
    """
    file = folder / ANNOTATIONS
    columns = ("person_id", "filename", "class1", "class2", "bounding_box", *_VOTES)
    find = _Images(folder).find
    seen: set[str] = set()
    for line, (person_id, name, class1, class2, box, *votes) in table(file, columns):
        where = f"{file}:{line}"
        if not (person_id.isascii() and person_id.isdigit()):
            raise BuildError("SOURCE_VALUE", where, f"the person_id {person_id!r}", "a whole number", AGAIN)
        if person_id in seen:
            what = f"the person_id {person_id} a second time"
            raise BuildError("SOURCE_VALUE", where, what, "each person once", "remove the repeated rows")
        seen.add(person_id)
        try:
            gender, age, tone = _labels(tuple(votes))
        except ValueError as error:
            raise BuildError("SOURCE_VALUE", where, str(error), "a whole number from 0", AGAIN) from error
        image = find(name, where)
        occupations = _occupations(class1, class2, where)
        yield Person(line, person_id, image, occupations, gender, age, tone, _box(box, where))


def skin_tone(votes: Sequence[int], cannot_tell: int = 0) -> str:
    """The group of ten vote counts by the rule above: `light`, `middle`, `dark` or ''."""
    sums = (sum(votes[:3]), sum(votes[3:7]), sum(votes[7:]))
    most, total = max(sums), sum(sums)
    if not most or cannot_tell > most:
        return ""
    tied = [group for group in range(3) if sums[group] == most]
    if len(tied) > 1:
        ends = (sums[0], sums[0] + sums[1])
        low, high = (sum(vote >= end for end in ends) for vote in ((total - 1) // 2, total // 2))
        tied = [group for group in tied if group == low == high]
    return SKIN_TONES[tied[0]] if tied else ""


class _Images:
    """Finds images by name below the source's folder; the folder of the last hit is tried first."""

    def __init__(self, folder: Path) -> None:
        folders = (Path(path) for path, _, _ in os.walk(folder) if path != str(folder))
        below = sorted(path.relative_to(folder).as_posix() for path in folders)
        self._folders = [(f"{name}/", f"{folder}/{name}/") for name in below if name != ANNOTATIONS.partition("/")[0]]

    def find(self, name: str, where: str) -> str:
        inside(name, where)
        for place, (below, folder) in enumerate(self._folders):
            if isfile(folder + name):  # noqa: PTH113 - once per person, and a Path takes four times as long
                self._folders.insert(0, self._folders.pop(place))
                return below + name
        return f"images/{name}"


@lru_cache(maxsize=10_000)
def _labels(votes: tuple[str, ...]) -> tuple[str, str, str]:
    """Gender, age and skin tone of the cells of `_VOTES`. ValueError names a cell."""
    for column, vote in zip(_VOTES, votes, strict=True):
        if not (vote.isascii() and vote.isdigit()):
            raise ValueError(f"{column} is {vote!r}")
    counts = tuple(map(int, votes))
    skin, gender, age = counts[:11], counts[11:15], counts[15:]
    return _only(gender, _GENDERS), _only(age, _AGES), skin_tone(skin[:10], skin[10])


def _only(counts: Sequence[int], labels: Mapping[str, str]) -> str:
    tones = [label for label, count in zip(labels.values(), counts, strict=True) if count]
    return tones[0] if len(tones) == 1 else ""


def _occupations(class1: str, class2: str, where: str) -> tuple[str, ...]:
    classes = (class1, class2) if class2 and class2 != class1 else (class1,)
    for name in classes:
        if name not in _CLASSES:
            raise BuildError("SOURCE_VALUE", where, f"the class {name!r}", "one of FACET's 52 classes", AGAIN)
    return classes


def _box(text: str, where: str) -> PersonBox:
    expected = "JSON with x, y, width and height in pixels, the last two above 0"
    try:
        parsed = literal_eval(text) if text.startswith("{'") else json.loads(text)
        x, y, width, height = (float(parsed[key]) for key in ("x", "y", "width", "height"))
    except (ValueError, TypeError, KeyError, SyntaxError, RecursionError) as error:
        raise BuildError("SOURCE_VALUE", where, f"the bounding_box {text!r}", expected, AGAIN) from error
    if not (width > 0 and height > 0 and x + width > 0 and y + height > 0 and x + y + width + height < 1e6):
        raise BuildError("SOURCE_VALUE", where, f"the bounding_box {text!r}", expected, AGAIN)
    return PersonBox(x, y, width, height)
