"""Official labour statistics by region, the real-world reference of IRIS' RFS sectors (C.5, Tables 21 and 22).

A further region (A.4.3) is a CSV file in `reference/` with the same columns (shares in percent; unpublished attributes
are left out) and an entry in `REGIONS`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairspace.builders import REFERENCE
from fairspace.builders.iris.groups import GROUP_NAMES, OCCUPATIONS


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
