"""Uncertainty of a board's numbers: intervals as text and as bars, tiers, and the columns of the set "Uncertainty"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fairspace.leaderboard_space.boards.tables.scores import Column
from fairspace.submissions.plotting import number
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.tiers import why_no_tier
from fairspace.submissions.uncertainty.uncertainty import Uncertainty
from fairspace.submissions.values import Value


@dataclass(frozen=True)
class Strip:
    """A value on its column's scale, in percent of it.

    Args:
        low: the lowest that the missing samples allow.
        at: the value.
        high: the highest that the missing samples allow.
        sure: the ends of the 95 % interval, None without one.
    """

    low: float
    at: float
    high: float
    sure: tuple[float, float] | None = None


def strip(value: Value | None, least: float, most: float) -> Strip | None:
    """The value between the ends of a scale; None without a number. What lies outside stands at the rim."""
    if value is None or value.value is None or most == least:
        return None

    def place(number: float) -> float:
        return round(100 * (min(max(number, least), most) - least) / (most - least), 1)

    low, high = (value.value if end is None else end for end in (value.low, value.high))
    about = value.uncertainty
    return Strip(
        place(low), place(value.value), place(high), None if about is None else (place(about.low), place(about.high))
    )


def interval(column: Column, row: Row) -> str:
    """'41.20 to 56.00', the 95 % interval in the column's unit; '' without one."""
    about = uncertainty_of(column, row)
    return "" if about is None else span(column, about.low, about.high)


def span(column: Column, low: float, high: float) -> str:
    """Two ends in the column's unit."""
    return f"{column.format(column.scaled(low))} to {column.format(column.scaled(high))}"


def uncertainty_of(column: Column, row: Row) -> Uncertainty | None:
    """The uncertainty of a row's value; None if it has none."""
    value = column.of(row)
    return None if value is None or value.value is None else value.uncertainty


def chance(row: Row, label: str) -> str:
    """'P = 0.93', the probability that a label is right; '' if unknown."""
    share = row.chances.get(label)
    return "" if share is None else f"P {probability(share)}"


def probability(chance: float) -> str:
    """'= 0.93', and never a certainty that 200 draws cannot give."""
    return "> 0.99" if chance > 0.995 else "< 0.01" if chance < 0.005 else f"= {number(chance, 2)}"


def ranks(row: Row) -> str:
    """'2 to 5', the ranks that a row could have; '' where they are not known."""
    if row.rank_range is None:
        return ""
    best, worst = row.rank_range
    return str(best) if best == worst else f"{best} to {worst}"


def no_tier(row: Row) -> str:
    """Why a row has no tier, in a few words."""
    return {"published": "printed", "baseline": "baseline"}.get(row.provenance, why_no_tier(row).partition(";")[0])


def error_of(column: Column, of: Callable[[Uncertainty], float | None]) -> Callable[[Row], float | None]:
    """A number of a value's uncertainty, in the column's unit."""

    def read(row: Row) -> float | None:
        about = uncertainty_of(column, row)
        value = None if about is None else of(about)
        return None if value is None else column.scaled(value)

    return read


def best_rank(row: Row) -> float | None:
    """Sort key of possible ranks: the best one, then the worst one."""
    return None if row.rank_range is None else row.rank_range[0] + row.rank_range[1] / 1e6
