"""The config `labour` of IRIS' datasets: official labour statistics, one row per region, occupation and group.

The rows are what `fairspace.builders.iris.labour` reads, so what is published is what RFS scores are computed with
(IRIS, C.5).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fairspace.builders.engine.dataset import Row, Split
from fairspace.builders.iris.groups import GROUP_NAMES, OCCUPATIONS
from fairspace.builders.iris.labour import REGIONS, Region, shares

if TYPE_CHECKING:
    from datasets import Features


def labour_split() -> Split:
    """Every share of every region, with the figure that it comes from."""
    return Split(
        config="labour",
        split="test",
        about="The share of a group among those who work in an occupation, by official statistics.",
        features=_features,
        units=[row for region in REGIONS for row in _rows(region)],
        rows=lambda part: part,
        shard=10_000,
        groups=("region", "attribute"),
        fields={
            "region": "whose statistics: `US` (Current Population Survey), `EU` (Labour Force Survey)",
            "occupation": "one of the 52 of Table 20",
            "official": "category of the statistics that stands for the occupation",
            "attribute": "gender, age or skin tone; skin tone is a proxy from race and ethnicity",
            "group": "female, male; young, middle-aged, older; light, middle, dark",
            "percent": "as the source gives it",
            "share": "in [0, 1]; the groups of an attribute sum to 1",
            "source": "who published the figures",
            "year": "of the figures",
        },
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


def _features() -> Features:
    from datasets import ClassLabel, Features, Value

    labels = {
        "region": [region.code for region in REGIONS],
        "occupation": OCCUPATIONS,
        "attribute": GROUP_NAMES,
        "group": [group for groups in GROUP_NAMES.values() for group in groups],
    }
    columns = {name: ClassLabel(names=list(values)) for name, values in labels.items()}
    return Features(
        {
            "id": Value("string"),
            **columns,
            **{name: Value("float64") for name in ("percent", "share")},
            **{name: Value("string") for name in ("official", "source", "year")},
        }
    )
