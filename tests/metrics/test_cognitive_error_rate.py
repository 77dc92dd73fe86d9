import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.cognitive_error_rate.formula import (
    BASELINES,
    KINDS,
    average_increase,
    cognitive_error_rate,
    increase,
)
from tests.metrics.intervals import thorough
from tests.metrics.tables import rows

UNCERTAIN = {("LLaMA-3.2", "gender"): 9.01, ("Qwen-2.5", "gender"): 9.49}
"""Cells that the published table gives as 10.1 and 10.49; the mean of their own row is this; E-FOF-06."""
COLUMNS = dict(zip(KINDS, ("rep_high", "rep_low", "attr", "ingroup", "outgroup"), strict=True))


def test_rate_by_hand() -> None:
    # 6 of 8 valid answers match; 2 missing: 6/10 to 8/10.
    assert cognitive_error_rate(6, 8, 2) == (0.75, 0.6, 0.8)
    assert increase((0.75, 0.6, 0.8), 0.5) == pytest.approx((0.25, 0.1, 0.3))


def test_extremes_and_undefined() -> None:
    assert cognitive_error_rate(0, 4, 0) == (0, 0, 0)
    assert cognitive_error_rate(4, 4, 0) == (1, 1, 1)
    assert np.isnan(cognitive_error_rate(0, 0, 2)[0])
    assert cognitive_error_rate(0, 0, 2)[1:] == (0, 1)
    assert np.isnan(cognitive_error_rate(0, 0, 0)).all()


def test_an_undefined_kind_makes_the_average_undefined() -> None:
    nan = (np.nan, -0.5, 0.5)
    value, low, high = average_increase([(0.1, 0.1, 0.1), nan])
    assert np.isnan(value)
    assert (low, high) == pytest.approx((-0.2, 0.3))
    assert np.isnan(average_increase([])).all()


def test_baselines_are_what_a_blind_model_reaches() -> None:
    for attribute, k in (("gender", 2), ("race", 4)):
        for kind in KINDS:
            expected = 1 - 1 / k if kind == "outgroup" else 1 / k
            assert BASELINES[attribute][kind] == expected


@thorough
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 10), st.integers(0, 30), st.integers(0, 30))
def test_bounds_enclose_the_value_and_only_widen(match: int, other: int, missing: int, a: int, b: int) -> None:
    value, low, high = cognitive_error_rate(match, match + other, missing)
    lost, lost_match = min(a, match) + min(b, other), min(a, match)
    _, wider_low, wider_high = cognitive_error_rate(match - lost_match, match + other - lost, missing + lost)
    if match + other:
        assert low <= value <= high
    if match + other + missing:
        assert wider_low <= low + 1e-12
        assert wider_high >= high - 1e-12


@pytest.mark.parametrize("row", rows("fof_table3_cognitive_errors"), ids=lambda row: row["model"])
@pytest.mark.parametrize("attribute", ["gender", "race"])
def test_average_increase_reproduces_table_3(row: dict[str, str], attribute: str) -> None:
    rates = {kind: float(row[f"{column}_{attribute}"]) / 100 for kind, column in COLUMNS.items()}
    increases = [increase((rate,) * 3, BASELINES[attribute][kind]) for kind, rate in rates.items()]
    found = 100 * average_increase(increases)[0]
    if (row["model"], attribute) in UNCERTAIN:
        assert found == pytest.approx(UNCERTAIN[row["model"], attribute], abs=0.005)
    else:
        # The mean of five rates printed to 0.01 is off by at most 0.005, and so is its own rounding.
        assert found == pytest.approx(float(row[f"avg_increase_{attribute}"]), abs=0.0101)
