"""What a reader may change about a standard to see what hangs on it: weights, parts, references, sizes, thresholds.

What each change does, a benchmark's `score.py` says. Three things hold everywhere:

- a part with the weight 0, or one that is dropped, does not count: it needs no number, and a score of which no part
  counts is *left out*, never perfect;
- competence is asked of all that was run, as it was measured: no adjustment ranks who answers at random;
- an adjusted score can be compared with scores under the same adjustment alone: leaving values out of a norm or a sum
  makes it smaller, which says nothing about the model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from fairspace.submissions.errors import UsageError, did_you_mean
from fairspace.submissions.values import Value, not_run, undefined

LARGEST_WEIGHT = 10.0
LARGEST_GROUP = 1_000_000
LARGEST_TAU = 1000.0
OWN = "own"
"""The reference that the reader states."""
LEFT_OUT = "left out"
"""How the reason of a score begins of which no part counts."""


@dataclass(frozen=True)
class Adjustment:
    """Changes to a standard; as it stands, none. No adjusted score ever enters a store.

    Args:
        weights: part of the ranked score (a sector, a metric, a cell) -> its weight; 1 if absent.
        dropped: raw values (or parts) that do not count.
        reference: `` for the standard's own; else a region's code, or `own`.
        own: with `own`: group -> its share in every occupation, adding up to 1 within an attribute.
        smallest_group: a value that rests on a group of fewer valid samples is undefined.
        tau: threshold of the profile code; None for the standard's.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    reference: str = ""
    own: Mapping[str, float] = field(default_factory=dict)
    smallest_group: int = 0
    tau: float | None = None

    def weight(self, part: str) -> float:
        """Of a part; 1 if the reader said nothing, 0 if it is dropped."""
        return 0.0 if part in self.dropped else self.weights.get(part, 1.0)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for equal changes."""
        return (
            tuple(sorted((name, float(weight)) for name, weight in self.weights.items())),
            tuple(sorted(self.dropped)),
            self.reference,
            tuple(sorted(self.own.items())),
            self.smallest_group,
            self.tau,
        )

    def __hash__(self) -> int:
        """Hash of the changes: results under an adjustment can be cached."""
        return hash(self.key)


AS_RELEASED = Adjustment()
"""The standard as it was released."""


@dataclass(frozen=True)
class Adjustable:
    """What of a standard a reader may change.

    Args:
        weights: part -> what it is, of the parts that a page asks weights for.
        values: heading -> the values and parts that may be dropped, and weighed one by one.
        references: codes of the regions whose figures the standard compares with.
        own: attribute -> groups whose shares the reader may state.
        tau: the threshold of the profile code, None for a standard without one.
        units: of what the ranked score is made, each with the parts whose weights are multiplied; one must be left.
        notes: heading of `values` -> a sentence about what stands there.
    """

    weights: Mapping[str, str]
    values: Mapping[str, tuple[str, ...]]
    units: tuple[tuple[str, ...], ...] = ()
    references: tuple[str, ...] = ()
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tau: float | None = None
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def droppable(self) -> tuple[str, ...]:
        """All that may be dropped."""
        return tuple(name for names in self.values.values() for name in names)

    def check(self, changed: Adjustment) -> Adjustment:
        """The changes in their shortest form: what the standard says anyway is no change.

        Raises:
            UsageError: an unknown part, a weight outside [0, 10], shares that do not add up to 1, or nothing left.
        """
        droppable = self.droppable
        for name, weight in changed.weights.items():
            _check_name("weights", name, (*self.weights, *droppable))
            _check_range("weights", f"{name}:{weight:g}", weight, LARGEST_WEIGHT)
        for name in changed.dropped:
            _check_name("drop", name, droppable)
        if changed.reference:
            _check_name("reference", changed.reference, (*self.references, *([OWN] if self.own else [])))
        if changed.own and changed.reference != OWN:
            raise UsageError("own: shares are given, but reference is not own. Say reference=own, or give no shares.")
        stated = self._shares(changed.own) if changed.reference == OWN else {}
        _check_range("smallest", str(changed.smallest_group), changed.smallest_group, LARGEST_GROUP)
        if changed.tau is not None:
            if self.tau is None:
                raise UsageError("tau: this benchmark has no threshold of a profile code. Leave tau out.")
            _check_range("tau", f"{changed.tau:g}", changed.tau, LARGEST_TAU)
        if not any(math.prod(map(changed.weight, unit)) for unit in self.units):
            raise UsageError(
                "weights: every part is dropped or has the weight 0. Leave at least one with a weight above 0."
            )
        weights = {name: float(weight) for name, weight in changed.weights.items() if weight != 1.0}
        tau = None if changed.tau == self.tau else changed.tau
        return replace(changed, weights=weights, own=stated, tau=tau)

    def _shares(self, stated: Mapping[str, float]) -> dict[str, float]:
        """The reader's shares. UsageError: an unknown group, or an attribute whose shares do not add up to 1."""
        groups = [group for names in self.own.values() for group in names]
        for name, share in stated.items():
            _check_name("own", name, groups)
            _check_range("own", f"{name}:{share:g}", share, 1.0)
        if not stated:
            expected = ", ".join(groups)
            raise UsageError(f"own: no shares. reference=own needs a share for each group of an attribute: {expected}.")
        for attribute, names in self.own.items():
            shares = [stated[name] for name in names if name in stated]
            if shares and (len(shares) < len(names) or not math.isclose(sum(shares), 1.0, abs_tol=0.005)):
                lacking = [name for name in names if name not in stated]
                fault = f"no share of {', '.join(lacking)}" if lacking else f"they add up to {sum(shares):g}"
                raise UsageError(f"own: the shares of {attribute} are of {', '.join(names)} and add up to 1; {fault}.")
        return dict(stated)


def _check_name(parameter: str, name: str, names: tuple[str, ...] | list[str]) -> None:
    if name not in names:
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        expected = f"Known: {shown}" if names else "this benchmark has none"
        raise UsageError(f"{parameter}: there is no {name[:60]!r}{did_you_mean(name[:60], names)}. {expected}.")


def _check_range(parameter: str, text: str, number: float, most: float) -> None:
    if not (math.isfinite(number) and 0 <= number <= most):
        raise UsageError(f"{parameter}: {text[:60]} is no number from 0 to {most:g}.")


def left_out(name: str) -> Value:
    """A score of which no part counts."""
    return not_run(name, f"{LEFT_OUT} by the reader: none of its values counts")


def is_left_out(value: Value) -> bool:
    """Whether a score is one of `left_out`."""
    return value.state == "not_run" and value.reason.startswith(LEFT_OUT)


def large_enough(values: Mapping[str, Value], changed: Adjustment) -> Mapping[str, Value]:
    """The values, undefined where they rest on a smaller group than the reader accepts."""
    least = changed.smallest_group
    if not least:
        return values
    return {name: _sized(value, least) for name, value in values.items()}


def _sized(value: Value, least: int) -> Value:
    if value.state != "value" or value.smallest is None or value.smallest >= least:
        return value
    reason = f"its smallest group has {value.smallest} valid samples, fewer than the {least} that the reader asks for"
    return undefined(value.name, reason, expected=value.expected, valid=value.valid)


def unknown_sizes(values: Mapping[str, Value], changed: Adjustment) -> tuple[str, ...]:
    """Why values cannot be held against the reader's smallest group; empty if they can, or nothing is asked for."""
    has_sizes = any(value.smallest is not None for value in values.values())
    if not changed.smallest_group or has_sizes or not any(value.state == "value" for value in values.values()):
        return ()
    return ("the sizes of its groups are not recorded, so whether they are large enough is not known",)
