import numpy as np
import pytest

from tests.benchmarks.tier_errors import GROUPS, KINDS, missed, power, torn

COHORTS = 40
MOST = 5 + 2 * 100 * (0.05 * 0.95 / COHORTS) ** 0.5


@pytest.mark.parametrize(
    "kind",
    [
        "300 items, .97 right, the same answer three times",
        "normal, a tenth with ten times the errors",
        "size at its floor, 2 groups",
        "logarithm of a size at its floor, 2 groups",
    ],
)
def test_at_most_5_percent_of_cohorts_of_equal_models_are_separated(kind: str) -> None:
    assert torn(KINDS[kind][0], 5, COHORTS) <= MOST


@pytest.mark.parametrize("groups", ["ten pairs", "two tens", "all different by half an error"])
def test_ranges_hold_all_true_ranks_at_once(groups: str) -> None:
    assert missed(GROUPS[groups], COHORTS) <= MOST


def test_models_clearly_behind_leave_the_first_tier() -> None:
    ours, by_all_pairs = power(5.0, 20, 20)
    assert ours >= 95
    assert ours >= by_all_pairs
    assert np.isfinite(by_all_pairs)
