"""What is known of the error of one value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, get_args

Method = Literal["bca", "percentile", "basic", "normal", "bracket", "size", "exact", "score"]
"""How the shown interval is made: bias-corrected and accelerated; percentile; basic (the percentile interval turned
round the value: 2 value - end); normal (the debiased value and 1.96 standard errors); size (from 1.96 errors below the
cross-fitted estimate to 1.96 above the value); exact (of a share of answers in clusters); score (from the score of the
most favourable values within their intervals to that of the least favourable, and the draws about both); bracket
(results of earlier versions: 1.96 standard errors about the value with and without its largest bias)."""
METHODS: tuple[Method, ...] = get_args(Method)
LEVEL = 0.95
"""Nominal coverage of every interval."""
_DIGITS = 7
_NUMBERS = attrgetter("clusters", "resamples", "undefined", "error", "low", "high", "percentile_low", "percentile_high")
_MAY_BE_NONE = attrgetter("debiased", "fair", "fair_high")


@dataclass(frozen=True)
class Uncertainty:
    """The sampling error of one value, all in the value's own unit.

    Args:
        unit: what is resampled, for example `image of an occupation`.
        clusters: how many of these there are, missing ones included.
        resamples: how many were drawn.
        undefined: how many of them gave no number; the rest make the interval.
        error: standard error.
        low: lower end of the 95 % interval that is shown; it holds the value, for it is extended to it if need be.
        high: upper end.
        method: how it is made.
        percentile_low: lower end of the percentile interval.
        percentile_high: upper end.
        debiased: an estimate without the bias of few samples, for values that have one, else None; of a size it is the
            true size at most, on average.
        fair: what a perfectly fair model would show at this number of samples, on average; None where that is 0 or
            cannot be said.
        fair_high: the number that 95 % of such fair models stay below (for a score that is better when higher: above).
        note: what the interval does not hold; '' for nothing.
    """

    unit: str
    clusters: int
    resamples: int
    undefined: int
    error: float
    low: float
    high: float
    method: Method
    percentile_low: float
    percentile_high: float
    debiased: float | None = None
    fair: float | None = None
    fair_high: float | None = None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON data, numbers to seven digits, without keys that say nothing."""
        data = {name: part for name, part in vars(self).items() if part is not None and part != ""}
        return {name: _rounded(part) if type(part) is float else part for name, part in data.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Uncertainty:
        """What `to_json` wrote. TypeError or ValueError if it is none."""
        loaded = cls(**data)
        stated = [*_NUMBERS(loaded), *(number for number in _MAY_BE_NONE(loaded) if number is not None)]
        if not set(map(type, stated)) <= {int, float} or not all(map(math.isfinite, stated)):
            raise ValueError("an uncertainty with something that is no number")
        counts = (loaded.clusters, loaded.resamples, loaded.undefined)
        if set(map(type, counts)) != {int} or min(counts) < 0 or loaded.undefined > loaded.resamples:
            raise ValueError("an uncertainty with counts that are no counts")
        if loaded.error < 0 or loaded.low > loaded.high or loaded.percentile_low > loaded.percentile_high:
            raise ValueError("an uncertainty with an error below 0, or an interval that ends before it begins")
        if loaded.method not in METHODS or not isinstance(loaded.unit, str) or not isinstance(loaded.note, str):
            expected = f"one of {', '.join(METHODS)}, with unit and note as texts"
            raise ValueError(f"an uncertainty by method {loaded.method!r}: expected {expected}")
        return loaded


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")
