"""Draws of raw values kept in a result, a byte each: the source of score intervals, tiers and chances of letters.

The same draw of two models is of the same clusters, so their differences are on common items.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairspace.submissions.uncertainty.design import Floats

KEPT = 200
"""Draws kept in a result."""
MOST_NAMES = 300
"""Most values with draws; our benchmarks keep below a hundred."""
LARGEST = 1e12
"""Bound on any value; ours come nowhere near it."""
_STEPS = 20
"""Steps in a standard error; draws beyond 6.35 errors are cut there."""
_UNDEFINED = -128


@dataclass(frozen=True)
class Draws:
    """Draws of m values, (k, m), as int8 `steps` of twentieths of an `error` from the `centre`; -128 for no number.

    The centre is the mean of the kept draws; that of a biased value lies many errors beside the value itself.
    """

    names: tuple[str, ...]
    centre: Floats
    error: Floats
    steps: NDArray[np.int8]

    def columns(self) -> dict[str, Floats]:
        """Name -> (k,) draws, nan where a draw has no number."""
        return dict(zip(self.names, self.table().T, strict=True))

    def table(self) -> Floats:
        """(k, m) draws, nan where a draw has no number."""
        steps = self.steps.astype(np.float64)
        steps[self.steps == _UNDEFINED] = np.nan
        return np.asarray(self.centre + steps / _STEPS * self.error)

    def to_json(self) -> dict[str, Any]:
        """JSON data, with the steps in base64."""
        about = {"names": list(self.names), "centre": self.centre.tolist(), "error": self.error.tolist()}
        return about | {"draws": len(self.steps), "steps": base64.b64encode(self.steps.tobytes()).decode()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Draws:
        """Read `to_json`'s data. ValueError, KeyError or TypeError for anything else or more than the limits."""
        names, centre, error, draws, steps = (data[key] for key in ("names", "centre", "error", "draws", "steps"))
        if not all(type(part) is list and 0 < len(part) <= MOST_NAMES for part in (names, centre, error)):
            raise ValueError(f"draws of no values, or of more than {MOST_NAMES}")
        if not all(type(name) is str for name in names) or len(set(names)) < len(names):
            raise ValueError("draws with a name that is none, or twice the same")
        if not all(type(x) in (int, float) and abs(x) <= LARGEST for x in (*centre, *error)) or min(error) < 0:
            raise ValueError(f"draws with a number that is none or beyond {LARGEST:g}, or an error below 0")
        if type(draws) is not int or not 1 <= draws <= KEPT:
            raise ValueError(f"draws whose number is not from 1 to {KEPT}")
        size = draws * len(names)
        if not len(names) == len(centre) == len(error) or type(steps) is not str or len(steps) != -(-size // 3) * 4:
            raise ValueError("draws whose parts do not fit each other")
        table = np.frombuffer(base64.b64decode(steps, validate=True), np.int8)
        if table.size != size:
            raise ValueError("draws whose parts do not fit each other")
        return cls(tuple(names), np.array(centre, float), np.array(error, float), table.reshape(draws, len(names)))


def keep(names: Sequence[str], draws: Floats) -> Draws:
    """The first `KEPT` of the draws (r, m) of m values, as a result keeps them."""
    kept = draws[:KEPT]
    centre, error = (np.array([_digits(about(column)) for column in kept.T]) for about in (_mean, _spread))
    with np.errstate(invalid="ignore", divide="ignore"):
        away = np.where(error > 0, (kept - centre) / error * _STEPS, 0.0)
    steps = np.where(np.isnan(kept), _UNDEFINED, np.clip(np.round(np.nan_to_num(away)), -127, 127)).astype(np.int8)
    return Draws(tuple(names), centre, error, steps)


def _digits(number: float) -> float:
    return float(f"{number:.9g}")


def _mean(column: Floats) -> float:
    known = column[~np.isnan(column)]
    return float(known.mean()) if len(known) else 0.0


def _spread(column: Floats) -> float:
    known = column[~np.isnan(column)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0
