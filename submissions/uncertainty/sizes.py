"""Sizes: sums of gaps, largest gaps and absolute values, which are never below 0 and look larger than they are.

A size of counts x is the largest of many signed sums of the same shares, size(x) = max over orders o of along(o, x):
which groups stand above which, and which class has the largest gap. Its low end is *cross-fitted*: the order is taken
from one half of the clusters and the numbers from the other. Whatever order the one half gives, the other half's sum
along it is at most the true size on average, with groups that are exactly alike, too; so no bias has to be guessed. The
mean over `SPLITS` random halves, each used both ways, is the lower estimate; the low end is 1.96
errors below it, and the high end 1.96 errors above the value itself, which is never biased downwards.

The error is the largest of three: over the bootstrap replicates; of fair models of the same size, for replicates near
the floor vary less than the value does; and of the sum along the value's own order, which is what remains of the
value's error where a small size bends it at 0.

Sample splitting for the order and the sizes apart: Andrews, Kitagawa and McCloskey, Inference on Winners (QJE 139,
2024), section on split samples; its widths and coverage for our values are in README.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairspace.submissions.uncertainty.design import Floats, Integers, Sizes, Times

SPLITS = 20
"""Random halves; more change an end by less than a twentieth of an error."""
MOST_UNDEFINED_HALVES = 0.2
"""With more halves without a number, nothing is known but that a size is at least 0."""


@dataclass(frozen=True)
class CrossFitted:
    """What halves say of m sizes.

    Args:
        estimate: (m,) mean sum along the other half's order, below 0 by chance where groups are alike; nan where too
            many halves have no number.
        error: (m,) standard error of the sum along the value's own order.
    """

    estimate: Floats
    error: Floats


def cross_fitted(sizes: Sizes, strata: Integers, times: Times, rng: np.random.Generator) -> CrossFitted:
    """The sizes without the bias of noise.

    Args:
        sizes: of a design.
        strata: (n,) of its clusters; each is halved by itself.
        times: (b, n) of some bootstrap replicates.
        rng: for the halves.
    """
    halves = _halves(strata, rng)
    some, others = sizes.counts(halves), sizes.counts(1 - halves)
    both = np.concatenate([sizes.along(some, others), sizes.along(others, some)])
    lost = np.isnan(both).mean(axis=0) > MOST_UNDEFINED_HALVES
    known = np.where(np.isnan(both), 0.0, both).sum(axis=0) / np.maximum(1, (~np.isnan(both)).sum(axis=0))
    whole = sizes.counts(np.ones((1, len(strata)), np.float32))
    fixed = sizes.along(whole, sizes.counts(times))
    columns = [column[~np.isnan(column)] for column in fixed.T]
    spread = [float(column.std(ddof=1)) if len(column) > 1 else 0.0 for column in columns]
    return CrossFitted(np.where(lost, np.nan, known), np.array(spread))


def _halves(strata: Integers, rng: np.random.Generator) -> Times:
    """(`SPLITS`, n) 1 for the clusters of the first half of each stratum, else 0; the odd one falls either way."""
    halves = np.empty((SPLITS, len(strata)), np.float32)
    sizes = np.bincount(strata)
    start = np.cumsum(sizes) - sizes
    for half in halves:
        order = np.lexsort((rng.random(len(strata)), strata))
        place = np.arange(len(strata)) - np.repeat(start, sizes)
        odd = rng.integers(0, 2, len(sizes))
        half[order] = place < np.repeat((sizes + odd) // 2, sizes)
    return halves
