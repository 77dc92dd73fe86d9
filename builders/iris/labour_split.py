"""The config `labour` of IRIS' datasets: official labour statistics, one row per region, occupation and group.

The rows are what `fairspace.builders.iris.labour` reads, so what is published is what RFS scores are computed with
(IRIS, C.5).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from fairspace.builders.engine.dataset import Row, Split
from fairspace.builders.iris.groups import GROUP_NAMES, OCCUPATIONS
from fairspace.builders.iris.labour import REGIONS, Region, shares


def labour_split() -> Split:
    """Every share of every region, with the figure that it comes from."""
    return Split(
        config="labour",
        about="The share of a group among those who work in an occupation, by official statistics.",
        columns={
            "region": (
                [region.code for region in REGIONS],
                "whose statistics: `US` (Current Population Survey), `EU` (Labour Force Survey)",
            ),
            "occupation": (OCCUPATIONS, "one of the 52 of Table 20"),
            "attribute": (list(GROUP_NAMES), "gender, age or skin tone; skin tone is a proxy from race and ethnicity"),
            "group": (
                [group for groups in GROUP_NAMES.values() for group in groups],
                "female, male; young, middle-aged, older; light, middle, dark",
            ),
            "percent": ("float64", "as the source gives it"),
            "share": ("float64", "in [0, 1]; the groups of an attribute sum to 1"),
            "official": ("string", "category of the statistics that stands for the occupation"),
            "source": ("string", "who published the figures"),
            "year": ("string", "of the figures"),
        },
        units=[row for region in REGIONS for row in _rows(region)],
        shard=10_000,
        groups=("region", "attribute"),
    )


def _rows(region: Region) -> Iterator[Row]:
    with region.file.open(encoding="utf-8", newline="") as lines:
        official = list(csv.DictReader(lines))
    for attribute, table in shares(region).items():
        for row in official:
            for place, group in enumerate(GROUP_NAMES[attribute]):
                yield {
                    "id": f"labour/{region.code}/{row['occupation']}/{group}",
                    "region": region.code,
                    "occupation": row["occupation"],
                    "official": row["official"],
                    "attribute": attribute,
                    "group": group,
                    "percent": float(row[group]),
                    "share": float(table[OCCUPATIONS.index(row["occupation"]), place]),
                    "source": region.source,
                    "year": region.year,
                }
