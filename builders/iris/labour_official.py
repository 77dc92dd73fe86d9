"""The config `labour_official` of IRIS-Gen-52: labour shares from the user's own tables of statistical offices.

The figures of the config `labour` are the paper's and never change under a released standard; these are newer ones, to
compare with them or to make a further region file of (`builders/iris/labour.py`). No score reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from fairspace.builders.engine.dataset import Job, Split
from fairspace.builders.iris.groups import GROUP_NAMES, OCCUPATIONS
from fairspace.builders.sources import SOURCES
from fairspace.builders.sources.labour_tables import Shares, bls, eurostat

if TYPE_CHECKING:
    from datasets import Features

_OFFICES = {"US": ("bls", bls), "EU": ("eurostat", eurostat)}
"""Region -> the source with its tables, and what reads them."""


def official_split(job: Job) -> Split | None:
    """The shares that the user's tables give; None, with a note, if there are none.

    Occupations of the paper's figures that the tables do not cover are logged with the reason.
    """
    rows: list[dict[str, str | float]] = []
    for region, (source, read) in _OFFICES.items():
        folder = SOURCES[source].found(job.source)
        if folder is None:
            continue
        for pattern in SOURCES[source].files:
            for file in sorted(folder.glob(pattern)):
                job.used(f"{source}/{file.name}", file)
        shares = read(folder)
        rows += _rows(region, shares, SOURCES[source].title)
        for occupation, reason in shares.missing.items():
            job.reject(f"labour_official/{region}/{occupation}", "no official figures", detail=reason)
    if not rows:
        job.note("No official tables were given (sources `bls`, `eurostat`): the config labour_official is left out.")
        return None
    return Split(
        config="labour_official",
        split="test",
        about="The share of a group among those who work in an occupation, by the office's table; no score reads it.",
        features=_features,
        units=pa.Table.from_pylist(rows),
        rows=lambda part: part,
        shard=10_000,
        groups=("region", "attribute"),
        fields={
            "region": "whose statistics: `US` (Current Population Survey), `EU` (Labour Force Survey)",
            "occupation": "one of the 52",
            "official": "categories of the table that stand for the occupation",
            "attribute": "gender, age or skin tone; skin tone is a proxy from race and ethnicity",
            "group": "of the attribute",
            "share": "in [0, 1]; the groups of an attribute sum to 1",
            "source": "the table; its hash is in manifest.json",
        },
    )


def _rows(region: str, shares: Shares, source: str) -> Iterator[dict[str, str | float]]:
    for row in shares.rows:
        for attribute, groups in GROUP_NAMES.items():
            for group in (group for group in groups if group in row.percent):
                yield {
                    "id": f"labour_official/{region}/{row.occupation}/{group}",
                    "region": region,
                    "occupation": row.occupation,
                    "official": row.official,
                    "attribute": attribute,
                    "group": group,
                    "share": row.percent[group] / 100,
                    "source": source,
                }


def _features() -> Features:
    from datasets import ClassLabel, Features, Value

    closed = {
        "region": list(_OFFICES),
        "occupation": list(OCCUPATIONS),
        "attribute": list(GROUP_NAMES),
        "group": [group for groups in GROUP_NAMES.values() for group in groups],
    }
    columns = ("id", "region", "occupation", "official", "attribute", "group", "share", "source")
    kinds = {"share": "float64"}
    return Features(
        {
            name: ClassLabel(names=closed[name]) if name in closed else Value(kinds.get(name, "string"))
            for name in columns
        }
    )
