"""How a paper's printed tables are described: which file holds a table, and what its rows and columns mean.

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
    """One file: where it is printed, which columns say the row and the cohort, and the score that a column holds.

    Args:
        file: in `reference/published/`, without its ending.
        place: where the paper prints it, for example `Table 2`.
        score: row and column -> the name that the figure has in results and on the board.
        keys: columns that say which row it is, beside the model.
        cohort: the column that says what the table ranks the model among; '' without one.
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
        title: as sources name it.
        tables: with the figures that it prints; the main one first.
        tags: of the cards of its datasets, such as `arxiv:2603.00590`.
        citation: its entry for BibTeX.
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
