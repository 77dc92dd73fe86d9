"""Shares of groups, corrected for the errors of the instrument that labelled the samples.

A labeller that answers j where the truth is i with probability C[i, j] turns the true shares π into π C. What was seen
is a multinomial sample of π C, and C was itself measured on a finite set of images. The corrected shares are the most
likely π on the simplex: π = p C⁻¹ where that is a distribution, else the maximum by expectation maximisation.

Draws are of the fitted model: counts of (π Ĉ) are drawn anew, and each draw is corrected with rows of C from the
Dirichlet posterior of the measured counts. The draw of C is the same for all distributions of one labeller. Drawing
from the fitted model rather than from the shares that were seen keeps intervals honest where a group is rare.

Assumed: the labeller errs on these samples as it did where it was measured, its errors in one attribute say nothing
about those in another (a joint matrix is the product), and samples without a label are like those with one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairspace.submissions.uncertainty.bootstrap import SEED, percentile_interval
from fairspace.submissions.uncertainty.design import Floats

DRAWS = 400
"""Draws behind each interval."""
LARGEST_CONDITION = 10.0
"""A matrix with a larger condition number (2-norm of the rates) tells the groups apart too little to be inverted."""
PRIOR = 0.5
"""Jeffreys' prior, added to each count of a row."""
_STEPS = 50
"""Of expectation maximisation; the likelihood is then within 0.001 of its maximum at matrices like the paper's."""

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Instrument:
    """What is known of a labeller's errors in one or several attributes; rows are true groups, columns answers.

    Args:
        rates: (k, k) as measured.
        expected: (k, k) means of the posterior, without zeros.
        draws: (r, k, k) of the posterior.
    """

    rates: Floats
    expected: Floats
    draws: Floats


@dataclass(frozen=True)
class Corrected:
    """Corrected shares.

    Args:
        shares: (..., k), on the simplex; nan where nothing was seen.
        draws: (r, ..., k) likewise.
    """

    shares: Floats
    draws: Floats


def fault(counts: Floats) -> str:
    """Why a confusion matrix of counts, (k, k), cannot correct anything; '' if it can."""
    empty = np.flatnonzero(counts.sum(axis=-1) == 0)
    if len(empty):
        return f"row {empty[0] + 1} of its confusion matrix has no image"
    condition = float(np.linalg.cond(_rates(counts)))
    if not condition <= LARGEST_CONDITION:
        said = "singular" if not condition < 1e12 else f"of condition {condition:.3g}"
        return f"its confusion matrix is {said}, and {LARGEST_CONDITION:g} is the most that can be inverted"
    return ""


def instrument(matrices: Mapping[str, Floats], draws: int = DRAWS, seed: int = SEED) -> Instrument:
    """The errors in several attributes together, assumed independent given the truth.

    Args:
        matrices: attribute -> (k, k) counts without a `fault`; the groups of the product are in this order.
        draws: of the posterior.
        seed: an attribute has the same draws in every product.
    """
    parts = []
    for name, counts in matrices.items():
        rng = np.random.default_rng([seed, 3, *hashlib.sha256(name.encode()).digest()[:8]])
        drawn = rng.standard_gamma(counts + PRIOR, (draws, *counts.shape))
        parts.append((_rates(counts), _rates(counts + PRIOR), _rates(drawn)))
    rates, expected, drawn = (_product(part) for part in zip(*parts, strict=True))
    return Instrument(rates, expected, drawn)


def corrected_shares(shares: Floats, rates: Floats) -> Floats:
    """The most likely true shares, (..., k), of seen shares, (..., n, k), under rates (..., k, k).

    Each in [0, 1] with the sum 1; nan where the seen ones are nan. Rates may not be singular (`fault`).
    """
    corrected = np.asarray(shares @ np.linalg.inv(rates))
    outside = np.asarray((corrected < -_ROUNDING).any(axis=-1))
    corrected = on_simplex(corrected)
    if not outside.any():
        return corrected
    likely = 0.98 * corrected + 0.02 / corrected.shape[-1]
    back = np.swapaxes(rates, -1, -2)
    for _ in range(_STEPS):
        seen = likely @ rates
        likely = likely * (np.divide(shares, seen, out=np.zeros_like(seen), where=seen > 0) @ back)
    likely /= likely.sum(axis=-1, keepdims=True)
    return np.where(outside[..., None], likely, corrected)


def correct(counts: Floats, instrument: Instrument, key: str, seed: int = SEED) -> Corrected:
    """The corrected shares of several distributions.

    Args:
        counts: (n, k) samples per distribution and group; a sample may be parted between groups, and counts as one.
        instrument: the labeller's errors.
        key: names the draws.
        seed: of the draws.
    """
    total = counts.sum(axis=-1, keepdims=True)
    seen = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
    shares = corrected_shares(seen, instrument.rates)
    times = np.maximum(np.round(total[:, 0]), 1).astype(np.int64)
    fitted = np.nan_to_num(shares, nan=1 / shares.shape[-1]) @ instrument.expected
    rng = np.random.default_rng([seed, 4, *hashlib.sha256(key.encode()).digest()[:8]])
    drawn = rng.multinomial(times, fitted / fitted.sum(axis=-1, keepdims=True), (len(instrument.draws), len(counts)))
    draws = corrected_shares(drawn / times[:, None], instrument.draws)
    draws[:, total[:, 0] == 0] = np.nan
    return Corrected(shares, draws)


def debiased(value: float, draws: Floats, limits: tuple[float, float]) -> tuple[float, tuple[float, float]]:
    """A value of corrected shares less its bias at this number of samples, and its basic 95 % interval.

    Args:
        value: of the corrected shares.
        draws: (r,) of theirs, nan where undefined; one at least is a number.
        limits: smallest and largest number that the value can be.

    Correcting spreads shares, and what measures inequality rises with their spread: 18 groups of 160 images would look
    more unequal by 0.07 at the paper's matrices. So a draw's distance from the value is turned round, and its mean
    taken off.
    """
    replicates = draws[~np.isnan(draws)]
    low, high = percentile_interval(replicates)
    middle, first, last = np.clip([2 * value - replicates.mean(), 2 * value - high, 2 * value - low], *limits)
    return float(middle), (float(first), float(last))


def on_simplex(points: Floats) -> Floats:
    """The nearest shares, (..., k), of numbers that may be negative (Euclidean distance)."""
    falling = -np.sort(-points, axis=-1)
    over = np.cumsum(falling, axis=-1) - 1
    used = (falling - over / np.arange(1, points.shape[-1] + 1) > 0).sum(axis=-1, keepdims=True)
    level = np.take_along_axis(over, np.maximum(used, 1) - 1, axis=-1) / np.maximum(used, 1)
    return np.maximum(points - level, 0.0)


def _rates(counts: Floats) -> Floats:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def _product(matrices: Sequence[Floats]) -> Floats:
    """The Kronecker product of matrices (..., k, k)."""
    joint = matrices[0]
    for matrix in matrices[1:]:
        k = joint.shape[-1] * matrix.shape[-1]
        joint = np.einsum("...ij,...kl->...ikjl", joint, matrix).reshape(*joint.shape[:-2], k, k)
    return joint
