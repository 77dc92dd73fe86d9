"""How the samples behind some values were drawn, so that they can be drawn again.

A design names its clusters (what is drawn as one: an image, a query, a pair, a passage), its strata (what the protocol
fixes: so many images per occupation), and a statistic of how often each cluster was drawn. Clusters that are missing
in a submission are there all the same, so that the same draw means the same clusters for every model: differences
between models are then differences on common items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairspace.submissions.uncertainty.uncertainty import Method

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Times = NDArray[np.float32]
"""(b, n): how often each of n clusters was drawn in each of b resamples."""
Statistic = Callable[[Times], Floats]
Fair = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class Sizes:
    """Values of a design that are sizes: sums of gaps, largest gaps, absolute values; see `bootstrap.py`.

    Args:
        names: of the m sizes, each a name of the design.
        counts: (b, n) how often each cluster was drawn -> (b, q) what the sizes are computed from.
        along: counts (b, q) that say the order, counts (b, q) that say how large -> (b, m) the sums along the order;
            nan where undefined. With the same counts twice it is the value. Either may have one row for all of the
            other's.
    """

    names: tuple[str, ...]
    counts: Callable[[Times], Floats]
    along: Callable[[Floats, Floats], Floats]

    def values(self, times: Times) -> Floats:
        """(b, n) -> (b, m) the sizes."""
        counts = self.counts(times)
        return self.along(counts, counts)


@dataclass(frozen=True)
class Design:
    """Clusters, strata and a statistic.

    Args:
        task: names the draws: two designs of one task and one number of clusters get the same ones.
        unit: what a cluster is, for people.
        strata: (n,) the stratum of each cluster, from 0; each stratum is drawn anew with its own size.
        names: of the m values that the statistic gives.
        statistic: (b, n) how often each cluster was drawn -> (b, m) values, nan where undefined. All ones give the
            values themselves.
        limits: name -> smallest and largest number that the value can have; without limits if absent.
        biased: the values that are biased at small n (largest gaps, divergences, norms): they get a debiased estimate.
        fair: (generator, r) -> (r, m) values of r perfectly fair models at this n, nan for a value without such a
            model; None if none has one.
        notes: name -> what its interval does not hold.
        intervals: name -> how its interval is made otherwise; BCa if absent, and percentile where that is not defined.
        higher: the values that are better when higher: of those, 95 % of the fair models show more than `fair_high`.
        sizes: the values that are sizes, with intervals of their own; None if none is.
        shares: the values that are shares of answers in few clusters -> how many independent answers there are at most:
            they get exact intervals.
        independent: name -> how many samples of it vary by themselves, where a cluster holds many, or some hold none;
            the clusters if absent.
        tested: further values of which 0 is ideal and whose interval holds 0 unless the value is above `fair_high`.
        corrected: the values that the statistic corrects for the bias of few samples -> the standard error of what its
            correction leaves, measured. Their draws are moved so that their mean is the value, and spread by this
            error, which the values of one draw share.
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
    tested: frozenset[str] = frozenset()
    corrected: Mapping[str, float] = field(default_factory=dict)


class Tally:
    """How often each code was drawn: counts of resamples from counts of clusters.

    Args:
        codes: (n,) code of each cluster from 0 to size - 1; below 0: not counted.
        size: how many codes there are.
        weights: (n,) what a cluster counts; 1 if left out.
    """

    def __init__(self, codes: Integers, size: int, weights: Floats | None = None) -> None:
        from scipy.sparse import csr_array  # a fifth of a second, which checking does not need

        used = np.flatnonzero(codes >= 0)
        data = np.ones(len(used), np.float32) if weights is None else weights[used].astype(np.float64)
        self._matrix = csr_array((data, (codes[used], used)), shape=(size, len(codes)))

    def __call__(self, times: Times) -> Floats:
        """(b, n) how often each cluster was drawn -> (b, size)."""
        return np.asarray((self._matrix @ times.T).T, dtype=np.float64)
