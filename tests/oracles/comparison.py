"""One scorer held against another source of the same numbers: how many, how far apart at most, and what explains it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fairspace.submissions.verifying import DIFFERS, OK, Recomputed, difference

BOUND = 1e-9
"""The largest difference that two computations of one number may have."""
Part = Literal["printed", "oracles", "authors"]
PARTS: Mapping[Part, str] = {
    "printed": "Printed tables, recomputed from printed figures",
    "oracles": "Independent oracles",
    "authors": "The authors' own code",
}


@dataclass(frozen=True)
class Comparison:
    """One scorer on one set of data, by this project and by another source.

    Args:
        part: of the verification.
        benchmark: title of the benchmark.
        scorer: name of the score, the metric or the column.
        data: the printed table, or which data were drawn.
        source: what it is held against.
        count: numbers that were compared.
        difference: the largest absolute difference; inf where one side alone is undefined.
        bound: the largest difference that is no fault: 1e-9, or what the printed digits allow.
        undefined: of these, numbers that neither side defines.
        departure: the erratum or rule that explains a larger difference; '' if nothing does.
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

    @property
    def verdict(self) -> str:
        """`ok` within the bound, else the departure that is listed for it, else `DIFFERS`."""
        return OK if self.difference <= self.bound else self.departure or DIFFERS

    def to_json(self) -> dict[str, Any]:
        """As JSON data; a difference without a number is null."""
        finite = self.difference if math.isfinite(self.difference) else None
        return {**vars(self), "difference": finite, "verdict": self.verdict}


@dataclass(frozen=True)
class Verification:
    """All comparisons, and what was left out and why.

    Args:
        comparisons: in the order of the parts.
        skipped: part, or source of a part, -> why it was not run.
        patches: repository -> what was changed of the authors' code so that it runs.
        without_oracle: benchmark -> values that no oracle gives.
        departures: name of a departure that is no erratum -> what it is.
    """

    comparisons: tuple[Comparison, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    patches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    without_oracle: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    departures: Mapping[str, str] = field(default_factory=dict)

    @property
    def unlisted(self) -> list[Comparison]:
        """The comparisons that differ and for which nothing is listed."""
        return [comparison for comparison in self.comparisons if comparison.verdict == DIFFERS]

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
            "skipped": dict(self.skipped),
            "patches": {name: list(lines) for name, lines in self.patches.items()},
            "departures": dict(self.departures),
            "without_oracle": {name: list(values) for name, values in self.without_oracle.items()},
            "ok": not self.unlisted,
        }


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
    """One comparison per scorer of the numbers of a source, in its order.

    Args:
        part: of the verification.
        benchmark: its title.
        data: which data the numbers are of.
        source: where `theirs` come from.
        ours: name -> number, None or nan where undefined.
        theirs: the same of the other source; a name that `ours` lacks counts as undefined there.
        scorer: name -> the scorer that the number belongs to.
        departures: scorer -> what explains a difference.
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
    """A printed column, recomputed from printed figures, as a comparison with the paper."""
    places = row.benchmark, row.column, row.table
    return Comparison("printed", *places, "the paper", row.count, row.difference, row.bound, row.erratum)
