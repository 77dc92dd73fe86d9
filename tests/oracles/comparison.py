"""One scorer compared with another source of the same numbers."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from fairspace.submissions.verifying import DIFFERS, EQUAL, Recomputed, difference

BOUND = 1e-9
"""Largest difference allowed between two computations of one number."""
Part = Literal["printed", "oracles", "authors"]
PARTS: Mapping[Part, str] = {
    "printed": "Printed tables, recomputed from printed figures",
    "oracles": "Independent oracles",
    "authors": "The authors' own code",
}


@dataclass(frozen=True)
class Comparison:
    """One scorer on one data set, by this project and by another source.

    Args:
        source: Paper, library or oracle of the other numbers.
        difference: Largest absolute difference; inf where one side alone is undefined.
        bound: Largest difference allowed: 1e-9, or the precision of the printed digits.
        undefined: Number of values that neither side defines.
        printed: Verdict on a printed column.
        departure: Erratum or rule that explains a larger difference; '' if none.
    """

    part: Part
    benchmark: str
    scorer: str
    data: str
    source: str
    count: int
    difference: float
    bound: float = BOUND
    departure: str = ""
    undefined: int = 0
    printed: str = ""

    @property
    def verdict(self) -> str:
        """That of a printed column; else `equal` within the bound, the listed departure, or `DIFFERS`."""
        return self.printed or (EQUAL if self.difference <= self.bound else self.departure or DIFFERS)


@dataclass(frozen=True)
class Verification:
    """All comparisons.

    Args:
        skipped: Part, or source of a part, -> reason why it was not run.
        patches: Repository -> changes that make the authors' code run.
        without_oracle: Benchmark -> values without an oracle.
        departures: Name of a departure that is no erratum -> its meaning.
    """

    comparisons: tuple[Comparison, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    patches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    without_oracle: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    departures: Mapping[str, str] = field(default_factory=dict)

    @property
    def unlisted(self) -> list[Comparison]:
        return [comparison for comparison in self.comparisons if comparison.verdict == DIFFERS]


def compare(
    part: Part,
    benchmark: str,
    data: str,
    source: str,
    ours: Mapping[str, float | None],
    theirs: Mapping[str, float | None],
    scorer: Callable[[str], str],
    departures: Mapping[str, str] | None = None,
) -> Iterator[Comparison]:
    """Compare two sources of numbers, one `Comparison` per scorer.

    Args:
        ours: Name -> number, None or nan where undefined.
        theirs: The other source's; a name that `ours` lacks counts as undefined there.
        scorer: Function from a number's name to its scorer.
        departures: Scorer -> explanation of a difference.
    """
    apart: dict[str, list[float]] = {}
    undefined: Counter[str] = Counter()
    for name, number in theirs.items():
        apart.setdefault(scorer(name), []).append(difference(ours.get(name), number))
        undefined[scorer(name)] += _is_undefined(ours.get(name)) and _is_undefined(number)
    listed = departures or {}
    for name, distances in apart.items():
        yield Comparison(
            part,
            benchmark,
            name,
            data,
            source,
            len(distances),
            max(distances),
            departure=listed.get(name, ""),
            undefined=undefined[name],
        )


def _is_undefined(number: float | None) -> bool:
    return number is None or math.isnan(number)


def of_paper(row: Recomputed) -> Comparison:
    places = row.benchmark, row.column, row.table, "the paper"
    made = Comparison("printed", *places, row.count, row.difference, row.bound, row.erratum)
    return replace(made, printed=row.verdict)
