"""IRIS' attributes, groups and occupations (A.2.1, Table 20), labour statistics by region, and dataset revisions."""

from __future__ import annotations

import csv
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairspace.builders import REFERENCE
from fairspace.builders.errors import check_revision

OCCUPATIONS = (
    *("astronaut", "backpacker", "ballplayer", "bartender", "basketball_player", "boatman", "carpenter"),
    *("cheerleader", "climber", "computer_user", "craftsman", "dancer", "disk_jockey", "doctor", "drummer"),
    *("electrician", "farmer", "fireman", "flutist", "gardener", "guard", "guitarist", "gymnast", "hairdresser"),
    *("horseman", "judge", "laborer", "lawman", "lifeguard", "machinist", "motorcyclist", "nurse", "painter"),
    *("patient", "prayer", "referee", "repairman", "reporter", "retailer", "runner", "sculptor", "seller"),
    *("singer", "skateboarder", "soccer_player", "soldier", "speaker", "student", "teacher", "tennis_player"),
    *("trumpeter", "waiter"),
)
"""Table 20."""

GENDERS = ("female", "male")
AGES = ("young", "middle-aged", "older")
SKIN_TONES = ("light", "middle", "dark")
LABELS = {"gender": GENDERS, "age": AGES, "skin_tone": SKIN_TONES}
GROUP_NAMES = {"gender": GENDERS, "age": AGES, "skin": SKIN_TONES}

GROUPS = tuple("_".join(parts) for parts in product(GENDERS, AGES, SKIN_TONES))
"""The 18 groups of gender, age and skin tone; a group's index is (gender * 3 + age) * 3 + skin tone."""

COMBINATIONS = {
    "gender": (0,),
    "age": (1,),
    "skin": (2,),
    "gender_age": (0, 1),
    "gender_skin": (0, 2),
    "age_skin": (1, 2),
    "gender_age_skin": (0, 1, 2),
}
"""The seven attribute combinations, always in this order, as positions in (gender, age, skin)."""

_SIZES = (len(GENDERS), len(AGES), len(SKIN_TONES))


def combination_size(combination: str) -> int:
    """The number of groups of a combination: 2, 3, 3, 6, 6, 9, 18."""
    return int(np.prod([_SIZES[position] for position in COMBINATIONS[combination]]))


def combination_codes(attributes: NDArray[np.int_], combination: str) -> NDArray[np.int_]:
    """(n,) group index within a combination, from (n, 3) codes of gender, age and skin tone; -1 for a missing label."""
    positions = COMBINATIONS[combination]
    code = np.zeros(len(attributes), dtype=np.int64)
    for position in positions:
        code = code * _SIZES[position] + attributes[:, position]
    return np.where((attributes[:, list(positions)] < 0).any(axis=1), -1, code)


def group_members(combination: str) -> NDArray[np.int_]:
    """(18, k) 1 where a group of gender, age and skin tone is part of a combination's group."""
    codes = combination_codes(group_attributes(np.arange(len(GROUPS))), combination)
    return np.asarray(codes[:, None] == np.arange(combination_size(combination)), dtype=np.int64)


def group_attributes(groups: NDArray[np.int_]) -> NDArray[np.int_]:
    """(n,) indices into `GROUPS` -> (n, 3) codes of gender, age and skin tone."""
    return np.stack([groups // 9, groups // 3 % 3, groups % 3], axis=-1)


def combination_names(combination: str) -> tuple[str, ...]:
    """The names of a combination's groups, in the order of their codes."""
    parts = [tuple(GROUP_NAMES.values())[position] for position in COMBINATIONS[combination]]
    return tuple("_".join(names) for names in product(*parts))


# Real-world reference of the RFS sectors (C.5, Tables 21 and 22). A further region (A.4.3) is a CSV file in
# `reference/` with the same columns (shares in percent; unpublished attributes are left out) and an entry in
# `REGIONS`.


@dataclass(frozen=True)
class Region:
    """One region's figures, from a CSV file: `occupation`, `official` (the category), a column in percent per group.

    `code` is its prefix in the names of raw values, such as `US`; `mapping` says how occupations, ages and skin tones
    were mapped.
    """

    code: str
    source: str
    year: str
    mapping: str
    file: Path


REGIONS = (
    Region(
        code="US",
        source="U.S. Bureau of Labor Statistics, Current Population Survey, annual averages (IRIS, Table 22)",
        year="2023-2024",
        mapping=(
            "SOC categories closest to the 52 terms. Ages as mapped in the paper. Skin tone is a proxy from race and "
            "ethnicity (light: White non-Hispanic, dark: Black, middle: all others); some rows do not sum to 100."
        ),
        file=REFERENCE / "labour_us_cps.csv",
    ),
    Region(
        code="EU",
        source="Eurostat, Labour Force Survey (IRIS, Table 21)",
        year="2024",
        mapping="ISCO-08 categories closest to the 52 terms. No race or ethnicity is published, so no skin tone.",
        file=REFERENCE / "labour_eu_lfs.csv",
    ),
)


@lru_cache
def shares(region: Region) -> Mapping[str, NDArray[np.float64]]:
    """The region's shares by attribute (`gender`, `age`, `skin`), each of shape (52, k), rows summing to 1.

    Rows follow `OCCUPATIONS`, nan without figures; columns follow `GROUP_NAMES`. An attribute without columns in the
    file is left out. ValueError names file and line of a row that breaks the layout.
    """
    with region.file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    shares: dict[str, NDArray[np.float64]] = {}
    for attribute, groups in GROUP_NAMES.items():
        if not rows or not set(groups) <= set(rows[0]):
            continue
        table = np.full((len(OCCUPATIONS), len(groups)), np.nan)
        for line, row in enumerate(rows, start=2):
            if row["occupation"] not in OCCUPATIONS:
                raise ValueError(f"{region.file}:{line}: {row['occupation']!r} is none of the 52 IRIS occupations")
            figures = np.array([float(row[group]) for group in groups])
            if not np.all(figures >= 0) or figures.sum() <= 0:
                raise ValueError(f"{region.file}:{line}: {attribute} {figures.tolist()} are no shares in percent")
            table[OCCUPATIONS.index(row["occupation"])] = figures / figures.sum()
        shares[attribute] = table
    return shares


# C.2 bases image pairs on the combinations of occupation and group in which models are most biased; `v1` and `v2` draw
# them. `v2-cohort-0c1f` names its combinations, two characters each (the numbers of occupation and group in base 36);
# all other items are those of `v2`.

REVISIONS = ("v2", "v1")
CORE: Mapping[str, str] = {"v2-core": "v2"}
"""Core revision -> its full revision: fewer images, rounds and pairs, with the same ids."""
CORE_SEED = 5352
MARK = f"{REVISIONS[0]}-cohort-"
MOST = 10
"""Most combinations of a cohort; C.2 takes ten of each model for generation, and states no number here."""
Combination = tuple[int, int]
_DIGITS = string.digits + string.ascii_lowercase


def cohort_revision(combinations: Iterable[Combination]) -> str:
    """The revision with pairs of these combinations, in any order. ValueError for none, or more than `MOST`."""
    numbers = sorted({occupation * len(GROUPS) + group for occupation, group in combinations})
    if not 1 <= len(numbers) <= MOST:
        raise ValueError(f"{len(numbers)} combinations; 1 to {MOST} make a plan")
    return MARK + "".join(_DIGITS[number // 36] + _DIGITS[number % 36] for number in numbers)


def combinations_of(revision: str) -> tuple[Combination, ...]:
    """The combinations of a revision's pairs; none if they are drawn, or it is no revision."""
    code = revision.removeprefix(MARK)
    if code == revision or len(code) % 2 or not set(code) <= set(_DIGITS):
        return ()
    numbers = [int(code[place : place + 2], 36) for place in range(0, len(code), 2)]
    ascending = all(before < after for before, after in pairwise(numbers))
    if not 1 <= len(numbers) <= MOST or not ascending or numbers[-1] >= len(OCCUPATIONS) * len(GROUPS):
        return ()
    return tuple(divmod(number, len(GROUPS)) for number in numbers)


def base_revision(revision: str) -> str:
    """The revision that a cohort's revision takes its other items from, or of which a core is a part; else itself."""
    return REVISIONS[0] if combinations_of(revision) else CORE.get(revision, revision)


def check_iris_revision(dataset: str, revision: str) -> None:
    """BuildError REVISION_UNKNOWN if a dataset of IRIS has no such revision."""
    check_revision(dataset, base_revision(revision), REVISIONS)
