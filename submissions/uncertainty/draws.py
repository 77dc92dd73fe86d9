"""The draws that a result keeps of the values that scores are made of: a byte for each.

They are what every interval of a score, every tier and the chance of a profile letter is made from, under whatever
standard. The same draw of two models is of the same clusters, so their differences are on common items.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.uncertainty.design import Floats

KEPT = 200
"""Draws that a result keeps."""
_STEPS = 20
"""Steps in a standard error: what lies above 6.35 of them is kept as 6.35."""
_UNDEFINED = -128


@dataclass(frozen=True)
class Draws:
    """Draws of several values.

    Args:
        names: of the m values.
        centre: (m,) the means of the kept draws (those of a biased value lie many errors beside the value itself).
        error: (m,) their standard errors over the kept draws.
        steps: (k, m) int8: how many twentieths of an error a draw is from the centre; -128: the draw has no number.
    """

    names: tuple[str, ...]
    centre: tuple[float, ...]
    error: tuple[float, ...]
    steps: NDArray[np.int8]

    def columns(self) -> dict[str, Floats]:
        """Name -> (k,) draws, nan where a draw has no number."""
        return dict(zip(self.names, self.table().T, strict=True))

    def table(self) -> Floats:
        """(k, m) draws, nan where a draw has no number."""
        steps = self.steps.astype(np.float64)
        steps[self.steps == _UNDEFINED] = np.nan
        return np.asarray(np.array(self.centre) + steps / _STEPS * np.array(self.error))

    def to_json(self) -> dict[str, Any]:
        """As JSON data, the steps in base64."""
        about = {"names": list(self.names), "centre": list(self.centre), "error": list(self.error)}
        return about | {"draws": len(self.steps), "steps": base64.b64encode(self.steps.tobytes()).decode()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Draws:
        """What `to_json` wrote. ValueError, KeyError or TypeError if it is none."""
        names, centre, error = (tuple(data[key]) for key in ("names", "centre", "error"))
        steps = np.frombuffer(base64.b64decode(data["steps"], validate=True), np.int8)
        if not len(names) == len(centre) == len(error) or steps.size != int(data["draws"]) * len(names):
            raise ValueError("draws whose parts do not fit each other")
        if not all(isinstance(name, str) for name in names) or not np.isfinite([*centre, *error]).all():
            raise ValueError("draws with a name or a number that is none")
        return cls(names, centre, error, steps.reshape(-1, len(names)) if names else steps.reshape(0, 0))


def keep(names: Sequence[str], draws: Floats) -> Draws:
    """The draws of m values, (r, m), as a result keeps them: the first `KEPT`."""
    kept = draws[:KEPT]
    centre, error = (np.array([_digits(about(column)) for column in kept.T]) for about in (_mean, _spread))
    with np.errstate(invalid="ignore", divide="ignore"):
        away = np.where(error > 0, (kept - centre) / error * _STEPS, 0.0)
    steps = np.where(np.isnan(kept), _UNDEFINED, np.clip(np.round(np.nan_to_num(away)), -127, 127)).astype(np.int8)
    return Draws(tuple(names), tuple(map(float, centre)), tuple(map(float, error)), steps)


def _digits(number: float) -> float:
    return float(f"{number:.9g}")


def _mean(column: Floats) -> float:
    known = column[~np.isnan(column)]
    return float(known.mean()) if len(known) else 0.0


def _spread(column: Floats) -> float:
    known = column[~np.isnan(column)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0
