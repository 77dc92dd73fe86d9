from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.genres_bias.formula import (
    EMOTION_WORDS_CAP,
    SUBJECT_SENTENCES_CAP,
    emotion_word_difference,
    main_character_correlation,
    positive_score_difference,
    positive_sentence_difference,
    status_difference,
    status_difference_by_relation,
    stereoscopic_correlation,
    subject_sentence_difference,
    warmth_ratio_difference,
)
from tests.metrics.intervals import thorough
from tests.metrics.tables import rows

MEANS: dict[str, tuple[Any, int, float]] = {
    "M1": (warmth_ratio_difference, 4, 100),
    "M2": (positive_score_difference, 4, 2),
    "M3": (subject_sentence_difference, 2, SUBJECT_SENTENCES_CAP),
    "M5": (emotion_word_difference, 2, EMOTION_WORDS_CAP),
    "M6": (positive_sentence_difference, 4, 100),
}
"""Metric -> function, count columns, largest difference of one passage."""


def columns(metric: str, passages: list[tuple[int, int, int, int]]) -> list[list[int]]:
    """Count columns that the metric accepts: a part never exceeds its whole."""
    wide = [[p[i] for p in passages] for i in range(4)]
    if metric in ("M2", "M6"):
        for part, whole in ((0, 1), (2, 3)):
            wide[part] = np.minimum(wide[part], wide[whole]).tolist()
    return wide[: MEANS[metric][1]]


# --- M1, M2, M3, M5, M6: means over passages


def test_warmth_ratio_by_hand() -> None:
    # 3/4 against 1/2 and 0 against 1: (25 - 100) / 2; one missing passage is worth 100 either way.
    found = warmth_ratio_difference([3, 0], [1, 2], [1, 4], [1, 0], 1)
    assert found == pytest.approx((-37.5, -175 / 3, 25 / 3))


def test_a_profile_without_words_of_either_kind_is_missing_in_m1_and_neutral_in_m2() -> None:
    assert warmth_ratio_difference([3, 0], [1, 0], [1, 1], [1, 1], 0) == pytest.approx((25, -37.5, 62.5))
    assert positive_score_difference([2, 0], [4, 0], [-1, 1], [2, 2], 0) == pytest.approx(((1 - 0.5) / 2,) * 3)


def test_positive_sentences_by_hand() -> None:
    # 1/2 against 1/4; the second passage has no female sentence.
    assert positive_sentence_difference([1, 3], [2, 3], [1, 0], [4, 0], 0) == pytest.approx((25, -37.5, 62.5))


@pytest.mark.parametrize(
    ("difference", "cap"),
    [(subject_sentence_difference, SUBJECT_SENTENCES_CAP), (emotion_word_difference, EMOTION_WORDS_CAP)],
)
def test_counts_are_clipped_at_the_declared_cap(difference: Any, cap: int) -> None:
    assert difference([cap + 500], [0], 0) == (cap, cap, cap)
    assert difference([5, 1], [3, 2], 0) == (0.5, 0.5, 0.5)
    assert difference([5, 1], [3, 2], 2) == (0.5, (1 - 2 * cap) / 4, (1 + 2 * cap) / 4)


@pytest.mark.parametrize("metric", MEANS)
def test_no_passage_is_undefined_never_zero(metric: str) -> None:
    difference, width, cap = MEANS[metric]
    assert np.isnan(difference(*[[]] * width, 0)).all()
    value, low, high = difference(*[[]] * width, 3)
    assert np.isnan(value)
    assert (low, high) == (-cap, cap)


passages = st.lists(st.tuples(*[st.integers(0, 8)] * 4), min_size=1, max_size=8)


@pytest.mark.parametrize("metric", MEANS)
@thorough
@given(rows=passages, missing=st.integers(0, 5), kept=st.integers(0, 8))
def test_value_lies_in_its_bounds_and_more_missing_only_widens(
    metric: str, rows: list[tuple[int, int, int, int]], missing: int, kept: int
) -> None:
    difference, _, cap = MEANS[metric]
    value, low, high = difference(*columns(metric, rows), missing)
    assert -cap <= low <= high <= cap
    if not np.isnan(value):
        assert low - 1e-9 <= value <= high + 1e-9
    fewer = rows[:kept]
    _, wider_low, wider_high = difference(*columns(metric, fewer), missing + len(rows) - len(fewer))
    assert wider_low <= low + 1e-9
    assert wider_high >= high - 1e-9


@pytest.mark.parametrize("metric", MEANS)
@thorough
@given(rows=passages)
def test_swapping_the_genders_turns_the_sign_and_order_changes_nothing(
    metric: str, rows: list[tuple[int, int, int, int]]
) -> None:
    difference, width, _ = MEANS[metric]
    table = columns(metric, rows)
    value, low, high = difference(*table, 2)
    swapped = difference(*table[width // 2 :], *table[: width // 2], 2)
    assert swapped == pytest.approx((-value, -high, -low), nan_ok=True)
    assert difference(*(column[::-1] for column in table), 2) == pytest.approx((value, low, high), nan_ok=True)


# --- M4 and M8: decided passages


def test_status_by_hand() -> None:
    # 6 male, 4 female, 2 missing: 2/10; worst 0/12, best 4/12.
    assert status_difference(6, 4, 2) == pytest.approx((20, 0, 100 / 3))
    assert main_character_correlation(6, 4, 2) == pytest.approx((0.2, 0, 1 / 3))


def test_no_decided_passage_is_undefined() -> None:
    for difference, largest in ((status_difference, 100), (main_character_correlation, 1)):
        assert np.isnan(difference(0, 0, 0)).all()
        value, low, high = difference(0, 0, 3)
        assert np.isnan(value)
        assert (low, high) == (-largest, largest)


def test_one_side_alone_is_the_extreme() -> None:
    assert status_difference(7, 0, 0) == (100, 100, 100)
    assert main_character_correlation(0, 7, 0) == (-1, -1, -1)


def test_status_by_relation_is_the_mean_over_relational_models() -> None:
    assert status_difference_by_relation([1, 0, 3, 2], [0, 1, 1, 2], [0, 0, 0, 0])[0] == pytest.approx(12.5)
    assert status_difference(6, 4, 0)[0] == pytest.approx(20)
    value, low, high = status_difference_by_relation([1, 0, 3, 0], [0, 1, 1, 0], [0, 0, 0, 2])
    assert np.isnan(value)
    assert (low, high) == pytest.approx((50 / 4 - 25, 50 / 4 + 25))


@thorough
@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 6))
def test_bounds_of_decided_passages_are_exact(male: int, female: int, missing: int) -> None:
    # A missing passage goes to either side, or stays undecided.
    reached = [
        (male + m - female - f) / (male + female + m + f)
        for m, f in product(range(missing + 1), repeat=2)
        if m + f <= missing and male + female + m + f
    ]
    _, low, high = main_character_correlation(male, female, missing)
    if reached:
        assert (low, high) == pytest.approx((min(reached), max(reached)))


@thorough
@given(st.integers(1, 9), st.integers(1, 9))
def test_main_character_is_the_pearson_correlation(male: int, female: int) -> None:
    from scipy.stats import pearsonr

    gender = [1, 0] * (male + female)
    main = [1, 0] * male + [0, 1] * female
    assert main_character_correlation(male, female, 0)[0] == pytest.approx(pearsonr(gender, main).statistic)


# --- M7: characters of two genders


@thorough
@given(st.integers(1, 12), st.data())
def test_stereoscopic_is_the_pearson_correlation(n: int, data: st.DataObject) -> None:
    from scipy.stats import pearsonr

    male, female = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    found = stereoscopic_correlation(male, female, n, 0, 0)
    if male + female in (0, 2 * n):
        assert np.isnan(found).all()
    else:
        deep = [1] * male + [0] * (n - male) + [1] * female + [0] * (n - female)
        expected = pearsonr([1] * n + [0] * n, deep).statistic
        assert found == pytest.approx((expected,) * 3)


def test_stereoscopic_without_judgements_of_one_gender_is_undefined() -> None:
    assert np.isnan(stereoscopic_correlation(0, 3, 5, 5, 0)[0])
    assert np.isnan(stereoscopic_correlation(0, 0, 0, 0, 0)).all()


@thorough
@given(st.integers(1, 7), st.data())
def test_stereoscopic_bounds_are_exact_and_enclose_the_value(n: int, data: st.DataObject) -> None:
    absent = [data.draw(st.integers(0, n)) for _ in range(2)]
    deep = [data.draw(st.integers(0, n - m)) for m in absent]
    value, low, high = stereoscopic_correlation(deep[0], deep[1], n, absent[0], absent[1])
    reached = [
        stereoscopic_correlation(deep[0] + a, deep[1] + b, n, 0, 0)[0]
        for a in range(absent[0] + 1)
        for b in range(absent[1] + 1)
    ]
    if not np.isnan(value):
        assert low - 1e-12 <= value <= high + 1e-12
        assert (low, high) == pytest.approx((np.nanmin(reached), np.nanmax(reached)))


@thorough
@given(st.integers(2, 9), st.data())
def test_more_missing_judgements_only_widen_m7(n: int, data: st.DataObject) -> None:
    male, female = data.draw(st.integers(1, n - 1)), data.draw(st.integers(1, n - 1))
    lost = [data.draw(st.integers(0, 1)) for _ in range(4)]
    _, low, high = stereoscopic_correlation(male, female, n, 0, 0)
    _, wider_low, wider_high = stereoscopic_correlation(
        male - lost[0], female - lost[1], n, lost[0] + lost[2], lost[1] + lost[3]
    )
    assert np.isnan(wider_low) or wider_low <= low + 1e-12
    assert np.isnan(wider_high) or wider_high >= high - 1e-12


# --- the paper's table


def test_printed_values_lie_within_the_declared_ranges() -> None:
    ranges = {"M1_pct": 100, "M2": 2, "M3": 40, "M4_pct": 100, "M5": 200, "M6_pct": 100, "M7": 1, "M8": 1}
    for row in rows("genres_table2_bias"):
        for column, largest in ranges.items():
            assert abs(float(row[column])) <= largest
