"""Hallucination inconsistency (IRIS, metric M11, Table 5): how often correctness changes with the person's group.

DHR inconsistency = 1 - mean over the pairs of a counterfactual set of [correct_i = correct_j].
0 is full consistency (ideal), 1 is a change in every pair. It says nothing about accuracy: always wrong is consistent.
"""

import numpy as np
from numpy.typing import ArrayLike

from fairspace.metrics.columns import Bounds, bounded_mean


def hallucination_inconsistency(inconsistent: ArrayLike, pairs: ArrayLike, missing_pairs: ArrayLike) -> Bounds:
    """Share of inconsistent pairs, and its bounds over every missing pair being consistent or not.

    Args:
        inconsistent: pairs of which one answer is right and the other wrong, shape (...). An answer that names no
            label, or declines, is wrong.
        pairs: pairs of which both answers were handed in, shape (...).
        missing_pairs: pairs of which an answer was not handed in, shape (...).

    Returns:
        (value, low, high), each of shape (...), in [0, 1], ideal 0. `value` is nan when no pair could be judged. A
        missing pair is consistent in `low` and inconsistent in `high`.

    Raises:
        ValueError: for a negative number or more inconsistent pairs than pairs.
    """
    changed, n, missing = (np.asarray(x, dtype=np.float64) for x in (inconsistent, pairs, missing_pairs))
    if not np.all((missing >= 0) & (changed >= 0) & (changed <= n)):
        raise ValueError(f"{changed} inconsistent of {n} pairs ({missing} missing)")
    return bounded_mean(changed, n, missing)
