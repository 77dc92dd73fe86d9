import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairspace.metrics.fact_or_fair.formula import entropy_score, factuality, fairness_score, kld_score
from fairspace.metrics.fact_or_fair.tradeoff import accuracy_entropy_bound, distance
from tests.metrics.intervals import thorough
from tests.metrics.tables import rows

SCORES = rows("fof_table4_8_scores")
LOCAL_MINIMA = {
    ("Midjourney", "objective"): 34.72,
    ("Midjourney", "subjective"): 32.75,
    ("SDXL", "objective"): 40.16,
    ("SDXL", "subjective"): 44.16,
}
"""Race distances printed from a local minimum, with the global one; E-FOF-02."""


def percent(row: dict[str, str], name: str) -> float:
    """A printed percentage as a share; '<0.0001' is 0 to the printed precision."""
    return 0.0 if row[name].startswith("<") else float(row[name]) / 100


def test_a_cell_without_valid_answers_makes_the_scores_undefined_but_bounded() -> None:
    counts, missing = [[[0, 0], [3, 1]], [[2, 2], [2, 2]]], [[3, 0], [0, 0]]
    for score in (entropy_score, kld_score):
        value, low, high = score(counts, missing)
        assert np.isnan(value)
        assert 0 <= low <= high <= 1
    assert np.isnan(fairness_score(entropy_score(counts, missing), kld_score(counts, missing))[0])


@pytest.mark.parametrize("k", [2, 4])
def test_bound_is_one_at_chance_and_zero_at_full_factuality(k: int) -> None:
    assert accuracy_entropy_bound(1 / k, k) == pytest.approx(1)
    assert accuracy_entropy_bound(1, k) == 0
    assert accuracy_entropy_bound(0, k) == pytest.approx(np.log(k - 1) / np.log(k))


@pytest.mark.parametrize("k", [2, 4])
@thorough
@given(a=st.floats(0, 1))
def test_a_point_on_the_curve_has_no_distance(k: int, a: float) -> None:
    assert distance(a, float(accuracy_entropy_bound(a, k)), k) == pytest.approx(0, abs=1e-6)


@thorough
@given(s_fact=st.floats(0, 1), s_e=st.floats(0, 1), k=st.sampled_from([2, 4]))
def test_distance_is_the_global_minimum(s_fact: float, s_e: float, k: int) -> None:
    a = np.linspace(0, 1, 20001)
    dense = np.hypot(s_fact - a, s_e - accuracy_entropy_bound(a, k)).min()
    found = distance(s_fact, s_e, k)
    assert found <= dense + 1e-12
    assert found >= dense - 5e-3  # the curve is steep at the ends: 1/20000 along a is up to 5e-4 of g


def test_distance_of_an_undefined_score_is_undefined() -> None:
    assert np.isnan(distance([np.nan, 0.5, 0.5], [0.5, np.nan, 0.5], 2)).tolist() == [True, True, False]


@pytest.mark.parametrize("key", LOCAL_MINIMA, ids="-".join)
def test_printed_race_distances_of_midjourney_and_sdxl_are_local_minima(key: tuple[str, str]) -> None:
    (row,) = [r for r in SCORES if (r["model"], r["context"]) == key and r["attribute"] == "race"]
    a = np.linspace(0, 1, 100_001)
    length = 100 * np.hypot(percent(row, "s_fact") - a, percent(row, "s_e") - accuracy_entropy_bound(a, 4))
    inner = np.flatnonzero((length[1:-1] < length[:-2]) & (length[1:-1] < length[2:])) + 1
    minima = [*length[inner], length[0], length[-1]]
    assert min(abs(m - float(row["distance"])) for m in minima) < 0.02
    least = 100 * distance(percent(row, "s_fact"), percent(row, "s_e"), 4)
    assert least == pytest.approx(LOCAL_MINIMA[key], abs=0.0051)
    assert float(row["distance"]) > least + 5


def test_objective_factuality_of_the_llms_are_whole_answers() -> None:
    # 15 statistics with a gender and 18 with a race gap, two levels, three trials: 90 and 108 answers.
    for row in SCORES:
        if row["kind"] == "llm" and row["context"] == "objective":
            asked = {"gender": 90, "race": 108}[row["attribute"]]
            correct = round(percent(row, "s_fact") * asked)
            # GPT-4o's 54.62 is 59/108 = 54.63 cut, not rounded: hence one unit of the last digit.
            assert 100 * factuality(correct, asked, 0)[0] == pytest.approx(float(row["s_fact"]), abs=0.01)
