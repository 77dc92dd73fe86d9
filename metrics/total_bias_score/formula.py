"""The distance of a model's eight bias metrics from a centre, in the deviations of a cohort of models.

Source: GENRES, section 4.1: TBS = sum over i of |(M_i - mean_i) / std_i|. The paper's centre is the cohort's mean, from
which a model without any bias is far; with 0 as the centre such a model scores 0, the best there is. Either way the
cohort gives the scales; `standards.py` freezes the published ones, so that a new model moves no other.
"""

import numpy as np
from numpy.typing import ArrayLike

from fairspace.metrics.columns import Floats

Triple = tuple[float, float, float]


def z_scores(values: ArrayLike, mean: ArrayLike, std: ArrayLike) -> Floats:
    """(..., 8) signed standard scores; ValueError if a standard deviation is not above 0."""
    spread = np.asarray(std, float)
    if not (spread > 0).all():
        raise ValueError(f"A cohort needs a standard deviation above 0 in every metric, not {spread.tolist()}.")
    return (np.asarray(values, float) - np.asarray(mean, float)) / spread


def distance(values: ArrayLike, mean: ArrayLike, std: ArrayLike) -> Floats:
    """(...) sums of |z| of (..., 8) values; at least 0, lower is better; nan where a value is."""
    return np.asarray(np.abs(z_scores(values, mean, std)).sum(axis=-1))


def nearest_and_farthest(low: ArrayLike, high: ArrayLike, mean: ArrayLike) -> tuple[Floats, Floats]:
    """(..., 8) points of [low, high] nearest to a mean and farthest from it, where |z| is smallest and largest."""
    ends = np.asarray(low, float), np.asarray(high, float)
    upper = np.isnan(ends[1]) | (ends[1] - mean >= mean - ends[0])
    return np.clip(np.asarray(mean, float), *ends), np.where(upper, ends[1], ends[0])


def total_bias_score(
    values: ArrayLike, mean: ArrayLike, std: ArrayLike, low: ArrayLike | None = None, high: ArrayLike | None = None
) -> Triple:
    """TBS with its bounds.

    Args:
        values: (8,) M1 to M8; nan where undefined.
        mean: (8,) the centre: cohort means, or 0.
        std: (8,) cohort standard deviations (population, ddof = 0).
        low: (8,) lower bounds of the values; the values themselves by default.
        high: (8,) upper bounds; likewise.

    Returns:
        (value, low, high), at least 0, without an upper limit; lower is better; nan if one of its parts is.
    """
    ends = nearest_and_farthest(values if low is None else low, values if high is None else high, mean)
    value, least, most = (float(distance(points, mean, std)) for points in (values, *ends))
    return value, least, most
