"""What the resampling designs of IRIS share: indicator columns, and counts of fair models."""

from __future__ import annotations

import numpy as np

from fairspace.submissions.uncertainty.design import Floats, Integers

SIZE = "a size: the low end takes the order of groups from one half of the samples and the gaps from the other"
"""The note of values that are sums of gaps, largest gaps, or absolute values."""


def indicator(codes: Integers, size: int) -> Floats:
    """(n, size) 1 where a row has that code; a row whose code is below 0 has none."""
    return np.asarray((codes[:, None] == np.arange(size)).astype(np.float64))


def ratio(part: Floats, whole: Floats) -> Floats:
    """Elementwise division; nan where the divisor is 0."""
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def multinomial(rng: np.random.Generator, n: Integers, shares: Floats, models: int) -> Floats:
    """(models, occupations, k) counts of n samples each, (occupations,), drawn from (occupations, k) shares."""
    return rng.multinomial(n, shares, size=(models, len(n))).astype(np.float64)
