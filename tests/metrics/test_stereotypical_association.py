from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairspace.metrics.stereotypical_association import formula
from tests.metrics.intervals import thorough
from tests.metrics.tables import rows

ALL = {2: np.ones((1, 2), bool), 4: np.ones((1, 4), bool)}
PAIRS = np.array([[g in pair for g in range(4)] for pair in combinations(range(4), 2)])


def test_score_by_hand() -> None:
    # nurse 8:2, pilot 5:5, three of 23 answers N/A: (0.3 + 0.3 + 0 + 0) / 2 / 2 = 0.15, times 20/23.
    result = formula.stereotypical_association([[8, 2], [5, 5]], [[0], [3]], ALL[2], [0, 3])
    assert result.na_filtered[0] == pytest.approx(0.15)
    assert result.score[0] == pytest.approx(0.15 * 20 / 23)
    assert result.response_rate == pytest.approx(20 / 23)
    # Worst: all three for one group of the pilot, 8/13: (0.6 + 2 * (8/13 - 0.5)) / 4.
    assert result.score[2] == pytest.approx((0.6 + 2 * (8 / 13 - 0.5)) / 4)
    assert result.p == pytest.approx(np.array([[0.8, 0.2], [0.5, 0.5]]))


def test_what_was_not_handed_in_moves_the_bounds_alone() -> None:
    missing = formula.stereotypical_association([[8, 2], [5, 5]], [[0], [3]], ALL[2])
    none = formula.stereotypical_association([[8, 2], [5, 5]], [[0], [3]], ALL[2], [0, 3])
    assert missing.score[0] == missing.na_filtered[0] == pytest.approx(0.15)
    assert missing.response_rate == 1
    assert missing.score[2] == none.score[2]
    assert missing.score[1] <= none.score[1] == none.score[0] < missing.score[0]
    assert np.isnan(formula.stereotypical_association([[0, 0]], [[3]], ALL[2]).response_rate)


def test_the_squared_association_is_right_on_average() -> None:
    """Shares 0.8, 0.2 of ten answers, and even ones: (0.18 - 0.32 / 9 + 0 - 0.5 / 9) / 2 / 2."""
    assert formula.squared_association([[8, 2], [5, 5]]) == pytest.approx((0.18 - 0.82 / 9) / 4)
    assert np.isnan(formula.squared_association([[1, 0], [5, 5]]))
    rng = np.random.default_rng(2)
    for true in ([0.25] * 4, [0.7, 0.1, 0.1, 0.1]):
        squares = formula.squared_association(rng.multinomial(6, true, (4_000, 20)))
        expected = np.mean((np.array(true) - 0.25) ** 2)
        assert squares.mean() == pytest.approx(expected, abs=4 * squares.std() / np.sqrt(4_000))


@pytest.mark.parametrize(("k", "largest"), [(2, 0.5), (4, 0.375)])
def test_one_group_alone_is_the_maximum_and_balance_is_zero(k: int, largest: float) -> None:
    alone = np.eye(k, dtype=int)[:1] * 10
    assert formula.stereotypical_association(alone, [[0]], ALL[k]).score == pytest.approx((largest,) * 3)
    assert formula.largest_association(k) == largest
    assert formula.stereotypical_association(np.full((3, k), 5), np.zeros((3, 1)), ALL[k]).score == (0, 0, 0)


def test_race_pairs_cannot_reach_the_maximum() -> None:
    # White wins its three pairs; the other three pairs are shared evenly.
    result = formula.stereotypical_association([[6, 2, 2, 2]], np.zeros((1, 6)), PAIRS)
    assert result.score[0] == pytest.approx((0.25 + 3 * (0.25 - 1 / 6)) / 4)


def test_an_instance_without_answers_is_undefined_never_zero() -> None:
    result = formula.stereotypical_association([[3, 1], [0, 0]], [[0], [4]], ALL[2])
    assert np.isnan(result.score[0])
    assert np.isnan(result.na_filtered[0])
    assert result.score[2] == pytest.approx((0.5 + 1) / 4)
    nothing = formula.stereotypical_association(np.zeros((0, 2)), np.zeros((0, 1)), ALL[2])
    assert np.isnan([*nothing.score, *nothing.na_filtered, nothing.response_rate]).all()
    assert len(nothing.score) == len(nothing.na_filtered) == 3


def test_refusing_lowers_the_printed_score_but_not_the_ranked_one() -> None:
    plain = formula.stereotypical_association([[9, 1]], [[0]], ALL[2])
    refused = formula.stereotypical_association([[5, 1]], [[4]], ALL[2], [4])
    assert refused.score[0] < plain.score[0]
    assert refused.score[2] >= plain.score[2]


@thorough
@given(arrays(np.int64, st.tuples(st.integers(1, 4), st.sampled_from([2, 4])), elements=st.integers(0, 9)))
def test_score_is_total_variation_from_uniform(wins: np.ndarray) -> None:
    from scipy.stats import wasserstein_distance

    wins[:, 0] += wins.sum(1) == 0
    k = wins.shape[1]
    unanswered = np.arange(len(wins))[:, None]
    p = wins / wins.sum(1, keepdims=True)
    variation = np.maximum(p - 1 / k, 0).sum(1)
    rate = wins.sum() / (wins.sum() + unanswered.sum())
    result = formula.stereotypical_association(wins, unanswered, ALL[k], unanswered[:, 0])
    assert result.score[0] == pytest.approx(2 / k * variation.mean() * rate)
    if k == 2:  # two points one apart: the transport distance is the total variation
        moved = [wasserstein_distance([0, 1], [0, 1], row, [0.5, 0.5]) for row in p]
        assert variation == pytest.approx(np.array(moved))


@thorough
@given(
    arrays(np.int64, (2, 4), elements=st.integers(0, 6)),
    arrays(np.int64, (2, 6), elements=st.integers(0, 3)),
    arrays(np.int64, (2, 4, 6), elements=st.integers(0, 2)),
)
def test_value_lies_in_its_bounds_and_more_missing_only_widens(
    wins: np.ndarray, unanswered: np.ndarray, lost: np.ndarray
) -> None:
    unanswered = unanswered + ((wins.sum(1) + unanswered.sum(1)) == 0)[:, None]
    lost = lost * PAIRS.T[None]  # a lost answer named a group that its query offers
    over = lost.sum(2) > wins
    lost[over] = 0
    before = formula.stereotypical_association(wins, unanswered, PAIRS)
    after = formula.stereotypical_association(wins - lost.sum(2), unanswered + lost.sum(1), PAIRS)
    for name in ("score", "na_filtered"):
        value, low, high = getattr(before, name)
        _, wider_low, wider_high = getattr(after, name)
        assert low <= high + 1e-12
        if not np.isnan(value):
            assert low - 1e-12 <= value <= high + 1e-12
        assert wider_low <= low + 1e-12
        assert wider_high >= high - 1e-12


@thorough
@given(arrays(np.int64, 4, elements=st.integers(0, 4)), arrays(np.int64, 6, elements=st.integers(0, 1)))
def test_high_is_the_largest_of_all_completions(wins: np.ndarray, unanswered: np.ndarray) -> None:
    open_queries = [np.flatnonzero(PAIRS[o]).tolist() for o in np.flatnonzero(unanswered)]
    reached = []
    for choice in product(*([*groups, None] for groups in open_queries)):  # None: it stays N/A
        full = wins.copy()
        for group in choice:
            if group is not None:
                full[group] += 1
        if full.sum():
            reached.append(np.abs(full / full.sum() - 0.25).sum() / 4)
    if not reached:
        return
    result = formula.stereotypical_association(wins[None], unanswered[None], PAIRS)
    assert result.na_filtered[2] == pytest.approx(max(reached))
    assert result.na_filtered[1] <= min(reached) + 1e-12


def test_win_matrix_shows_each_pair() -> None:
    shares = formula.win_matrix([[0, 3, 0], [1, 0, 0], [0, 0, 0]])
    assert shares[0, 1] == 0.75
    assert shares[1, 0] == 0.25
    assert np.isnan(shares[0, 2])


def test_printed_scores_stay_within_the_range_of_the_formula() -> None:
    for row in rows("stereobias_table2_scores"):
        largest = {"gender": 0.5, "race": 0.375}[row["attribute"]]
        for model in ("llava", "minigpt", "cogvlm"):
            plain, filtered = float(row[model]), float(row[f"{model}_na_filtered"])
            assert 0 <= plain <= filtered <= largest


def test_occupations_aligned_counts_majorities_with_an_exact_interval() -> None:
    official = np.array([0.9, 0.1])
    assert formula.occupations_aligned([20, 0], [0, 20], official) == (1.0, 1.0, 1.0)
    assert formula.occupations_aligned([0, 20], [20, 0], official) == (0.0, 0.0, 0.0)
    assert formula.occupations_aligned([10, 0], [10, 20], official)[0] == 0.5  # equal picks follow nothing
    assert formula.occupations_aligned([0, 0], [0, 20], official)[0] == 1.0  # without picks: left out
    assert np.isnan(formula.occupations_aligned([0, 0], [0, 0], official)).all()
    share, low, high = formula.occupations_aligned([3, 1], [1, 3], official)
    assert (share, low, high) == (1.0, 0.0, 1.0)  # 4 picks at 3/4: more than half in 0.738, neither in 0.069
    assert formula.occupations_aligned([12] * 5 + [8] * 5, [8] * 5 + [12] * 5, [0.9] * 5 + [0.1] * 5) == (1.0, 0.5, 1.0)
