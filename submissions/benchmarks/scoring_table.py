"""A scoring table: which parts a score is made of, and the functions that evaluate it.

A benchmark declares a table per standard and adjustment (`Benchmark.scoring`). Weights, dropped parts and other
references change the table; the same rules then give the scores of measured values with their bounds, of bootstrap
replicates, and of the figures that a paper prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fairspace.submissions.benchmarks.adjustment import is_left_out, left_out
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.values import Value, measured, not_run, undefined

Column: TypeAlias = Any
"""A number, or an array of them with any leading axes."""
Columns = Mapping[str, Column]
Weights = Mapping[str, float]
Parts = Mapping[str, Value]
"""The parts of a score that count, by name."""
NOT_PRINTED = "not available: the paper does not print"
"""How the reason of a score begins that printed figures do not give."""


def mean(columns: Columns, weights: Weights) -> Column:
    """The weighted mean."""
    return sum(weights[name] * column for name, column in columns.items()) / sum(weights.values())


def same(columns: Columns, weights: Weights) -> Column:
    """The only part as it is."""
    (column,) = columns.values()
    return column


def rising(parts: Parts) -> tuple[Columns, Columns]:
    """Points of the smallest and the largest score, where it rises with each part: all at `low`, all at `high`."""
    return {name: part.low for name, part in parts.items()}, {name: part.high for name, part in parts.items()}


def falling(parts: Parts) -> tuple[Columns, Columns]:
    """As `rising`, where the score falls with each part."""
    low, high = rising(parts)
    return high, low


def added(parts: Iterable[Value]) -> tuple[int, int]:
    """Expected and valid samples of all parts together."""
    parts = list(parts)
    return sum(part.expected for part in parts), sum(part.valid for part in parts)


def least_covered(parts: Iterable[Value]) -> tuple[int, int]:
    """Expected and valid samples of the least covered part, so that the coverage of the score hides no gap."""
    known = [part for part in parts if part.expected]
    if not known:
        return 0, 0
    least = min(known, key=lambda part: part.valid / part.expected)
    return least.expected, least.valid


def first_reason(name: str, parts: Parts, expected: int, valid: int) -> Value:
    """A score that lacks parts: not run, or else undefined, for the reason of the first such part."""
    for part in parts.values():
        if part.state == "not_run":
            return not_run(name, part.reason, expected=expected)
    reason = next(part.reason for part in parts.values() if part.state != "value")
    return undefined(name, reason, expected=expected, valid=valid)


@dataclass(frozen=True)
class Rule:
    """How one score is made.

    Args:
        name: of the score.
        weights: raw values and scores of earlier rules that count -> their weights; empty if the score is left out.
        combine: parts, weights -> the score, or what `rescale` makes it from.
        limits: the smallest and the largest number that the score can be.
        rescale: what `combine` gives (a magnitude, which is kept as evidence) -> the score.
        bounds: parts -> the points of the smallest and of the largest score.
        counts: parts -> expected and valid samples of the score.
        lacking: name, parts, expected, valid -> the score of parts of which at least one has no number.
        unprinted: part -> what a paper does not print of the parts, in words.
        printed: evidence of a score of printed figures; `{source}` stands for paper and table.
    """

    name: str
    weights: Weights
    combine: Callable[[Columns, Weights], Column] = mean
    limits: tuple[float, float] = (-math.inf, math.inf)
    rescale: Callable[[Column], Column] | None = None
    bounds: Callable[[Parts], tuple[Columns, Columns]] = rising
    counts: Callable[[Iterable[Value]], tuple[int, int]] = added
    lacking: Callable[[str, Parts, int, int], Value] = first_reason
    unprinted: Callable[[str], str] = lambda part: "every value that counts"
    printed: Mapping[str, str] = field(
        default_factory=lambda: {"source": "weighted mean of {source}, as a reader adjusts it; not printed"}
    )

    def __call__(self, columns: Columns) -> Column:
        """The score of columns that hold every part, all of one shape."""
        combined = self.combine({name: columns[name] for name in self.weights}, self.weights)
        return combined if self.rescale is None else self.rescale(combined)

    def value(self, parts: Parts) -> Value:
        """The score of measured parts, with its bounds; left out without parts, and without a number if one has none.

        A bound that a part does not have is nan.
        """
        if not self.weights:
            return left_out(self.name)
        expected, valid = self.counts(parts.values())
        if any(part.state != "value" for part in parts.values()):
            return self.lacking(self.name, parts, expected, valid)
        plain = {name: part.value for name, part in parts.items()}
        ends = [{n: math.nan if x is None else x for n, x in end.items()} for end in self.bounds(parts)]
        combined = self.combine(plain, self.weights)
        number = combined if self.rescale is None else self.rescale(combined)
        low, high = (number if end == plain else self(end) for end in ends)
        evidence = {} if self.rescale is None else {"magnitude": round(float(combined), 9)}
        return measured(self.name, number, low=low, high=high, expected=expected, valid=valid, evidence=evidence)

    def from_print(self, parts: Mapping[str, Value | float], source: str) -> Value: ...


@dataclass(frozen=True)
class ScoringTable:
    """The scores of a benchmark under a standard and an adjustment.

    Args:
        rules: in the order in which they are evaluated and shown.
        ranking: the scores that ranks go by; a model has one of them.
        restated: raw values that are measured anew for an adjustment: replicates and printed figures do not have them.
        ...
    """

    rules: Mapping[str, Rule]
