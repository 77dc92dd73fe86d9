"""The sampling error of one value, and its values by another instrument (judge, threshold, corrected labels)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
        undefined: Resamples without a number; the rest make the interval.
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

    @property
    def knows_low(self) -> bool:
        """Whether the low end is an estimate; that of a size is 0 where too few halves of its answers have a number."""
        return self.method != "size" or self.debiased is not None

    @property
    def shown_error(self) -> float | None:
        """The standard error beside the interval; None where the interval comes from something else than the draws."""
        return None if self.method in ("exact", "score") else self.error

    def to_json(self) -> dict[str, Any]:
        """JSON data, numbers to seven digits, without empty keys."""
        data = {name: part for name, part in vars(self).items() if part is not None and part != ""}
        return {name: float(f"{part:.{_DIGITS}g}") if type(part) is float else part for name, part in data.items()}

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


Kind = Literal[
    "occupation_threshold",
    "judge",
    "repeated_evaluations",
    "name_swap",
    "reading_errors",
    "second_reader",
    "authors_reading",
    "labels_corrected",
    "labels_transported",
    "human_labels",
]
"""Change of the instrument.

- occupation_threshold: cosine from which IRIS maps an answer to an occupation.
- judge: judge of GENRES.
- name_swap: order of names in which the parser of GENRES reads a passage.
- repeated_evaluations: one judge of GENRES, asked the same several times.
- reading_errors: misread raw answers.
- second_reader: a model that reads the answers which the rules leave unread.
- authors_reading: answers read and counted as in the paper or its code.
- labels_corrected: image labels corrected by the labeller's confusion matrix.
- labels_transported: image labels corrected as if the labeller were worse here than in its test.
- human_labels: image labels corrected by a subset that people labelled (prediction-powered inference).
"""
KINDS: tuple[Kind, ...] = get_args(Kind)
FIELDS = frozenset({"kind", "name", "values", "intervals", "note"})
LONGEST = 2_000
"""Most characters of a variant's name or note."""


@dataclass(frozen=True)
class Variant:
    """Raw values as another instrument gives them; `name` is its setting, such as `0.50`, and `note` its method.

    `values`: name -> number, for the values that change; `intervals`: name -> 95 % interval, including the instrument's
    own error; absent where there is none.
    """

    kind: Kind
    name: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        intervals = {name: list(ends) for name, ends in self.intervals.items()}
        data = {"kind": self.kind, "name": self.name, "values": dict(self.values), "note": self.note}
        return data | ({"intervals": intervals} if intervals else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Variant:
        """Read `to_json`'s data. TypeError, KeyError or ValueError for anything else."""
        if not isinstance(data, dict):
            raise ValueError(f"a variant is of type {type(data).__name__}; expected an object")
        if unknown := sorted(set(data) - FIELDS):
            raise ValueError(f"a variant has the field {unknown[0]!r}; expected {', '.join(sorted(FIELDS))}")
        values, ends = data["values"], data.get("intervals", {})
        if not isinstance(values, dict) or not isinstance(ends, dict) or not set(ends) <= set(values):
            raise ValueError("a variant's values or intervals: expected objects, intervals of some of the values")
        intervals = {name: (low, high) for name, (low, high) in ends.items()}
        variant = cls(data["kind"], data["name"], dict(values), intervals, data.get("note", ""))
        numbers = [*variant.values.values(), *(end for ends in intervals.values() for end in ends)]
        if variant.kind not in KINDS or not isinstance(variant.name, str) or not isinstance(variant.note, str):
            raise ValueError(f"a variant of kind {variant.kind!r}: expected one of {', '.join(KINDS)}, and texts")
        if max(len(variant.name), len(variant.note)) > LONGEST:
            raise ValueError(f"a variant with a text of more than {LONGEST:,} characters")
        if not all(type(x) in (int, float) and math.isfinite(x) for x in numbers):
            raise ValueError("a variant with something that is no number")
        if any(low > high for low, high in intervals.values()):
            raise ValueError("a variant with an interval that ends before it begins")
        return variant


def ranges(variants: Sequence[Variant], kind: Kind) -> dict[str, tuple[float, float]]:
    """Name -> smallest and largest number over the variants of one kind."""
    ranges: dict[str, tuple[float, float]] = {}
    for variant in variants:
        if variant.kind == kind:
            for name, number in variant.values.items():
                low, high = ranges.get(name, (number, number))
                ranges[name] = min(low, number), max(high, number)
    return ranges
