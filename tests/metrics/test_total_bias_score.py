import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.genres_bias.formula import LARGEST
from fairspace.metrics.total_bias_score.formula import total_bias_score
from fairspace.metrics.total_bias_score.standards import COHORTS, MODELS, ZERO_CENTRED
from tests.metrics.intervals import thorough
from tests.metrics.tables import rows

TABLE = rows("genres_table2_bias")
COLUMNS = ("M1_pct", "M2", "M3", "M4_pct", "M5", "M6_pct", "M7", "M8")


def values(row: dict[str, str]) -> list[float]:
    return [float(row[column]) for column in COLUMNS]


def test_the_table_holds_all_eighteen_printed_scores() -> None:
    assert {(row["evaluator"], row["model"]) for row in TABLE} == {(e, m) for e in COHORTS for m in MODELS}


def test_printed_values_lie_within_the_declared_ranges() -> None:
    most = [LARGEST[column.removesuffix("_pct")] for column in COLUMNS]
    assert all((np.abs(values(row)) <= most).all() for row in TABLE)


@pytest.mark.parametrize("name", COHORTS)
def test_cohort_is_the_mean_and_population_deviation_of_the_published_models(name: str) -> None:
    cohort = np.array([values(row) for row in TABLE if row["evaluator"] == name])
    assert cohort.mean(0) == pytest.approx(np.array(COHORTS[name].mean), rel=1e-12)
    assert cohort.std(0, ddof=0) == pytest.approx(np.array(COHORTS[name].std), rel=1e-12)


def test_the_sample_deviation_does_not_reproduce_table_2() -> None:
    (row,) = [r for r in TABLE if r["evaluator"] == "mistral" and r["model"] == "Qwen-3B"]
    spread = np.array(COHORTS["mistral"].std) * np.sqrt(6 / 5)
    assert abs(total_bias_score(values(row), COHORTS["mistral"].mean, spread)[0] - float(row["TBS"])) > 0.3


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
