"""Uncertainty of a board's numbers: intervals as bars on a scale, and what columns are sorted by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fairspace.leaderboard_space.boards.tables.scores import Column
from fairspace.submissions.results.row import Row
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.values import Value

FAR = 3.0
"""A number that is that many times as large as the largest verified or printed one does not stretch a scale."""
OUTSIDE = 7.0
"""A line that is that many times as far is not on the scale: IRIS' total has 283 645 as its ideal in the paper."""


@dataclass(frozen=True)
class Scale:
    """The scale of a column's lines, or of a small chart."""

    least: float
    most: float

    @classmethod
    def of(cls, numbers: Mapping[str, float], rows: Iterable[Row], *lines: float | None) -> Scale:
        """From the smallest to the largest number; the lines are on it, baselines and what is far out are not.

        Args:
            numbers: entry -> what is drawn of a row.
            rows: whose numbers they are.
            lines: such as 0 or the ideal; None for one that there is not.
        """
        rows = [row for row in rows if row.entry in numbers and row.row_class != "baseline"]
        sure = [row for row in rows if row.row_class != "handed in"] or rows
        far = FAR * max((abs(numbers[row.entry]) for row in sure), default=0.0)
        near = [numbers[row.entry] for row in rows if abs(numbers[row.entry]) <= far]
        ends = [*near, *(line for line in lines if line is not None and (not near or abs(line) <= OUTSIDE * far))]
        return cls(min(ends, default=0.0), max(ends, default=0.0))

    def holds(self, number: float) -> bool:
        """Whether the number is on the scale."""
        return self.least <= number <= self.most

    def place(self, number: float) -> float:
        """Where a number is, in percent; what is outside stands at the rim."""
        if self.most == self.least:
            return 0.0
        return round(100 * (min(max(number, self.least), self.most) - self.least) / (self.most - self.least), 1)


@dataclass(frozen=True)
class Strip:
    """A value on its column's scale, in percent of it.

    Args:
        low: the lowest that the missing samples allow.
        at: the value as measured.
        high: the highest that the missing samples allow.
        sure: the ends of the 95 % interval, None without one.
        beyond: whether the value is outside of the scale.
    """

    low: float
    at: float
    high: float
    sure: tuple[float, float] | None = None
    beyond: bool = False


def strip(value: Value | None, scale: Scale) -> Strip | None:
    """The value on a scale; None without a number."""
    if value is None or value.value is None or scale.most == scale.least:
        return None
    low, high = (value.value if end is None else end for end in (value.low, value.high))
    about = value.uncertainty
    sure = None if about is None else (scale.place(about.low), scale.place(about.high))
    return Strip(scale.place(low), scale.place(value.value), scale.place(high), sure, not scale.holds(value.value))


def uncertainty_of(column: Column, row: Row) -> Uncertainty | None:
    """The uncertainty of a row's value; None if it has none."""
    value = column.of(row)
    return None if value is None or value.value is None else value.uncertainty


def error_of(column: Column, of: Callable[[Uncertainty], float | None]) -> Callable[[Row], float | None]:
    """A number of a value's uncertainty, in the column's unit."""

    def read(row: Row) -> float | None:
        about = uncertainty_of(column, row)
        return None if about is None else of(about)

    return read


def best_rank(row: Row) -> float | None:
    """Sort key of possible ranks: the best one, then the worst one."""
    return None if row.rank_range is None else row.rank_range[0] + row.rank_range[1] / 1e6
