"""Content of a benchmark's page; one module per benchmark declares its `VIEW`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fairspace.leaderboard_space.boards.figures.figures import Figure
from fairspace.leaderboard_space.boards.tables.scores import Column
from fairspace.submissions.results.row import Row


@dataclass(frozen=True)
class Slice:
    """One table of a page.

    Args:
        total: the score that ranks go by.
        columns: the other scores to show.
        keep: which rows it has.
        first: names of the other scores that it shows at first, at most three; the reader can choose the others.
    """

    total: Column
    columns: Sequence[Column]
    keep: Callable[[Row], bool] = lambda row: True
    first: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """The page of one benchmark.

    Args:
        benchmark: its name.
        title: what stands on the tab.
        asks: the question that it answers, in one sentence.
        how_to_read: Markdown of ours: how to read the page, and what its scores cannot say.
        slices: name -> one table of the page; the first is shown first.
        labels: label name -> header of its column.
        cohort: header of the cohort's column, '' for none.
        figures: that the benchmark has, in the order in which pages show them.
        legend: Markdown of ours below the table.
        caution: standard -> Markdown of ours that must stand once on every page with its scores; '' for none.
    """

    benchmark: str
    title: str
    asks: str
    how_to_read: str
    slices: Mapping[str, Slice]
    labels: Mapping[str, str] = field(default_factory=dict)
    cohort: str = ""
    figures: tuple[Figure, ...] = ()
    legend: str = ""
    caution: Callable[[str], str] = lambda standard: ""


def figure_of(row: Row, score: str) -> float | None:
    """A score's number, None where it has none."""
    value = row.scores.get(score) or row.values.get(score)
    return value.value if value else None


def total_of(view: View, row: Row) -> Column:
    """The column that a row is ranked by: that of the first table that keeps it."""
    return next((part.total for part in view.slices.values() if part.keep(row)), next(iter(view.slices.values())).total)
