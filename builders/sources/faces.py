"""Labels of real faces: FairFace (age bucket, gender, race), MST-E (Monk skin tone) and UTKFace (age, gender, race).

FairFace's layout: `fairface_label_train.csv` (86 744 faces) and `fairface_label_val.csv` (10 954) with
`file,age,gender,race,service_test`; `file` lies below the source's folder (`train/1.jpg`). Decisions:

- *Spreadsheet damage.* Programs save 3-9 and 10-19 as "9-Mar", "19-Oct", "3-Sep", "Oct-19". A day (or year) and a month
  that are 3 and 9, or 10 and 19, in either order, are one bucket only: repaired; `SourceFace.damaged` keeps the cell.
  Other dates ("9-Apr", "3/9/2021", the day number 44264) are refused as SOURCE_DAMAGED.
- *Age.* Up to 39 is young, 40-59 middle-aged, more than 70 older. 60-69 straddles 65 and gives no label.
- *Race.* `FACT_OR_FAIR_RACES` maps the seven words to FACT-OR-FAIR's four as U.S. agencies do (OMB, 1997): the Indian
  subcontinent is Asian, the Middle East White. Both are coarse; the builders keep FairFace's own word. (FACT-OR-FAIR's
  authors pass over both words by probabilities, which labels of people do not have: `running/zero_shot.py`.)
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from fairspace.builders.errors import BuildError
from fairspace.builders.iris.groups import SKIN_TONES
from fairspace.builders.sources import AGAIN, inside, table

SPLITS = ("train", "val")
BUCKETS: Mapping[str, str] = {
    "0-2": "young",
    "3-9": "young",
    "10-19": "young",
    "20-29": "young",
    "30-39": "young",
    "40-49": "middle-aged",
    "50-59": "middle-aged",
    "60-69": "",
    "more than 70": "older",
}
"""Bucket -> IRIS' age group, '' where it straddles two."""
FACT_OR_FAIR_RACES: Mapping[str, str] = {
    "East Asian": "Asian",
    "Southeast Asian": "Asian",
    "Indian": "Asian",
    "Black": "Black",
    "Latino_Hispanic": "Hispanic",
    "White": "White",
    "Middle Eastern": "White",
}
FAIRFACE_RACES = tuple(FACT_OR_FAIR_RACES)
_GENDERS = {"Female": "female", "Male": "male"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATES = {frozenset((3, 9)): "3-9", frozenset((10, 19)): "10-19"}
_DAY_MONTH = re.compile(r"(?:(\d{1,2})[- ]([a-z]{3})|([a-z]{3})[- ](\d{1,2}))\Z")
_LIKE_A_DATE = re.compile(rf"\d+[-/.]\d+[-/.]\d+|\d+/\d+|\d{{5}}(\.0)?\Z|.*({'|'.join(_MONTHS)})")


@dataclass(frozen=True, slots=True)
class SourceFace:
    """One labelled face: perceived gender (`female` or `male`), race (of `RACES`) and age bucket (of `BUCKETS`).

    `age` is `young`, `middle-aged` or `older`, '' where the bucket straddles two; `file` lies below the source's
    folder; `damaged` is the cell as found where the bucket was repaired, else ''.
    """

    line: int
    file: str
    gender: str
    age: str
    bucket: str
    race: str
    damaged: str = ""


def faces(folder: Path, split: Literal["train", "val"]) -> Iterator[SourceFace]:
    """The faces of one split, in the order of the file, one row in memory at a time.

    Errors: BuildError SOURCE_LAYOUT, SOURCE_VALUE, SOURCE_DAMAGED with file and line.
    """
    labels = folder / f"fairface_label_{split}.csv"
    for line, (file, age, gender, race, _) in table(labels, ("file", "age", "gender", "race", "service_test")):
        where = f"{labels}:{line}"
        bucket = age if age in BUCKETS else repaired(age, where)
        if gender not in _GENDERS:
            raise BuildError("SOURCE_VALUE", where, f"the gender {gender!r}", " or ".join(_GENDERS), AGAIN)
        if race not in FACT_OR_FAIR_RACES:
            raise BuildError("SOURCE_VALUE", where, f"the race {race!r}", f"one of {', '.join(FAIRFACE_RACES)}", AGAIN)
        yield SourceFace(
            line=line,
            file=inside(file, where),
            gender=_GENDERS[gender],
            age=BUCKETS[bucket],
            bucket=bucket,
            race=race,
            damaged="" if bucket == age else age,
        )


def repaired(age: str, where: str) -> str:
    """The bucket that a spreadsheet program made a date of. BuildError SOURCE_DAMAGED, SOURCE_VALUE."""
    text = age.strip().lower()
    if match := _DAY_MONTH.match(text):
        number, month = (match[1], match[2]) if match[1] else (match[4], match[3])
        if month in _MONTHS and (bucket := _DATES.get(frozenset((int(number), _MONTHS.index(month) + 1)))):
            return bucket
    expected = f"one of {', '.join(BUCKETS)}"
    if _LIKE_A_DATE.match(text):
        raise BuildError("SOURCE_DAMAGED", where, f"the age {age!r}", expected, AGAIN)
    raise BuildError("SOURCE_VALUE", where, f"the age {age!r}", expected, AGAIN)


# MST-E, layout as published: `mst-e_image_details.csv` with `image_ID`, `subject_name` and `MST` (1 to 10), and images
# as `<subject_name>/<image_ID>`: 19 subjects, 1 515 images. The 31 videos and raw camera files (`.dng`) are left out.
#
# *Licence question.* The set's terms are reported to forbid the training of models; IRIS' authors name it among their
# training images (C.4). So it is read only on request, and never published.
#
# Trap: some levels rest on a single subject, who must not be in two splits.

DETAILS = "mst-e_image_details.csv"
IMAGES = (".jpg", ".jpeg", ".png")
LEFT_OUT = (".mp4", ".mov", ".dng", ".heic")
_TONES = tuple(map(str, range(1, 11)))


class MstImage(NamedTuple):
    """One image and the group of its subject's Monk tone; `file` lies below the source's folder."""

    file: str
    subject: str
    skin_tone: str


def images(folder: Path) -> Iterator[MstImage]:
    """The images of MST-E, in the order of the file, one row in memory at a time; videos are left out.

    Monk's tones 1-3 are light, 4-7 middle, 8-10 dark. Errors: BuildError SOURCE_LAYOUT, SOURCE_VALUE with file and
    line.
    """
    details = folder / DETAILS
    for line, row in table(details, ("image_ID", "subject_name", "MST")):
        name, subject, mst = (cell.strip() for cell in row)
        where = f"{details}:{line}"
        file = inside(f"{subject}/{name}" if subject and name else "", where)
        ending = PurePosixPath(file).suffix.lower()
        if ending in LEFT_OUT:
            continue
        if ending not in IMAGES:
            expected = f"a file that ends in {', '.join((*IMAGES, *LEFT_OUT))}"
            raise BuildError("SOURCE_VALUE", where, f"the image_ID {name!r}", expected, AGAIN)
        if mst not in _TONES:
            raise BuildError("SOURCE_VALUE", where, f"the MST {mst!r}", "a whole number from 1 to 10", AGAIN)
        yield MstImage(file, subject, SKIN_TONES[(int(mst) > 3) + (int(mst) > 7)])


# UTKFace, layout as published: `[age]_[gender]_[race]_[date&time].jpg` or `.jpg.chip.jpg` (aligned faces), in any
# folders. Age 0 to 116; gender 0 male, 1 female; race 0 White, 1 Black, 2 Asian, 3 Indian, 4 Others; date and time 17
# digits. Other names (`61_1_20170109142408075.jpg.chip.jpg` has no race) are left out and counted by reason. A face in
# two folders under the same label and time counts once.

OLDEST = 116
GENDERS = ("male", "female")
UTKFACE_RACES = ("White", "Black", "Asian", "Indian", "")
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
    return UtkFace(file, int(age), GENDERS[int(gender)], UTKFACE_RACES[int(race)])


def _files(folder: Path) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        below = Path(place).relative_to(folder).as_posix()
        yield from (name if below == "." else f"{below}/{name}" for name in names)
