"""The exact interval of a share (Clopper and Pearson 1934, Biometrika 26:404)."""

from __future__ import annotations

from scipy.special import betaincinv

from fairspace.submissions.uncertainty.uncertainty import LEVEL


def clopper_pearson(hits: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """The ends of the two-sided interval of a share, 0 to 1; (0, 1) for n = 0.

    Args:
        hits: how often it was so; need be no whole number where the samples are weighted.
        n: of how many.
        level: the least share of such intervals that hold the true share.
    """
    tail = (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high
