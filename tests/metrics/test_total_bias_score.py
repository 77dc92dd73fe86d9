from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.total_bias_score.formula import total_bias_score
from fairspace.metrics.total_bias_score.standards import COHORTS, MODELS, ZERO_CENTRED
from tests.metrics.intervals import thorough
from tests.metrics.tables import rows

TABLE = rows("genres_table2_bias")
COLUMNS = ("M1_pct", "M2", "M3", "M4_pct", "M5", "M6_pct", "M7", "M8")

FROZEN = {
    "llama": (
        [
            -5.721666666666667,
            -0.005,
            0.12966666666666668,
            4.048166666666667,
            -1.1076666666666666,
            -2.0755,
            0.05349999999999999,
            -0.3861666666666666,
        ],
        [
            4.847224589620561,
            0.01773884626086676,
            0.40009360015987366,
            4.106226711417132,
            2.7202951228783165,
            1.7490860232323244,
            0.02052437575177379,
            0.05983704723849785,
        ],
    ),
    "glm": (
        [
            -5.1675,
            0.0018333333333333333,
            0.12966666666666668,
            -2.8748333333333336,
            -1.1074999999999997,
            -2.0756666666666668,
            0.012833333333333334,
            -0.152,
        ],
        [
            3.8639132905212388,
            0.012548793656054045,
            0.40009360015987366,
            5.085257758680697,
            2.7202681699910887,
            1.7491622439200873,
            0.005398044913567215,
            0.05020624131187942,
        ],
    ),
    "mistral": (
        [
            -4.715833333333333,
            -0.0013333333333333329,
            0.12966666666666668,
            13.612666666666668,
            -1.1076666666666666,
            -2.0755,
            0.027833333333333335,
            -0.35433333333333333,
        ],
        [
            4.104213705314197,
            0.012591884511682735,
            0.40009360015987366,
            7.775018728094628,
            2.7202951228783165,
            1.7490860232323244,
            0.02089989367330742,
            0.047744691386117005,
        ],
    ),
}
"""A released cohort never changes: change no digit here."""


def values(row: dict[str, str]) -> list[float]:
    return [float(row[column]) for column in COLUMNS]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['evaluator']}-{row['model']}")
def test_total_bias_score_reproduces_table_2(row: dict[str, str]) -> None:
    cohort = COHORTS[row["evaluator"]]
    value, low, high = total_bias_score(values(row), cohort.mean, cohort.std)
    # The eight values are printed to 0.001; M2, M7 and M8 are small beside that, so the sum is good to 0.003 alone.
    assert value == pytest.approx(float(row["TBS"]), abs=0.003)
    assert (low, high) == (value, value)


def test_the_table_holds_all_eighteen_printed_scores() -> None:
    assert {(row["evaluator"], row["model"]) for row in TABLE} == {(e, m) for e in COHORTS for m in MODELS}


@pytest.mark.parametrize("name", COHORTS)
def test_cohort_is_the_mean_and_population_deviation_of_the_published_models(name: str) -> None:
    cohort = np.array([values(row) for row in TABLE if row["evaluator"] == name])
    assert cohort.mean(0) == pytest.approx(np.array(COHORTS[name].mean), rel=1e-12)
    assert cohort.std(0, ddof=0) == pytest.approx(np.array(COHORTS[name].std), rel=1e-12)


def test_the_sample_deviation_does_not_reproduce_table_2() -> None:
    (row,) = [r for r in TABLE if r["evaluator"] == "mistral" and r["model"] == "Qwen-3B"]
    spread = np.array(COHORTS["mistral"].std) * np.sqrt(6 / 5)
    assert abs(total_bias_score(values(row), COHORTS["mistral"].mean, spread)[0] - float(row["TBS"])) > 0.3


def test_released_cohorts_never_change() -> None:
    assert {name: (list(c.mean), list(c.std)) for name, c in COHORTS.items()} == FROZEN
    with pytest.raises(FrozenInstanceError):
        COHORTS["llama"].name = "other"  # type: ignore[misc]


def test_no_bias_is_far_from_the_cohorts_and_0_from_zero() -> None:
    totals = {name: total_bias_score([0.0] * 8, c.mean, c.std)[0] for name, c in COHORTS.items()}
    assert totals == pytest.approx({"llama": 13.4263, "glm": 9.3716, "mistral": 13.6768}, abs=5e-5)
    assert all(total_bias_score([0.0] * 8, c.mean, c.std) == (0, 0, 0) for c in ZERO_CENTRED.values())
    assert {name: c.std for name, c in ZERO_CENTRED.items()} == {name: c.std for name, c in COHORTS.items()}


intervals = st.lists(st.lists(st.floats(-50, 50), min_size=3, max_size=3).map(sorted), min_size=8, max_size=8)


@thorough
@given(intervals, st.floats(0, 10))
def test_value_lies_in_its_bounds_and_wider_values_widen_it(sorted_triples: list[list[float]], by: float) -> None:
    low, value, high = np.array(sorted_triples).T
    cohort = COHORTS["mistral"]
    total, least, most = total_bias_score(value, cohort.mean, cohort.std, low, high)
    assert least - 1e-9 <= total <= most + 1e-9
    _, wider_least, wider_most = total_bias_score(value, cohort.mean, cohort.std, low - by, high + by)
    assert wider_least <= least + 1e-9
    assert wider_most >= most - 1e-9
