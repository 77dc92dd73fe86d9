"""How sure the fusion regressor's labels are: the slope of `ordinal_probabilities`, fitted on the calibration set."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairspace.ares.rounding_ares import STEP
from fairspace.ares.routing_ares import ordinal_probabilities

LEAST, MOST = 0.1, 100.0
"""Bounds of the slope; values that part all labels would drive it to infinity."""


def fitted_slope(values: NDArray[np.float64], labels: NDArray[np.intp], cuts: Sequence[float]) -> float:
    """The slope with the smallest mean log loss (maximum likelihood), in [`LEAST`, `MOST`].

    Args:
        values: (n,) regressed; n is at least 1.
        labels: (n,) indices of the right labels.
        cuts: rising.

    Returns:
        With four digits.
    """
    from scipy.optimize import minimize_scalar

    def loss(log_slope: float) -> float:
        chances = ordinal_probabilities(values, list(cuts), math.exp(log_slope))
        # Probabilities are rounded, so 0 stands for less than half a step.
        return float(-np.log(np.maximum(chances[np.arange(len(labels)), labels], STEP / 4)).mean())

    best = minimize_scalar(loss, bounds=(math.log(LEAST), math.log(MOST)), method="bounded")
    return float(f"{math.exp(best.x):.4g}")
