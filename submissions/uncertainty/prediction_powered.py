"""Prediction-powered inference: shares of groups where people labelled some of the samples that a labeller labelled.

Angelopoulos et al., Prediction-powered inference, Science 382 (2023), equation for the mean; power tuning:
Angelopoulos, Duchi and Zrnic, PPI++ (2023), section 6. With unit vectors f (labeller) and Y (person), n samples with
both and N with f alone:
    θ = λ mean_N(f) + mean_n(Y - λ f)      Var θ = λ² Var(f) / N + Var(Y - λ f) / n
Right whatever the labeller's errors are, if the n samples were drawn at random. λ = 1 is plain prediction-powered
inference, λ = 0 the people's labels alone.
"""

from __future__ import annotations

import hashlib

import numpy as np

from fairspace.submissions.uncertainty.bootstrap import SEED
from fairspace.submissions.uncertainty.design import Floats
from fairspace.submissions.uncertainty.misclassification import Corrected, on_simplex

DRAWS = 400
"""Draws behind each interval."""
LEAST = 5
"""Fewest samples with people's labels per distribution and group; with fewer, intervals miss the truth."""


def fault(pairs: Floats) -> str:
    """The reason why the people's labels do not suffice, '' if they do. `pairs`: as in `prediction_powered`."""
    fewest, least = float(pairs.sum(axis=(-1, -2)).min(initial=np.inf)), LEAST * pairs.shape[-1]
    if fewest < least:
        return f"people labelled {fewest:.0f} samples of one of the distributions, and {least} are needed of each"
    return ""


def prediction_powered(pairs: Floats, others: Floats, weight: float | None = None) -> tuple[Floats, float]:
    """(n, k) shares of several distributions, some perhaps just outside [0, 1]; and λ, the same for all.

    `pairs`: (n, k, k) samples by people's and labeller's group, without a `fault`; `others`: (n, k) samples with the
    labeller's group alone; `weight`: λ in [0, 1], by default the one of least variance over all distributions.
    """
    both, alone = pairs.sum(axis=(1, 2))[:, None], others.sum(axis=-1, keepdims=True)
    human, answered = pairs.sum(axis=2) / both, pairs.sum(axis=1) / both
    with np.errstate(invalid="ignore", divide="ignore"):
        ahead = np.where(alone > 0, others / alone, 0.0)
        share = np.where(alone > 0, both / alone, 0.0)
    least = both - 1
    agreed = np.diagonal(pairs, axis1=1, axis2=2) / both
    together = (agreed - human * answered) * both / least
    spread = answered * (1 - answered) * both / least
    every = (pairs.sum(axis=1) + others) / (both + alone)
    varied = every * (1 - every)
    if weight is None:
        below = ((spread + share * varied) / both)[alone[:, 0] > 0].sum()
        weight = float(np.clip((together / both)[alone[:, 0] > 0].sum() / below, 0, 1)) if below > 0 else 0.0
    powered = np.where(alone > 0, weight, 0.0)
    return human + powered * (ahead - answered), weight


def powered_draws(pairs: Floats, others: Floats, key: str, draws: int = DRAWS, seed: int = SEED) -> Corrected:
    """The shares of `prediction_powered` and draws of them on the simplex: all samples are drawn anew, λ stays.

    Deviations are stretched by √(n / (n - 1)) for the people's few samples.
    """
    shares, least_variance = prediction_powered(pairs, others)
    rng = np.random.default_rng([seed, 5, *hashlib.sha256(key.encode()).digest()[:8]])
    n, k = others.shape
    both = np.maximum(np.round(pairs.sum(axis=(1, 2))), 2).astype(np.int64)
    alone = np.round(others.sum(axis=-1)).astype(np.int64)
    cells = np.flatnonzero(pairs.sum(axis=0).ravel())
    chances = pairs.reshape(n, -1)[:, cells]
    drawn = rng.multinomial(both, chances / chances.sum(axis=-1, keepdims=True), (draws, n)) / both[:, None]
    weight = np.where(alone > 0, least_variance, 0.0)[:, None]
    turned = np.eye(k)[cells // k]
    answered = np.eye(k)[cells % k]
    mended = drawn @ turned - weight * (drawn @ answered)
    base = pairs.sum(axis=2) / pairs.sum(axis=(1, 2))[:, None] - weight * (
        pairs.sum(axis=1) / pairs.sum(axis=(1, 2))[:, None]
    )
    mended = base + (mended - base) * np.sqrt(both / (both - 1))[:, None]
    times = np.maximum(alone, 1)
    spare = np.where(others.sum(axis=-1, keepdims=True) > 0, others, 1.0)
    ahead = rng.multinomial(times, spare / spare.sum(axis=-1, keepdims=True), (draws, n)) / times[:, None]
    return Corrected(on_simplex(shares), on_simplex(mended + weight * ahead))
