"""Values as lines of a page's table: the three numbers of each, and the facts that are folded away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairspace.leaderboard_space.boards.text import shown
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.plotting import number
from fairspace.submissions.results.folded_facts import Fact, folded_facts
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.three_numbers import Show, ThreeNumbers, ideal_of, numbers_in_row
from fairspace.submissions.values import Value

DIGITS = 4
NO_OTHERS: Mapping[str, tuple[float, float]] = {}


@dataclass(frozen=True)
class ValueLine:
    """One value of a row: its name, what it is in a few words, its three numbers, and its folded facts."""

    name: str
    words: str
    three: ThreeNumbers
    facts: list[Fact]


def value_lines(
    values: Iterable[Value], row: Row, benchmark: str, instruments: Mapping[str, tuple[float, float]] = NO_OTHERS
) -> list[ValueLine]:
    """Lines of the values of a row, in their order.

    Args:
        values: scores or raw values, in the unit in which they are scored.
        row: that they are of.
        benchmark: of the row; it says what its values are.
        instruments: name -> the smallest and the largest value by other instruments.
    """
    published = row.provenance == "published"
    describe = find_benchmark(benchmark).about().describe
    ranking = row.result.scored.ranking if row.result is not None else ""
    lines = []
    for value in values:
        ideal, show, ranked = ideal_of(row, value.name), _show(value), row if value.name == ranking else None
        three = numbers_in_row(row, value.name, value, show, ranked=ranked is not None)
        others = instruments.get(value.name)
        facts = folded_facts(value, ideal, show, published=published, row=ranked, instruments=others)
        lines.append(ValueLine(value.name, describe(value.name), three, facts))
    return lines


def _show(value: Value) -> Show:
    """Numbers of the size of a value, or the text that the paper prints of it."""

    def show(shown_number: float) -> str:
        if shown_number == value.value:
            return shown(value)
        return number(shown_number, 1 if value.value is not None and abs(value.value) >= 1000 else DIGITS)

    return show
