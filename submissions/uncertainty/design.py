"""The resampling design of some values: clusters, strata and a statistic of the clusters' counts.

A cluster (an image, a query, a pair, a passage) is drawn as one; the protocol fixes the strata, such as images per
occupation. Clusters that are missing in a submission are included, so one draw means the same clusters for every model,
and differences between models are on common items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairspace.submissions.uncertainty.uncertainty import Method

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Times = NDArray[np.float32]
"""(b, n): counts of each of n clusters in each of b resamples."""
Statistic = Callable[[Times], Floats]
Fair = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class Sizes:
    """Values of a design that are sizes: sums of gaps, largest gaps, absolute values; see `bootstrap.py`.

    Args:
        names: (m) names of the design.
        counts: (b, n) cluster counts -> (b, q) numbers that the sizes are computed from.
        along: Counts (b, q) for the order, counts (b, q) for the numbers -> (b, m) sums along the order, nan where
            undefined. The same counts twice give the value. Either may have one row for all of the other's.
    """

    names: tuple[str, ...]
    counts: Callable[[Times], Floats]
    along: Callable[[Floats, Floats], Floats]

    def values(self, times: Times) -> Floats:
        """(b, n) cluster counts -> (b, m) sizes."""
        counts = self.counts(times)
        return self.along(counts, counts)


@dataclass(frozen=True)
class Design:
    """Clusters, strata and a statistic.

    Args:
        task: Seed of the draws: two designs of one task and one number of clusters get the same draws.
        unit: Name of a cluster, for people.
        strata: (n,) stratum of each cluster, from 0; each stratum is resampled with its own size.
        names: (m) names of the statistic's values.
        statistic: (b, n) cluster counts -> (b, m) values, nan where undefined. All ones give the values themselves.
        limits: Name -> smallest and largest possible number; unlimited if absent.
        biased: Values that are biased at small n (largest gaps, divergences, norms); they get a debiased estimate.
        fair: (generator, r) -> (r, m) values of r perfectly fair models at this n, nan for a value without such a
            model.
        notes: Name -> limitation of its interval.
        intervals: Name -> method; BCa if absent (percentile where undefined), but `sizes` and `shares` have their own.
        higher: Values that are better when higher: 95 % of the fair models are above their `fair_high`.
        sizes: Values that are sizes, with intervals of their own.
        shares: Shares of answers -> most independent answers, infinite for all valid ones; they get exact intervals.
        independent: Name -> samples that vary by themselves, where clusters hold many or none; the clusters if absent.
        counts: Counts whose limits are caps; one that does not vary keeps a single point, as nothing bounds others.
        tested: Further values with ideal 0, whose interval holds 0 unless the value is above `fair_high`.
        corrected: Bias-corrected values -> measured standard error of the correction. Their draws are moved to have the
            value as mean, and spread by this error, which the values of one draw share.
    """

    task: str
    unit: str
    strata: Integers
    names: tuple[str, ...]
    statistic: Statistic
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    biased: frozenset[str] = frozenset()
    fair: Fair | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    intervals: Mapping[str, Method] = field(default_factory=dict)
    higher: frozenset[str] = frozenset()
    sizes: Sizes | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    independent: Mapping[str, int] = field(default_factory=dict)
    counts: frozenset[str] = frozenset()
    tested: frozenset[str] = frozenset()
    corrected: Mapping[str, float] = field(default_factory=dict)


def answer_shares(names: Iterable[str], *words: str) -> dict[str, float]:
    """`Design.shares` of the names with one of the words: each rests on all its valid answers."""
    return {name: np.inf for name in names if any(word in name for word in words)}


class Tally:
    """Counts of each code in resamples, from counts of clusters.

    `codes`: (n,) code of each cluster from 0 to size - 1, below 0 for an uncounted one; `weights`: (n,), 1 if left out.
    """

    def __init__(self, codes: Integers, size: int, weights: Floats | None = None) -> None:
        from scipy.sparse import csr_array  # a fifth of a second, which checking does not need

        used = np.flatnonzero(codes >= 0)
        data = np.ones(len(used), np.float32) if weights is None else weights[used].astype(np.float64)
        self._matrix = csr_array((data, (codes[used], used)), shape=(size, len(codes)))

    def __call__(self, times: Times) -> Floats:
        """(b, n) cluster counts -> (b, size) code counts."""
        return np.asarray((self._matrix @ times.T).T, dtype=np.float64)
