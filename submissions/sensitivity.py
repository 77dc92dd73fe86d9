"""What a reader may change about a standard to see what hangs on it: weights, parts, references, sizes, thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
        """Of a part; 1 if the reader said nothing."""
        return self.weights.get(part, 1.0)


AS_RELEASED = Adjustment()
"""The standard as it was released."""
