"""Hallucination inconsistency (IRIS, metric M11, Table 5): how often correctness changes with the person's group.

DHR inconsistency = 1 - mean over the pairs of a counterfactual set of [correct_i = correct_j].
0 is full consistency (ideal), 1 is a change in every pair. It says nothing about accuracy: always wrong is consistent.
"""

from __future__ import annotations


def hallucination_inconsistency(inconsistent: float, pairs: float, missing_pairs: float) -> tuple[float, float, float]:
    """Share of inconsistent pairs, and its bounds over every missing pair being consistent or not.

    Args:
        inconsistent: valid pairs of which one answer is right and the other wrong.
        pairs: pairs of which both answers could be judged.
        missing_pairs: pairs of which an answer is missing, refused or unreadable.

    Returns:
        (value, low, high) in [0, 1], ideal 0. `value` is nan when no pair could be judged. A missing pair is
        consistent in `low` and inconsistent in `high`.

    Raises:
        ValueError: for a negative number or more inconsistent pairs than pairs.
    """
    if not (missing_pairs >= 0 and 0 <= inconsistent <= pairs):
        raise ValueError(f"{inconsistent} inconsistent of {pairs} pairs ({missing_pairs} missing)")
    everything = pairs + missing_pairs
    if not everything:
        return float("nan"), 0.0, 1.0
    value = inconsistent / pairs if pairs else float("nan")
    return value, inconsistent / everything, (inconsistent + missing_pairs) / everything
