"""Spearman's rank correlation with its interval, and what it needs.

The interval is Fisher's z with the standard error of Bonett and Wright (2000), sqrt((1 + rho² / 2) / (n - 3)). A rho of
1 has no z: there the interval is that of the next smaller correlation that so many models can have, up to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairspace.submissions.validity.decision import Z

FEWEST = 5
"""Models: of four, one of 24 orders agrees with any other by chance alone."""


@dataclass(frozen=True)
class RankCorrelation:
    """rho with its 95 % interval; None with the reason where there is none."""

    models: int
    rho: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


def rank_correlation(first: Sequence[float], second: Sequence[float], what: str = "models") -> RankCorrelation:
    """Of the numbers of as many models, by ranks."""
    n = len(first)
    if n < FEWEST:
        return RankCorrelation(n, None, reason=f"too few {what}: {n}, and a rank correlation needs {FEWEST}")
    from scipy.stats import rankdata  # a second, which a start of the Space need not take

    ranks = [rankdata(numbers) for numbers in (first, second)]
    if any(np.ptp(rank) == 0 for rank in ranks):
        return RankCorrelation(n, None, reason="all models have one number")
    rho = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    nearest = 1 - 12 / (n * (n * n - 1))
    inner = max(-nearest, min(nearest, rho))
    z, error = math.atanh(inner), math.sqrt((1 + inner * inner / 2) / (n - 3))
    low, high = math.tanh(z - Z * error), math.tanh(z + Z * error)
    return RankCorrelation(n, rho, -1.0 if rho < -nearest else low, 1.0 if rho > nearest else high)
