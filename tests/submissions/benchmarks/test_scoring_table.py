"""A scoring table on small examples: one rule for values, bounds and replicates; holes and left out parts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairspace.submissions.benchmarks.adjustment import is_left_out
from fairspace.submissions.benchmarks.scoring_table import (
    Column,
    Columns,
    Rule,
    ScoringTable,
    Weights,
    covered,
    falling,
    least_covered,
    names_of_parts,
    same,
)
from fairspace.submissions.values import Value, measured, not_run, undefined


def value(name: str, number: float, low: float, high: float, valid: int = 10) -> Value:
    return measured(name, number, low=low, high=high, expected=10, valid=valid)


def length(columns: Columns, weights: Weights) -> Column:
    return sum(weights[name] * column**2 for name, column in columns.items()) ** 0.5


VALUES = {"a": value("a", 0.3, 0.1, 0.5, valid=9), "b": value("b", 0.4, 0.4, 0.8, valid=7)}
TABLE = ScoringTable(
    {
        "A": Rule("A", {"a": 1.0}, same, (0.0, 1.0)),
        "mean": Rule("mean", {"A": 3.0, "b": 1.0}, limits=(0.0, 1.0)),
        "norm": Rule(
            "norm", {"a": 1.0, "b": 1.0}, length, bounds=falling, rescale=lambda x: 2 - x, counts=least_covered
        ),
        "nothing": Rule("nothing", {}),
    },
    ("mean",),
)


def test_a_mean_rises_with_its_parts_and_counts_the_samples_of_all() -> None:
    mean = TABLE.values(VALUES)["mean"]
    assert (mean.low, mean.value, mean.high) == pytest.approx((0.175, 0.325, 0.575))
    assert (mean.expected, mean.valid) == (20, 16)


def test_a_falling_score_is_lowest_where_its_parts_are_largest_and_keeps_its_magnitude() -> None:
    norm = TABLE.values(VALUES)["norm"]
    ends = [2 - math.hypot(0.5, 0.8), 2 - 0.5, 2 - math.hypot(0.1, 0.4)]
    assert [norm.low, norm.value, norm.high] == pytest.approx(ends)
    assert (norm.expected, norm.valid) == (10, 7)
    assert norm.evidence["magnitude"] == pytest.approx(0.5)


def test_a_score_of_which_nothing_counts_is_left_out_and_has_no_limits() -> None:
    assert is_left_out(TABLE.values(VALUES)["nothing"])
    assert set(TABLE.limits) == {"A", "mean", "norm"}


def test_replicates_are_scored_as_values_are() -> None:
    columns = {"a": np.array([0.3, 0.6, np.nan]), "b": np.array([0.4, 0.8, 0.1])}
    scores = TABLE.replicates(columns)
    assert set(scores) == {"A", "mean", "norm"}
    assert scores["mean"][0] == TABLE.values(VALUES)["mean"].value
    assert scores["norm"][:2] == pytest.approx([1.5, 1.0])
    assert all(np.isnan(column[2]) for column in scores.values())


def test_a_score_is_left_out_of_the_replicates_if_a_part_has_none() -> None:
    columns = {"a": np.array([0.3, 0.6]), "b": np.array([0.4, 0.8])}
    assert set(TABLE.replicates({"a": columns["a"]})) == {"A"}


@pytest.mark.parametrize(
    ("part", "state", "reason"),
    [
        (not_run("a", "not asked"), "not_run", "not asked"),
        (undefined("a", "no answers"), "undefined", "no answers"),
        (None, "undefined", "the result does not hold it"),
    ],
)
def test_a_score_without_a_part_has_no_number(part: Value | None, state: str, reason: str) -> None:
    scores = TABLE.values({"b": VALUES["b"]} | ({} if part is None else {"a": part}))
    assert {scores[name].state for name in ("A", "mean", "norm")} == {state}
    assert scores["mean"].reason == reason


def test_a_reason_may_name_the_parts() -> None:
    rule = Rule("mean", {"a": 1.0, "b": 1.0}, lacking=names_of_parts("no number of"))
    scores = ScoringTable({"mean": rule}).values({"a": not_run("a", "x"), "b": undefined("b", "y")})
    assert (scores["mean"].state, scores["mean"].reason) == ("undefined", "no number of: a, b")


@pytest.mark.parametrize(("valid", "state"), [(8, "value"), (7, "undefined")])
def test_the_minimum_coverage_itself_suffices(valid: int, state: str) -> None:
    assert covered(value("a", 0.3, 0.1, 0.5, valid), 0.8, "{share:.0%} of {minimum:.0%}").state == state


def test_no_samples_are_no_coverage() -> None:
    assert covered(measured("a", 0.3), 0.5, "{share:.0%}, not {minimum:.0%}").reason == "0%, not 50%"


def test_a_bound_that_a_part_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        TABLE.values(VALUES | {"b": measured("b", 0.4, low=0.1, expected=10, valid=10)})
