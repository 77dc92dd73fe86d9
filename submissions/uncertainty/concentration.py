"""The Dirichlet prior of several distributions over the same groups, estimated from their counts."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln

from fairspace.submissions.uncertainty.design import Floats, Integers

_LARGEST = 1e6
_EVEN = 1e-4
"""Added to each group's mean share, so that a group that nobody shows keeps a prior."""


def first_guess(counts: Floats, inverse: Floats) -> Floats:
    """(r, k) parameters by moments: what the distributions differ by beyond their sampling error.

    Args:
        counts: (n, k) samples per distribution and answered group.
        inverse: (r, k, k) of the rates at which a labeller answers j where i is true; the unit matrix for true counts.
    """
    total = counts.sum(axis=-1)
    seen, total = counts[total > 1] / total[total > 1, None], total[total > 1]
    k = counts.shape[-1]
    if len(seen) < 2:
        return np.ones((len(inverse), k))
    shares = seen @ inverse
    variance = ((seen @ (inverse**2).sum(axis=-1)[..., None])[..., 0] - (shares**2).sum(axis=-1)) / (total - 1)
    mean = shares.mean(axis=1)
    apart = ((shares - mean[:, None]) ** 2).sum(axis=(-2, -1)) / (len(seen) - 1)
    inside = _inside(np.maximum(mean, 0.0))
    spread = (apart - variance.mean(axis=-1)) / (1 - (inside**2).sum(axis=-1))
    return np.asarray((1 / np.clip(spread, 0.1 / total.mean(), 0.99) - 1)[:, None] * inside)


def next_parameters(counts: Integers, weights: Floats, parameters: Floats, rng: np.random.Generator) -> Floats:
    """(r, k) after a step of each chain.

    Args:
        counts: (r, n, k) samples per distribution and group.
        weights: (r, n) of the distributions, drawn at random: the Bayesian bootstrap of what the groups' means are.
        parameters: (r, k) before.
        rng: of the step.

    The mean shares become more likely (a fixed point of Minka 2000, Estimating a Dirichlet distribution). Their
    concentration A makes a Metropolis step under the uniform shrinkage prior of Daniels (1999): n / (n + A) is uniform
    at the mean number of samples n, so that A stays finite where the distributions show no difference.
    """
    total = counts.sum(axis=-1)
    rise = digamma(counts + parameters[:, None]) - digamma(parameters)[:, None]
    mean = _inside(parameters * (rise * weights[..., None]).sum(axis=1))
    before = np.clip(parameters.sum(axis=-1), 1e-3, _LARGEST)
    after = before * np.exp(np.exp(rng.uniform(-2.0, 0.7, len(before))) * rng.standard_normal(len(before)))
    after = np.clip(after, 1e-3, _LARGEST)
    usual = total.mean()

    def logarithm(whole: Floats) -> Floats:
        part = whole[:, None] * mean
        alike = gammaln(counts + part[:, None]).sum(axis=(-2, -1)) - counts.shape[1] * gammaln(part).sum(axis=-1)
        every = counts.shape[1] * gammaln(whole) - gammaln(total + whole[:, None]).sum(axis=-1)
        return np.asarray(alike + every + np.log(whole) - 2 * np.log(usual + whole))

    taken = np.log(rng.random(len(before))) < logarithm(after) - logarithm(before)
    return np.asarray(np.where(taken, after, before)[:, None] * mean)


def _inside(shares: Floats) -> Floats:
    shares = shares / np.maximum(shares.sum(axis=-1, keepdims=True), np.finfo(float).tiny) + _EVEN
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))
