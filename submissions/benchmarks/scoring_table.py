"""A scoring table: the parts and the rule of each score of a benchmark, for a standard and an adjustment.

An adjustment changes weights, or the threshold of the profile code.
The same rules score measured values with their bounds, bootstrap replicates, and printed figures.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from fairspace.metrics.columns import Floats
from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.values import Value, measured, not_run, undefined

# - A part with the weight 0 needs no number; a score of which no part counts is *left out*, never perfect.
# - Competence is asked of all that was run: no adjustment ranks a model that answers at random.
# - Adjusted scores compare only under the same adjustment: fewer values in a norm or a sum make it smaller.

LARGEST_WEIGHT = 10.0
LARGEST_TAU = 1000.0
LEFT_OUT = "left out"
"""Prefix of the reason of a score without a part that counts."""


@dataclass(frozen=True)
class Adjustment:
    """Changes to a standard: weights of parts of the ranked score, 1 if absent, and `tau`, None for the standard's.

    No adjusted score ever enters a store.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    tau: float | None = None

    def weight(self, part: str) -> float:
        """Weight of a part; 1 if it is not changed."""
        return self.weights.get(part, 1.0)

    def __hash__(self) -> int:
        """Hash of the changes: scoring tables are cached by them."""
        return hash((tuple(sorted(self.weights.items())), self.tau))


AS_RELEASED = Adjustment()


@dataclass(frozen=True)
class Adjustable:
    """Adjustable weights and threshold; `units`: the ranked score's units, as parts whose weights are multiplied."""

    units: tuple[tuple[str, ...], ...]
    tau: float | None = None

    def check(self, changed: Adjustment) -> Adjustment:
        """The changes without the standard's own numbers.

        UsageError: an unknown part, a weight outside [0, 10], a missing or invalid threshold, or nothing left.
        """
        names = tuple(dict.fromkeys(part for unit in self.units for part in unit))
        for name, weight in changed.weights.items():
            if name not in names:
                shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
                raise UsageError(f"weights: there is no {name[:60]!r}{did_you_mean(name[:60], names)}. Known: {shown}.")
            _check_range("weights", f"{name}:{weight:g}", weight, LARGEST_WEIGHT)
        if changed.tau is not None:
            if self.tau is None:
                raise UsageError("tau: this benchmark has no threshold of a profile code. Leave tau out.")
            _check_range("tau", f"{changed.tau:g}", changed.tau, LARGEST_TAU)
        if not any(math.prod(map(changed.weight, unit)) for unit in self.units):
            raise UsageError("weights: every part has the weight 0. Leave at least one with a weight above 0.")
        weights = {name: float(weight) for name, weight in changed.weights.items() if weight != 1.0}
        return replace(changed, weights=weights, tau=None if changed.tau == self.tau else changed.tau)


def _check_range(parameter: str, text: str, number: float, most: float) -> None:
    if not (math.isfinite(number) and 0 <= number <= most):
        raise UsageError(f"{parameter}: {text[:60]} is no number from 0 to {most:g}.")


def left_out(name: str) -> Value:
    """A score of which no part counts."""
    return not_run(name, f"{LEFT_OUT} by the reader: none of its values counts")


def is_left_out(value: Value) -> bool:
    """Whether a score is one of `left_out`."""
    return value.state == "not_run" and value.reason.startswith(LEFT_OUT)


Column: TypeAlias = Any
"""A number, or an array of them with any leading axes."""
Columns = Mapping[str, Column]
Weights = Mapping[str, float]
Parts = Mapping[str, Value]
"""Parts of a score that count, by name."""


class Ended(Protocol):
    """A pair of ends: a measured value with its worst-case bounds, or columns of numbers."""

    @property
    def low(self) -> Column:
        """The smaller end."""

    @property
    def high(self) -> Column:
        """The larger end."""


@dataclass(frozen=True)
class Ends:
    """Ends of one part, columns of one shape."""

    low: Floats
    high: Floats


Limits = Mapping[str, tuple[float, float]]
"""Score -> its smallest and largest possible number."""
Lacking = Callable[[str, Parts, int, int], Value]


def mean(columns: Columns, weights: Weights) -> Column:
    """The weighted mean."""
    return sum(weights[name] * column for name, column in columns.items()) / sum(weights.values())


def same(columns: Columns, weights: Weights) -> Column:
    """The only part, as it is."""
    (column,) = columns.values()
    return column


def rising(parts: Mapping[str, Ended]) -> tuple[Columns, Columns]:
    """Points of the smallest and of the largest score, where it rises with every part."""
    return {name: part.low for name, part in parts.items()}, {name: part.high for name, part in parts.items()}


def falling(parts: Mapping[str, Ended]) -> tuple[Columns, Columns]:
    """Points of the smallest and of the largest score, where it falls with every part."""
    low, high = rising(parts)
    return high, low


def added(parts: Iterable[Value]) -> tuple[int, int]:
    """Expected and valid samples of all parts together."""
    counts = [(part.expected, part.valid) for part in parts]
    return sum(expected for expected, _ in counts), sum(valid for _, valid in counts)


def least_covered(parts: Iterable[Value]) -> tuple[int, int]:
    """Expected and valid samples of the least covered part, so that the coverage of the score hides no gap."""
    counts = [(part.expected, part.valid) for part in parts if part.expected]
    return min(counts, key=lambda count: count[1] / count[0], default=(0, 0))


def covered(value: Value, minimum: float, reason: str) -> Value:
    """The value, undefined below a minimum share of valid samples; the reason may name `share` and `minimum`."""
    share = value.coverage or 0.0
    if share >= minimum:
        return value
    reason = reason.format(share=share, minimum=minimum)
    return undefined(value.name, reason, expected=value.expected, valid=value.valid)


def first_reason(name: str, parts: Parts, expected: int, valid: int) -> Value:
    """A score without a number: not run, or else undefined, for the reason of the first such part."""
    for part in parts.values():
        if part.state == "not_run":
            return not_run(name, part.reason, expected=expected)
    reason = next(part.reason for part in parts.values() if part.state == "undefined")
    return undefined(name, reason, expected=expected, valid=valid)


def names_of_parts(reason: str) -> Lacking:
    """Rule for scores without a number: undefined, for a reason that names the parts without one."""

    def lacking(name: str, parts: Parts, expected: int, valid: int) -> Value:
        names = ", ".join(part.name for part in parts.values() if part.state != "value")
        return undefined(name, f"{reason}: {names}", expected=expected, valid=valid)

    return lacking


@dataclass(frozen=True)
class Rule:
    """Rule of one score.

    Args:
        weights: raw value or score of an earlier rule -> its weight; empty if the score is left out.
        combine: parts, weights -> the score, or the magnitude for `rescale`.
        limits: smallest and largest possible number.
        rescale: magnitude -> score; the magnitude is kept as evidence.
        bounds: parts -> the points of the smallest and of the largest score.
        counts: parts -> expected and valid samples of the score.
        lacking: name, parts, expected, valid -> the score where a part has no number.
    """

    name: str
    weights: Weights
    combine: Callable[[Columns, Weights], Column] = mean
    limits: tuple[float, float] = (-math.inf, math.inf)
    rescale: Callable[[Column], Column] | None = None
    bounds: Callable[[Mapping[str, Ended]], tuple[Columns, Columns]] = rising
    counts: Callable[[Iterable[Value]], tuple[int, int]] = added
    lacking: Lacking = first_reason

    @property
    def original(self) -> str | None:
        """The raw value that the score is, if it is one; a mean of one part is that part."""
        is_value = self.combine in (same, mean) and self.rescale is None and len(self.weights) == 1
        return next(iter(self.weights)) if is_value else None

    def magnitude(self, columns: Columns) -> Column:
        """Combination of columns that hold every part; all have one shape."""
        return self.combine({name: columns[name] for name in self.weights}, self.weights)

    def score(self, magnitude: Column) -> Column:
        """The score of a magnitude."""
        return magnitude if self.rescale is None else self.rescale(magnitude)

    def value(self, parts: Parts) -> Value:
        """The score of measured parts and its bounds: left out if nothing counts, `lacking` if a part has no number."""
        if not self.weights:
            return left_out(self.name)
        expected, valid = self.counts(parts.values())
        if any(part.state != "value" for part in parts.values()):
            return self.lacking(self.name, parts, expected, valid)
        numbers = {name: part.value for name, part in parts.items()}
        magnitude = self.magnitude(numbers)
        low, high = (
            magnitude if end == numbers else self.magnitude({n: math.nan if x is None else x for n, x in end.items()})
            for end in self.bounds(parts)
        )
        return measured(
            self.name,
            self.score(magnitude),
            low=self.score(low),
            high=self.score(high),
            expected=expected,
            valid=valid,
            evidence=None if self.rescale is None else {"magnitude": round(float(magnitude), 9)},
        )


@dataclass(frozen=True)
class ScoringTable:
    """The scores of a benchmark under a standard and an adjustment, by rules in the order of evaluation and display.

    `ranking`: scores that ranks go by, one for a row. `centres`: raw value -> its centre, if scores use the distance.
    """

    rules: Mapping[str, Rule]
    ranking: tuple[str, ...] = ()
    centres: Mapping[str, float] = field(default_factory=dict)

    @property
    def limits(self) -> Limits:
        """Score -> its smallest and largest possible number."""
        return {name: rule.limits for name, rule in self.rules.items() if rule.weights}

    def values(self, values: Parts, usable: Callable[[Value], Value] = lambda value: value) -> dict[str, Value]:
        """Scores of raw values; `usable` makes an insufficient raw value undefined."""
        scores: dict[str, Value] = {}

        def part(name: str) -> Value:
            if name in scores:
                return scores[name]
            return usable(values[name]) if name in values else undefined(name, "the result does not hold it")

        for name, rule in self.rules.items():
            scores[name] = rule.value({weighted: part(weighted) for weighted in rule.weights})
        return scores

    def replicates(self, draws: Mapping[str, Floats]) -> dict[str, Floats]:
        """Score -> (b,) replicates, nan where a part is; left out if nothing counts or a part has none."""
        scores: dict[str, Floats] = {}
        for name, rule in self.rules.items():
            parts = {part: scores.get(part, draws.get(part)) for part in rule.weights}
            if parts and all(part is not None for part in parts.values()):
                scores[name] = np.asarray(rule.score(rule.magnitude(parts)))
        return scores

    def ends(self, values: Mapping[str, Ends]) -> dict[str, Ends]:
        """Score -> its smallest and largest number between the ends of raw values; left out as in `replicates`."""
        made: dict[str, Ends] = {}
        for name, rule in self.rules.items():
            used = {part: made.get(part, values.get(part)) for part in rule.weights}
            defined = {part: ends for part, ends in used.items() if ends is not None}
            if defined and len(defined) == len(used):
                low, high = (np.asarray(rule.score(rule.magnitude(point))) for point in rule.bounds(defined))
                made[name] = Ends(low, high)
        return made
