"""What the designs of IRIS share: groups merged, shares of resampled counts, and counts of fair models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairspace.submissions.uncertainty.design import Floats, Integers

ALIKE = (
    "allows for the bias of groups that are alike, and holds 0 unless the value is above what 95 % of fair models show"
)
"""The note of values that are sums of gaps, largest gaps, or sizes."""


def indicator(codes: Integers, size: int) -> Floats:
    """(n, size) 1 where a row has that code; a row whose code is below 0 has none."""
    return np.asarray((codes[:, None] == np.arange(size)).astype(np.float64))


def listed(reference: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Which occupations have figures, (52,), and the shares of those, (listed, k)."""
    rows = np.asarray(~np.isnan(reference).any(axis=1))
    return rows, reference[rows]


def mean_of(measure: Callable[[Floats], Floats], counts: Floats) -> Floats:
    """(b, occupations, k) counts -> (b,) plain mean over the occupations; nan where one has no count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(measure(counts / counts.sum(axis=-1, keepdims=True)).mean(axis=-1))


def multinomial(rng: np.random.Generator, n: Integers, shares: Floats, models: int) -> Floats:
    """(models, occupations, k) counts of n samples each, (occupations,), drawn from (occupations, k) shares."""
    return rng.multinomial(n, shares, size=(models, len(n))).astype(np.float64)


def span(rates: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Largest less smallest rate over the groups that are seen; nan where fewer than two are.

    Args:
        rates: (b, k, c) of k groups.
        seen: (b, k).

    Returns:
        (b, c).
    """
    mask = seen[..., None]
    gap = np.where(mask, rates, -np.inf).max(axis=1) - np.where(mask, rates, np.inf).min(axis=1)
    return np.asarray(np.where(seen.sum(axis=1)[:, None] > 1, gap, np.nan))
