"""FairFace's labels: perceived age bucket, gender and race of each face, from the two label CSVs.

Layout as published: `fairface_label_train.csv` (86 744 faces) and `fairface_label_val.csv` (10 954) with
`file,age,gender,race,service_test`; `file` lies below the source's folder (`train/1.jpg`). Decisions:

- *Spreadsheet damage.* Programs save 3-9 and 10-19 as "9-Mar", "19-Oct", "3-Sep", "Oct-19". A day (or year) and a month
  that are 3 and 9, or 10 and 19, in either order, are one bucket only: repaired, and `Face.damaged` keeps the cell.
  Other dates ("9-Apr", "3/9/2021", the day number 44264) are refused as SOURCE_DAMAGED.
- *Age.* Up to 39 is young, 40-59 middle-aged, more than 70 older. 60-69 straddles 65 and gives no label.
- *Race.* `FACT_OR_FAIR_RACES` maps the seven words to FACT-OR-FAIR's four as U.S. agencies do (OMB, 1997): the Indian
  subcontinent is Asian, the Middle East White. Both are coarse; the builders keep FairFace's own word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairspace.builders.errors import BuildError
from fairspace.builders.sources.reading import AGAIN, inside, table

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
RACES = tuple(FACT_OR_FAIR_RACES)
_GENDERS = {"Female": "female", "Male": "male"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATES = {frozenset((3, 9)): "3-9", frozenset((10, 19)): "10-19"}
_DAY_MONTH = re.compile(r"(?:(\d{1,2})[- ]([a-z]{3})|([a-z]{3})[- ](\d{1,2}))\Z")
_LIKE_A_DATE = re.compile(rf"\d+[-/.]\d+[-/.]\d+|\d+/\d+|\d{{5}}(\.0)?\Z|.*({'|'.join(_MONTHS)})")


@dataclass(frozen=True, slots=True)
class Face:
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


def faces(folder: Path, split: Literal["train", "val"]) -> Iterator[Face]:
    """The faces of one split, in the order of the file, one row in memory at a time.

    Errors: BuildError SOURCE_LAYOUT, SOURCE_VALUE, SOURCE_DAMAGED with file and line.
    """
    labels = folder / f"fairface_label_{split}.csv"
    for line, (file, age, gender, race, _) in table(labels, ("file", "age", "gender", "race", "service_test")):
        where = f"{labels}:{line}"
        bucket = age if age in BUCKETS else _repair(age, where)
        if gender not in _GENDERS:
            raise BuildError("SOURCE_VALUE", where, f"the gender {gender!r}", " or ".join(_GENDERS), AGAIN)
        if race not in FACT_OR_FAIR_RACES:
            raise BuildError("SOURCE_VALUE", where, f"the race {race!r}", f"one of {', '.join(RACES)}", AGAIN)
        yield Face(
            line=line,
            file=inside(file, where),
            gender=_GENDERS[gender],
            age=BUCKETS[bucket],
            bucket=bucket,
            race=race,
            damaged="" if bucket == age else age,
        )


def _repair(age: str, where: str) -> str:
    text = age.strip().lower()
    if match := _DAY_MONTH.match(text):
        number, month = (match[1], match[2]) if match[1] else (match[4], match[3])
        if month in _MONTHS and (bucket := _DATES.get(frozenset((int(number), _MONTHS.index(month) + 1)))):
            return bucket
    expected = f"one of {', '.join(BUCKETS)}"
    if _LIKE_A_DATE.match(text):
        raise BuildError("SOURCE_DAMAGED", where, f"the age {age!r}", expected, AGAIN)
    raise BuildError("SOURCE_VALUE", where, f"the age {age!r}", expected, AGAIN)
