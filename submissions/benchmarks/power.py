"""Statistical power: the smallest difference between two models that a sample shows, and what a fair model shows.

Two models answer the same number of items, taken as independent samples (the same items for both make the difference
easier to see, so this is the careful side). A difference can be shown if a two-sided test at 5 % finds it with a
probability of 80 %.

Sources: Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions (2003), chapter 4 (two proportions);
Chow, Shao and Wang, Sample Size Calculations in Clinical Research (2008), chapter 3 (two means).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import norm

ALPHA, POWER = 0.05, 0.8
DRAWS = 400
"""Of a simulation: its mean is known to a twentieth of the standard deviation."""
_SEED = 20
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """How a value varies over samples of the same model.

    Args:
        mean: of the value.
        sd: its standard deviation, the value's standard error.
    """

    mean: float
    sd: float


def smallest_difference(error: float) -> float:
    """Of two values with the same standard error: (z(1 - alpha/2) + z(power)) * error * sqrt(2), normal theory.

    With error = sd / sqrt(n) these are the two means of n items each.
    """
    return float(norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER)) * error * math.sqrt(2)


def smallest_share_difference(p: float, n: float) -> float | None:
    """Of two shares of n items each, one of which is p.

    It is the d for which d sqrt(n) = z(1 - alpha/2) sqrt(2 m (1 - m)) + z(power) sqrt(p (1 - p) + q (1 - q)), where the
    other share is q = p + d or p - d, and m = (p + q) / 2.

    Returns:
        The larger one of both directions, those in which there is one; None if even 0 or 1 would not be told from p.
    """
    if not 0 <= p <= 1:
        raise ValueError("a share is from 0 to 1")
    differences = [d for sign, room in ((1, 1 - p), (-1, p)) if (d := _share_difference(p, n, sign, room)) is not None]
    return max(differences, default=None)


def share_power(p: float, q: float, n: float) -> float:
    """The probability that two shares of n items each are told apart, normal theory, both sides of the test."""
    middle = (p + q) / 2
    null, error = math.sqrt(2 * middle * (1 - middle) / n), math.sqrt((p * (1 - p) + q * (1 - q)) / n)
    return _two_sided(abs(p - q), null, error)


def mean_power(difference: float, sd: float, n: float) -> float:
    """The probability that two means of n items each are told apart, normal theory, both sides of the test."""
    error = sd * math.sqrt(2 / n)
    return _two_sided(abs(difference), error, error)


def gap_error(p: float, sizes: Sequence[int]) -> float:
    """The standard error of the gap between the shares of two groups, the two smallest ones: the careful side."""
    first, second = sorted(sizes)[:2]
    return math.sqrt(p * (1 - p) * (1 / first + 1 / second))


def chance_gap(p: float, sizes: Sequence[int], draws: int = 10 * DRAWS) -> float:
    """The gap between the largest and the smallest share that groups of these sizes show though p is the same in all.

    A measured gap is never below 0, so a fair model's is above it by chance. By simulation with a fixed seed; for k
    equal groups it is close to d2(k) sqrt(p (1 - p) / n), with the expected range d2 of k normal values.
    """
    counts = np.random.default_rng(_SEED).binomial(np.asarray(sizes), p, size=(draws, len(sizes)))
    return float(np.ptp(counts / np.asarray(sizes), axis=1).mean())


def simulated(score: Callable[[Floats], Floats], sizes: ArrayLike, shares: ArrayLike, draws: int = DRAWS) -> Spread:
    """Mean and standard error of a score of counts, for a model that gives each group its share.

    Args:
        score: counts of shape (draws, ..., k) -> (draws,) values.
        sizes: (...,) answers or images per cell, at least 1.
        shares: (..., k) probability of each group.
        draws: samples of the simulation; its seed is fixed.
    """
    sizes, shares = np.asarray(sizes), np.asarray(shares, dtype=float)
    counts = np.random.default_rng(_SEED).multinomial(sizes, shares, size=(draws, *sizes.shape))
    values = score(counts.astype(float))
    return Spread(float(values.mean()), float(values.std(ddof=1)))


@dataclass(frozen=True)
class Calibrated:
    """What samples of one size say of a score that chance pushes away from fair.

    Args:
        error: standard error in terms of the score that the model has without end of items; infinite if the samples
            do not tell a biased model from an even-handed one.
        chance: how far from its own score an even-handed model comes out on average.
    """

    error: float
    chance: float


def calibrated(
    score: Callable[[Floats], Floats], sizes: ArrayLike, shares: Floats, even: Floats, draws: int = DRAWS
) -> Calibrated:
    """The error of a score at `shares`, by simulation, divided by how much of a true difference the samples keep.

    With few items in a cell every model comes out far from fair. Then the score hardly varies, and yet it says little:
    it moves only by a part of what the model's own score does, which is taken between `even` and `shares`.

    Args:
        score: counts of shape (draws, ..., k), or shares, -> (draws,) values.
        sizes: (...,) answers or images per cell.
        shares: (..., k) of a biased model.
        even: (..., k) of an even-handed one.
        draws: samples of each simulation.
    """
    biased, fair = (simulated(score, sizes, of_model, draws) for of_model in (shares, even))
    true_biased, true_fair = (float(score(of_model[None])[0]) for of_model in (shares, even))
    kept = (biased.mean - fair.mean) / (true_biased - true_fair)
    return Calibrated(biased.sd / kept if kept > 0 else math.inf, abs(fair.mean - true_fair))


def halfway(cells: int, k: int) -> Floats:
    """(cells, k) shares half way from even-handed to one-sided: each cell favours one group, and they take turns.

    For two groups that is 3 to 1.
    """
    shares = np.full((cells, k), 0.5 / k)
    shares[np.arange(cells), np.arange(cells) % k] += 0.5
    return shares


def _two_sided(difference: float, null: float, error: float) -> float:
    if error == 0:
        return float(difference > 0)
    cut = float(norm.ppf(1 - ALPHA / 2)) * null
    return float(norm.sf((cut - difference) / error) + norm.cdf((-cut - difference) / error))


def _share_difference(p: float, n: float, sign: int, room: float) -> float | None:
    if n < 1 or room <= 0:
        return None
    low, high = float(norm.ppf(1 - ALPHA / 2)), float(norm.ppf(POWER))

    def short(d: float) -> float:
        q = p + sign * d
        middle = (p + q) / 2
        needed = low * math.sqrt(2 * middle * (1 - middle)) + high * math.sqrt(max(0.0, p * (1 - p) + q * (1 - q)))
        return d - needed / math.sqrt(n)

    if short(room) < 0:
        return None
    return float(brentq(short, min(room, 1e-12), room))
