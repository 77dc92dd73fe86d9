"""Descriptions of a paper's printed tables: the file of each, and the meaning of its rows and columns.

`builders/<benchmark>/published.py` describes those of one paper as its `PAPER`; `published.py` reads them all.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from fairspace.builders import REFERENCE

FOLDER = REFERENCE / "published"


@dataclass(frozen=True)
class Printed:
    """One file of printed figures in `reference/published/`.

    `place` is its place in the paper, such as `Table 2`; `score` and `model` map row and column to the name in results
    and the model in the paper's main table; `keys` identify the row, beside the model; `cohort` is the column of the
    cohort ranked together, or ''; `cohort_of` has model -> cohort, where no column says it.
    """

    file: str
    place: str
    score: Callable[[Mapping[str, str], str], str]
    keys: tuple[str, ...] = ()
    cohort: str = ""
    model: Callable[[Mapping[str, str], str], str] = lambda row, column: row["model"]
    cohort_of: Callable[[str], str] = lambda model: ""


@dataclass(frozen=True)
class Paper:
    """The paper of a benchmark: title in sources, tables (the main one first), tags of cards, BibTeX entry."""

    title: str
    tables: tuple[Printed, ...]
    tags: tuple[str, ...] = ()
    citation: str = ""


@lru_cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of one file in `reference/published/`, every cell as printed."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))
