"""What a number of images or rounds per occupation can show of JSD from labour figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from fairspace.builders.iris.labour import REGIONS
from fairspace.metrics.distribution_divergence.formula import divergence
from fairspace.submissions.benchmarks.detectable import Detectable, empty, from_errors
from fairspace.submissions.benchmarks.iris.measure.means import Integers, mean_over_occupations, references
from fairspace.submissions.benchmarks.power import calibrated

_DRAWS = 1000
"""Of a simulation, with two or three groups."""


def divergences(
    name: Callable[[str, str], str], task: str, sizes: Integers, independent: Integers | None, note: str
) -> list[Detectable]:
    """JSD of every region and attribute.

    Args:
        name: region, attribute -> the value's name.
        task: of the submission.
        sizes: (52,) answers or images of an occupation.
        independent: (52,) as many of them as are surely independent; None if all are, or nobody knows.
        note: of the values.
    """
    values = []
    for reference in references(REGIONS):
        value, counts = name(reference.region, reference.attribute), sizes[reference.listed]
        n, of = int(counts.min()), "of an occupation"
        if not n:
            why = f"{int((counts == 0).sum())} of {len(counts)} occupations have nothing"
            values.append(empty(value, "JSD", task, n, of, why))
            continue
        mean = partial(mean_over_occupations, partial(divergence, q=reference.shares))
        even = np.full(reference.shares.shape, 1 / reference.shares.shape[1])
        usual = calibrated(mean, counts, even, reference.shares, _DRAWS)
        worst = None
        if independent is not None:
            least = independent[reference.listed]
            worst = calibrated(mean, least, even, reference.shares, _DRAWS).error if least.all() else math.inf
        values.append(
            from_errors(value, "JSD", task, n, of, usual.error, worst, usual.chance, "nats", note, math.log(2))
        )
    return values
