"""Content of a benchmark's page, declared by its module as `VIEW`, and its score columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fairspace.leaderboard_space.boards.figures import Figure
from fairspace.leaderboard_space.boards.words import shortened
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.benchmarks.words import Words, words_of
from fairspace.submissions.errors import plain
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.values import Value, number_of


@dataclass(frozen=True)
class Slice:
    """One table of a page. `first`: names of the few further scores shown by default.

    `fair`: the score of fairness alone and the one of facts beside it, where the total is a mixture of both.
    """

    total: Column
    columns: Sequence[Column]
    keep: Callable[[Row], bool] = lambda row: True
    first: tuple[str, ...] = ()
    fair: tuple[Column, Column] | None = None


@dataclass(frozen=True)
class View:
    """The page of one benchmark, beside its `words`.

    Args:
        slices: name -> table; the first is the default.
        labels: label name -> header of its column.
        cohort: header of the cohort's column, '' for none.
        caution: standard -> text for every page with its scores; '' for none.
    """

    benchmark: str
    slices: Mapping[str, Slice]
    labels: Mapping[str, str] = field(default_factory=dict)
    cohort: str = ""
    figures: tuple[Figure, ...] = ()
    caution: Callable[[str], str] = lambda standard: ""

    @property
    def words(self) -> Words:
        """The words of its benchmark."""
        return words_of(self.benchmark)

    @property
    def title(self) -> str:
        """The benchmark's name."""
        return self.words.title

    @property
    def legend(self) -> str:
        """The text below the board, with the benchmark's archetypes."""
        names = find_benchmark(self.benchmark).about().archetypes.items()
        return self.words.legend.replace("{archetypes}", " · ".join(f"`{code}` {name}" for code, name in names))


def part_of(view: View, row: Row) -> Slice:
    """The first table with the row, else the first table."""
    return next((part for part in view.slices.values() if part.keep(row)), next(iter(view.slices.values())))


def total_of(view: View, row: Row) -> Column:
    """The column of a row's ranked score."""
    return part_of(view, row).total


def fair_of(view: View, row: Row) -> Column:
    """The column of a row's fairness: its ranked score, unless that counts facts, too."""
    part = part_of(view, row)
    return part.fair[0] if part.fair else part.total


LONGEST_REASON = 90
"""Characters in a board's cell; a model's page shows all."""


@dataclass(frozen=True)
class Column:
    """A score column; `signed` prints a plus sign and colours the cell by sign and size."""

    score: str
    header: str
    digits: int = 2
    signed: bool = False

    def of(self, row: Row) -> Value | None:
        """The row's score or raw value."""
        return row.scores.get(self.score) or row.values.get(self.score)

    def number(self, row: Row) -> float | None:
        """The number for sorting and display."""
        return number_of(row.scores if self.score in row.scores else row.values, self.score)

    def show(self, shown: float | None) -> str:
        """A number as text; without decimals from 10 000 on."""
        return number(shown, 0 if shown is not None and abs(shown) >= 10_000 else self.digits, self.signed)


def remarks(row: Row) -> str:
    """Marks of a limited run, and the first reason for a missing rank; the model's page has them all."""
    reasons = [reason for reason in row.unranked if reason not in row.remarks]
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    parts = [shortened(plain(reason), LONGEST_REASON) + more for reason in reasons[:1]]
    return "; ".join((*row.remarks, *parts)) or "–"
