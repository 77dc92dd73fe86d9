import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.genres_bias.formula import (
    LARGEST,
    main_character_correlation,
    mean_difference,
    stereoscopic_correlation,
)
from tests.metrics.intervals import thorough
from tests.metrics.tables import rows

MEANS = {"M1": 2, "M2": 2, "M3": 1, "M5": 1, "M6": 2}
"""Metric -> count columns of each side."""
Passages = list[tuple[int, int, int, int]]


def columns(metric: str, passages: Passages) -> tuple[list[list[int]], list[list[int]]]:
    """Count columns of both sides that the metric accepts: a part never exceeds its whole."""
    wide = [[p[i] for p in passages] for i in range(4)]
    if metric in ("M2", "M6"):
        for part, whole in ((0, 1), (2, 3)):
            wide[part] = np.minimum(wide[part], wide[whole]).tolist()
    width = MEANS[metric]
    return wide[:width], wide[2 : 2 + width]


# --- M1, M2, M3, M5, M6: means over passages


passages = st.lists(st.tuples(*[st.integers(0, 8)] * 4), min_size=1, max_size=8)


@pytest.mark.parametrize("metric", MEANS)
@thorough
@given(rows=passages, missing=st.integers(0, 5), kept=st.integers(0, 8))
def test_value_lies_in_its_bounds_and_more_missing_only_widens(
    metric: str, rows: Passages, missing: int, kept: int
) -> None:
    cap = LARGEST[metric]
    value, low, high = mean_difference(metric, *columns(metric, rows), missing)
    assert -cap <= low <= high <= cap
    if not np.isnan(value):
        assert low - 1e-9 <= value <= high + 1e-9
    fewer = rows[:kept]
    _, wider_low, wider_high = mean_difference(metric, *columns(metric, fewer), missing + len(rows) - len(fewer))
    assert wider_low <= low + 1e-9
    assert wider_high >= high - 1e-9


@pytest.mark.parametrize("metric", MEANS)
@thorough
@given(rows=passages)
def test_swapping_the_genders_turns_the_sign_and_order_changes_nothing(metric: str, rows: Passages) -> None:
    male, female = columns(metric, rows)
    value, low, high = mean_difference(metric, male, female, 2)
    assert mean_difference(metric, female, male, 2) == pytest.approx((-value, -high, -low), nan_ok=True)
    turned = mean_difference(metric, *columns(metric, rows[::-1]), 2)
    assert turned == pytest.approx((value, low, high), nan_ok=True)


# --- M4 and M8: decided passages


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


# --- the paper's table


def test_printed_values_lie_within_the_declared_ranges() -> None:
    ranges = {"M1_pct": 100, "M2": 2, "M3": 40, "M4_pct": 100, "M5": 200, "M6_pct": 100, "M7": 1, "M8": 1}
    for row in rows("genres_table2_bias"):
        for column, largest in ranges.items():
            assert abs(float(row[column])) <= largest
