"""The sampling error of one value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, get_args

Method = Literal["bca", "percentile", "basic", "normal", "bracket", "size", "exact", "score"]
"""Method of the shown interval: bias-corrected and accelerated; percentile; basic (2 value - percentile end); normal
(debiased value ± 1.96 errors); size (1.96 errors below the cross-fitted estimate to 1.96 above the value); exact (share
of clustered answers); score (see `scores.py`); bracket (earlier versions: ± 1.96 errors about the value with and
without its largest bias)."""
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
        unit: Resampled unit, for example `image of an occupation`.
        clusters: Units, missing ones included.
        undefined: Resamples without a number; the rest make the interval.
        error: Standard error.
        low, high: Ends of the shown 95 % interval, which always holds the value.
        percentile_low, percentile_high: Ends of the percentile interval.
        debiased: Estimate without the bias of few samples; of a size at most the true size, on average.
        fair: Mean of perfectly fair models at this number of samples; None where that is 0 or unknown.
        fair_high: Number that 95 % of such fair models stay below (above for a score that is better when higher).
        note: Limitation of the interval; '' for none.
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
        """JSON data, numbers to seven digits, without empty keys."""
        data = {name: part for name, part in vars(self).items() if part is not None and part != ""}
        return {name: _rounded(part) if type(part) is float else part for name, part in data.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Uncertainty:
        """Read `to_json`'s data. TypeError or ValueError for anything else."""
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
