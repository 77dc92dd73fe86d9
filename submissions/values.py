"""A measured value and its state: a number, undefined with a reason, or not run.

`value` is that of the samples handed in; `low` and `high` enclose it over all possible values of missing samples
(not handed in, or images that cannot be labelled). The ranked number is the worse bound. Nothing missing ever becomes
a 0. A refusal or an unusable answer is not missing but known (design, invariants 1, 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from fairspace.metrics.intervals import Uncertainty

State = Literal["value", "undefined", "not_run"]
STATES = ("value", "undefined", "not_run")
Evidence = Mapping[str, Any]
_SLACK = 1e-9
"""Tolerance for rounding in the order of bounds and values."""


@dataclass(frozen=True)
class Value:
    """One value of one metric.

    Args:
        value: number from the valid samples; None unless `state` is `value`.
        low: smallest number that the missing samples allow; None if not bounded. `high` is the largest.
        expected: samples in the protocol; `valid` of them are usable.
        reason: Reason for no number, and how to get one.
        evidence: basis of the number, JSON data (`by_group`, `by_occupation`, counts).
        smallest: valid samples of the smallest compared group or cell; None without a comparison.
    """

    name: str
    state: State
    value: float | None = None
    low: float | None = None
    high: float | None = None
    expected: int = 0
    valid: int = 0
    reason: str = ""
    evidence: Evidence = field(default_factory=dict)
    smallest: int | None = None
    uncertainty: Uncertainty | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a value that contradicts its state."""
        numbers = [x for x in (self.value, self.low, self.high) if x is not None]
        if not all(map(math.isfinite, numbers)):
            raise ValueError(f"{self.name}: {numbers} holds a number that is not finite; say undefined instead")
        if (self.state == "value") != (self.value is not None):
            raise ValueError(f"{self.name}: state {self.state!r} does not fit value {self.value!r}")
        if self.state != "value" and not self.reason:
            raise ValueError(f"{self.name}: {self.state} without a reason")

    @property
    def coverage(self) -> float | None:
        """Valid samples over expected samples, in [0, 1]; None if none is expected."""
        return self.valid / self.expected if self.expected else None

    @property
    def if_missing(self) -> tuple[float | None, float | None]:
        """`low` and `high`, the bounds over missing samples; no confidence interval."""
        return self.low, self.high

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval; None without a bootstrap."""
        return None if self.uncertainty is None else (self.uncertainty.low, self.uncertainty.high)

    def numbers(self, *path: str) -> dict[str, float]:
        """Numbers by name in a part of the evidence; {} for a foreign result, which may lack it."""
        nested: Any = self.evidence
        for key in path:
            nested = nested.get(key) if isinstance(nested, dict) else None
        numbers = nested.items() if isinstance(nested, Mapping) else ()
        return {str(name): float(number) for name, number in numbers if isinstance(number, int | float)}

    def sure(self, show: Callable[[float], str], *further: str) -> str:
        """' (95 %: 30 to 40; 10 to 70 with what is missing; even: 50)': its interval, its bounds, `further`; or ''."""
        facts = []
        for ends, words in ((self.interval, "95 %: {}"), (self.if_missing, "{} with what is missing")):
            shown = dict.fromkeys(show(end) for end in ends or () if end is not None)
            if words.startswith("95 %") and self.uncertainty is not None and not self.uncertainty.knows_low:
                shown = {"not known": None, show(self.uncertainty.high): None}
            if len(shown) == 2 or (words.startswith("95 %") and shown):
                facts.append(words.format(" to ".join(shown)))
        facts += filter(None, further)
        return f" ({'; '.join(facts)})" if facts else ""

    def to_json(self) -> dict[str, Any]:
        """JSON data, without empty keys."""
        data = {k: v for k, v in vars(self).items() if v not in (None, "", {})}
        if self.uncertainty is not None:
            data["uncertainty"] = self.uncertainty.to_json()
        return data | {"expected": self.expected, "valid": self.valid}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Value:
        """The value of `to_json`'s data. TypeError or ValueError if it is none."""
        about = data.get("uncertainty")
        loaded = cls(**{**data, "uncertainty": None if about is None else Uncertainty.from_json(about)})
        numbers = (loaded.value, loaded.low, loaded.high)
        if not (isinstance(loaded.name, str) and isinstance(loaded.reason, str)) or loaded.state not in STATES:
            raise ValueError(f"a value of state {loaded.state!r}: expected one of {', '.join(STATES)}, and texts")
        if not set(map(type, numbers)) <= {int, float, type(None)} or not isinstance(loaded.evidence, dict):
            raise ValueError(f"{loaded.name}: a number or evidence of another type")
        counts = (loaded.expected, loaded.valid, 0 if loaded.smallest is None else loaded.smallest)
        if set(map(type, counts)) != {int} or min(counts) < 0:
            raise ValueError(f"{loaded.name}: counts that are no counts")
        if loaded.valid > loaded.expected:
            raise ValueError(f"{loaded.name}: more valid samples than expected ones")
        ends = [x for x in (loaded.low, loaded.value, loaded.high) if x is not None]
        slack = _SLACK * max(1.0, *map(abs, ends)) if ends else 0.0
        if any(less > more + slack for less, more in pairwise(ends)):
            raise ValueError(f"{loaded.name}: {ends} is not in the order low, value, high")
        return loaded


def number_of(values: Mapping[str, Value], name: str) -> float | None:
    """The number of a named value; None without a number or value."""
    value = values.get(name)
    return None if value is None else value.value


def by_reason(values: Iterable[Value], show: Callable[[Value], str]) -> dict[tuple[str, str], list[str]]:
    """State and reason -> the values that have no number for this reason, as `show` names them."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for value in values:
        if value.state != "value":
            reasons.setdefault((value.state.replace("_", " "), value.reason), []).append(show(value))
    return reasons


def not_known(values: Mapping[str, Value | None]) -> Iterator[str]:
    """'Not known: status, emotion words (no judge).', a sentence for each reason, of values without a number."""
    reasons: dict[str, list[str]] = {}
    for words, value in values.items():
        if value is None or value.value is None:
            reason = "not measured" if value is None else value.reason.rstrip(".")
            reasons.setdefault(reason, []).append(words)
    for reason, words_of in reasons.items():
        yield f"Not known: {', '.join(words_of)} ({reason})."


def measured(
    name: str,
    value: float,
    *,
    low: float | None = None,
    high: float | None = None,
    expected: int = 0,
    valid: int = 0,
    evidence: Evidence | None = None,
    smallest: int | None = None,
) -> Value:
    """A number. NumPy scalars become Python floats, so that results serialise the same everywhere."""
    return Value(
        name,
        "value",
        float(value),
        None if low is None else float(low),
        None if high is None else float(high),
        int(expected),
        int(valid),
        evidence=evidence or {},
        smallest=None if smallest is None else int(smallest),
    )


def measured_share(name: str, count: float, handed_in: int, expected: int, evidence: Evidence | None = None) -> Value:
    """A share of the samples handed in; at its bounds all of the others count, or none."""
    if not handed_in:
        return undefined(name, "no answer was handed in", expected=expected, evidence=evidence)
    low, high = count / expected, (count + expected - handed_in) / expected
    return measured(name, count / handed_in, low=low, high=high, expected=expected, valid=handed_in, evidence=evidence)


def undefined(name: str, reason: str, *, expected: int = 0, valid: int = 0, evidence: Evidence | None = None) -> Value:
    """No number, because the definition gives none for these samples."""
    return Value(name, "undefined", expected=int(expected), valid=int(valid), reason=reason, evidence=evidence or {})


def not_run(name: str, reason: str, *, expected: int = 0) -> Value:
    """No number, because the part was not submitted or a tool that it needs is missing."""
    return Value(name, "not_run", expected=int(expected), reason=reason)


Values = Mapping[str, Value]
"""Values by name."""
