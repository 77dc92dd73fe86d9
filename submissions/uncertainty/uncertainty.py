"""The values of a submission by another instrument (judge, threshold, corrected labels)."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from fairspace.metrics.resampling import RESAMPLES
from fairspace.submissions.errors import UsageError

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


SETTING = "FAIRSPACE_RESAMPLES"
FEWEST = 100
"""Fewest resamples that show the ends of a 95 % interval."""
MOST = 100_000


def resamples_setting() -> int:
    """The default number of resamples: the setting, or 1 000. UsageError for an invalid setting."""
    text = os.environ.get(SETTING, str(RESAMPLES))
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(f"{SETTING} is {text!r}; give 0 (no intervals) or a whole number from {FEWEST} to {MOST}.")
    return check_resamples(int(text), SETTING)


def check_resamples(number: int, where: str) -> int:
    """Return a requested number of resamples, named `where`. UsageError if intervals cannot be made of it."""
    if number and not FEWEST <= number <= MOST:
        raise UsageError(f"{where} is {number}; give 0 (no intervals) or a whole number from {FEWEST} to {MOST}.")
    return number
