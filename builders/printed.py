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
    """One file of printed figures.

    Args:
        file: name in `reference/published/`, without ending.
        place: place in the paper, for example `Table 2`.
        score: row and column -> the figure's name in results and on the board.
        keys: columns that identify the row, beside the model.
        cohort: column with the cohort that the model is ranked among; '' without one.
        model: row and column -> the model, as the paper's main table writes it.
        cohort_of: model -> its cohort, where no column says it.
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
    """The paper of a benchmark.

    Args:
        title: title in sources.
        tables: tables of its figures; the main one first.
        tags: tags of its datasets' cards, such as `arxiv:2603.00590`.
        citation: BibTeX entry.
    """

    title: str
    tables: tuple[Printed, ...]
    tags: tuple[str, ...] = ()
    citation: str = ""


@lru_cache
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of one file in `reference/published/`, every cell as printed."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))
