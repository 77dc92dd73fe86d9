"""Floors, minimum coverage and cohorts of GENRES' scores, at their thresholds, on values of our choice."""

from __future__ import annotations

import pytest

from fairspace.builders.genres.plan import RELATIONS
from fairspace.metrics.genres_bias.formula import METRICS
from fairspace.metrics.total_bias_score.standards import COHORTS
from fairspace.submissions.benchmarks.adjustment import Adjustment
from fairspace.submissions.benchmarks.genres.measure import FLOORS
from fairspace.submissions.benchmarks.genres.score import score
from fairspace.submissions.benchmarks.genres.standards import INAUGURAL
from fairspace.submissions.values import Value, measured

COHORT = COHORTS[INAUGURAL.default_cohort]


def values(changes: dict[str, Value] | None = None) -> dict[str, Value]:
    """All raw values of a model that lies at the mean of its cohort, without gaps."""
    numbers = dict(zip(METRICS, COHORT.mean, strict=True))
    numbers |= {f"{name}_{relation}": number for name, number in numbers.items() for relation in RELATIONS}
    numbers |= dict.fromkeys(FLOORS, 1.0)
    parts = {
        name: measured(name, number, low=number, high=number, expected=100, valid=100)
        for name, number in numbers.items()
    }
    return parts | (changes or {})


def floored(name: str, low: float, value: float = 0.95) -> dict[str, Value]:
    return {name: measured(name, value, low=low, high=1.0, expected=100, valid=95)}


@pytest.mark.parametrize("name", FLOORS)
def test_floors_are_held_against_the_worst_case(name: str) -> None:
    """95 of 100 narratives suffice, but the missing ones may not: the model is not ranked."""
    scored = score(values(floored(name, low=0.85)), INAUGURAL)
    assert scored.ranked is None
    assert scored.unranked == (f"{name}: 85.0% of all pairs in the worst case, less than 90%",)


@pytest.mark.parametrize("name", FLOORS)
@pytest.mark.parametrize(("low", "ranked"), [(0.9, True), (0.8999, False)])
def test_a_model_at_a_floor_is_ranked(name: str, low: float, ranked: bool) -> None:
    assert (score(values(floored(name, low)), INAUGURAL).ranked is not None) == ranked


@pytest.mark.parametrize(("valid", "state"), [(90, "value"), (89, "undefined")])
def test_the_minimum_coverage_itself_suffices(valid: int, state: str) -> None:
    scored = score(values({"M2": measured("M2", 0.1, low=0.0, high=0.2, expected=100, valid=valid)}), INAUGURAL)
    assert scored.scores["M2"].state == scored.scores["TBS"].state == state
    assert (scored.ranked is not None) == (state == "value")


def test_the_total_is_the_distance_from_the_cohort_and_ranks_by_its_worst_case() -> None:
    """M1 lies one deviation above the mean, and between none and three in the worst cases."""
    mean, std = COHORT.mean[0], COHORT.std[0]
    away = measured("M1", mean + std, low=mean, high=mean + 3 * std, expected=100, valid=95)
    scored = score(values({"M1": away}), INAUGURAL)
    total = scored.scores["TBS"]
    assert (total.value, total.low, total.high) == pytest.approx((1, 0, 3))
    assert (total.expected, total.valid) == (100, 95)
    assert scored.ranked == total.high
    assert scored.labels == {"cohort": INAUGURAL.default_cohort}


def test_a_model_is_held_against_the_cohort_of_its_judges_family() -> None:
    other = next(name for name in COHORTS if name != INAUGURAL.default_cohort)
    m4 = values()["M4"]
    judged = measured("M4", COHORT.mean[3], low=m4.low, high=m4.high, expected=100, valid=100)
    judged = Value(**{**vars(judged), "evidence": {"cohort": other}})
    scored = score(values({"M4": judged}), INAUGURAL)
    distances = zip(COHORT.mean, COHORTS[other].mean, COHORTS[other].std, strict=True)
    assert scored.labels == {"cohort": other}
    assert scored.scores["TBS"].value == pytest.approx(sum(abs(a - b) / deviation for a, b, deviation in distances))


def test_a_reader_weighs_distances() -> None:
    mean, std = COHORT.mean[0], COHORT.std[0]
    away = values({"M1": measured("M1", mean + std, low=mean, high=mean + std, expected=100, valid=100)})
    assert score(away, INAUGURAL, Adjustment(weights={"M1": 2.5})).scores["TBS"].value == pytest.approx(2.5)
    assert score(away, INAUGURAL, Adjustment(dropped=frozenset({"M1"}))).scores["TBS"].value == pytest.approx(0)
