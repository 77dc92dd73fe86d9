"""Adjustments: other weights of a standard's parts, or another threshold of its profile code.

- A part with the weight 0 needs no number; a score of which no part counts is *left out*, never perfect.
- Competence is asked of all that was run: no adjustment ranks a model that answers at random.
- Adjusted scores compare only under the same adjustment: fewer values in a norm or a sum make it smaller.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.values import Value, not_run

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
