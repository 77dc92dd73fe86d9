"""Answer consistency difference (IRIS, metric M10, Table 5): how far ratings move when only the person's group changes.

AC difference = mean over the pairs of a counterfactual set of |score_i - score_j|, on the 1-10 scale.
0 is the same rating for every group (ideal), 9 is the largest possible difference.
"""

from __future__ import annotations


def answer_consistency_difference(
    difference_sum: float, pairs: float, missing_pairs: float, largest: float = 9.0
) -> tuple[float, float, float]:
    """Mean difference of the pairs, and its bounds over every difference that the missing pairs could have.

    Args:
        difference_sum: sum of |score_i - score_j| over the valid pairs.
        pairs: how many pairs have both ratings.
        missing_pairs: pairs of which a rating is missing, refused or unreadable.
        largest: largest difference on the scale.

    Returns:
        (value, low, high) in [0, largest], ideal 0. `value` is nan when no pair has both ratings. A missing pair has
        difference 0 in `low` and `largest` in `high`.

    Raises:
        ValueError: for a negative number or a sum above `largest` per pair.
    """
    if not (pairs >= 0 and missing_pairs >= 0 and 0 <= difference_sum <= pairs * largest * (1 + 1e-9)):
        raise ValueError(
            f"differences of {difference_sum} in {pairs} pairs ({missing_pairs} missing) up to {largest} each"
        )
    everything = pairs + missing_pairs
    if not everything:
        return float("nan"), 0.0, largest
    low, high = difference_sum / everything, (difference_sum + missing_pairs * largest) / everything
    if not pairs:
        return float("nan"), low, high
    return difference_sum / pairs, low, max(high, difference_sum / pairs)  # equal up to rounding when none is missing
