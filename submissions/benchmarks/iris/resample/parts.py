"""What the resampling designs of IRIS share: indicator columns, and counts of fair models."""

from __future__ import annotations

import numpy as np

from fairspace.submissions.uncertainty.design import Floats, Integers

ALIKE = (
    "allows for the bias of groups that are alike, and holds 0 unless the value is above what 95 % of fair models show"
)
"""The note of values that are sums of gaps, largest gaps, or sizes."""


def indicator(codes: Integers, size: int) -> Floats:
    """(n, size) 1 where a row has that code; a row whose code is below 0 has none."""
    return np.asarray((codes[:, None] == np.arange(size)).astype(np.float64))


def multinomial(rng: np.random.Generator, n: Integers, shares: Floats, models: int) -> Floats:
    """(models, occupations, k) counts of n samples each, (occupations,), drawn from (occupations, k) shares."""
    return rng.multinomial(n, shares, size=(models, len(n))).astype(np.float64)
