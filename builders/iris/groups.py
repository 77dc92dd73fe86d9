"""IRIS' attributes, groups and occupations (A.2.1, Table 20), labour statistics by region, and dataset revisions."""

import csv
import hashlib
import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairspace.builders import REFERENCE
from fairspace.builders.errors import BuildError, check_revision

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


MOST_APART = 3.4
"""Largest distance from 100 of a row's percentages, that of the released figures (E-IRIS-09); rows are renormalised."""


@lru_cache
def shares(region: Region) -> Mapping[str, NDArray[np.float64]]:
    """The region's shares by attribute (`gender`, `age`, `skin`), each of shape (52, k), rows summing to 1.

    Rows follow `OCCUPATIONS`, nan without figures; columns follow `GROUP_NAMES`. An attribute without columns in the
    file is left out. BuildError REGION_INVALID names file and line of what breaks the layout.
    """
    fields = ("occupation", "official", *(group for groups in GROUP_NAMES.values() for group in groups))
    with region.file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        rows = csv.reader(lines)

        def check(holds: object, what: str, expected: str) -> None:
            if not holds:
                mend = "correct the file; builders/reference/labour_us_cps.csv has the layout"
                raise BuildError("REGION_INVALID", f"{region.file}:{max(rows.line_num, 1)}", what, expected, mend)

        columns = [cell.strip() for cell in next(rows, [])]
        unknown = ", ".join(repr(name[:40]) for name in columns if name not in fields or columns.count(name) > 1)
        check(not unknown, f"column {unknown}", f"columns of {', '.join(fields)}, each once")
        attributes = {name: groups for name, groups in GROUP_NAMES.items() if {*groups} & {*columns}}
        needed = ("occupation", *(group for groups in attributes.values() for group in groups))
        lacking = ", ".join(name for name in needed if name not in columns) or "with figures"
        complete = attributes and {*needed} <= {*columns}
        check(complete, f"no column {lacking}", "occupation, and all groups of an attribute or none")
        tables = {name: np.full((len(OCCUPATIONS), len(groups)), np.nan) for name, groups in attributes.items()}
        listed = set()
        for cells in rows:
            check(len(cells) == len(columns), f"{len(cells)} cells", f"{len(columns)}, as the first line has")
            row = dict(zip(columns, map(str.strip, cells), strict=True))
            name = row["occupation"]
            hint = "".join(f"; did you mean {close}?" for close in get_close_matches(name, OCCUPATIONS, n=1))
            check(name in OCCUPATIONS, f"occupation {name[:40]!r}", f"one of IRIS' 52 (Table 20){hint}")
            check(name not in listed, f"{name} again", "each occupation once")
            listed.add(name)
            for attribute, groups in attributes.items():
                texts = [row[group] for group in groups]
                figures = np.array([float(text) if _NUMBER.fullmatch(text) else np.nan for text in texts])
                total = figures.sum()
                where = f"{attribute} of {name}: {', '.join(texts)[:80]}, which sum to {total:g}"
                wanted = f"percentages from 0 that sum to 100, or at most {MOST_APART} beside it"
                check(abs(total - 100) <= MOST_APART + 1e-9, where, wanted)
                tables[attribute][OCCUPATIONS.index(name)] = figures / total
        check(listed, "no figures", "a row for each occupation that has figures")
    return tables


_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+", re.ASCII)


def read_region(file: Path) -> Region:
    """A region from one's own file (A.4.3); its code is the file's name with eight digits of its sha256.

    BuildError REGION_INVALID as `shares`; OSError if the file cannot be read.
    """
    name = re.sub("[^a-z0-9]", "", file.stem.lower().removeprefix("labour_"))[:12] or "own"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    region = Region(f"{name}-{digest}", "one's own figures", "not stated", "one's own", file)
    shares(region)
    return region


def region_figures(region: Region, attribute: str) -> dict[str, dict[str, float]]:
    """Shares of an attribute's groups by occupation, as `distribution_divergence` takes its `reference`."""
    table = shares(region)[attribute]
    listed = [(name, row) for name, row in zip(OCCUPATIONS, table.tolist(), strict=True) if row[0] == row[0]]
    return {name: dict(zip(GROUP_NAMES[attribute], row, strict=True)) for name, row in listed}


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
