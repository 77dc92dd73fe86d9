"""Shares of one region as the labour table readers give them, and as a region file of `builders/iris/labour.py`."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO

from fairspace.builders.iris.groups import GROUP_NAMES
from fairspace.builders.iris.labour import REGIONS


@dataclass(frozen=True)
class Row:
    """The shares of one occupation.

    Args:
        occupation: one of IRIS' 52.
        official: the categories of the table that stand for it.
        percent: share by group, in percent; the groups of each attribute sum to 100.
    """

    occupation: str
    official: str
    percent: Mapping[str, float]


@dataclass(frozen=True)
class Shares:
    """The shares of one region.

    Args:
        rows: in the order of the region's reference file.
        missing: occupation of the reference file without a row -> why.
        notes: what to know about single figures.
    """

    rows: tuple[Row, ...]
    missing: Mapping[str, str]
    notes: tuple[str, ...] = ()


def percent(persons: Mapping[str, float]) -> dict[str, float]:
    """Persons by group -> percent, each attribute that has groups here by itself."""
    shares: dict[str, float] = {}
    for groups in GROUP_NAMES.values():
        total = sum(persons.get(group, 0.0) for group in groups)
        shares |= {group: 100 * persons[group] / total for group in groups if group in persons}
    return shares


def official(code: str) -> dict[str, str]:
    """Occupation -> official category in the reference file of a region."""
    region = next(region for region in REGIONS if region.code == code)
    with region.file.open(encoding="utf-8", newline="") as text:
        return {row["occupation"]: row["official"] for row in csv.DictReader(text)}


def csv_text(shares: Shares) -> str:
    """The shares as a region file, two decimals."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["occupation", "official", *(shares.rows[0].percent if shares.rows else ())])
    for row in shares.rows:
        writer.writerow([row.occupation, row.official, *(f"{share:.2f}" for share in row.percent.values())])
    return text.getvalue()
