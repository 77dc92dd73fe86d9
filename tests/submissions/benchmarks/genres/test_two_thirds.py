"""What two thirds of the evaluations agree on, and repeated evaluations of one judge."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairspace.builders.genres import plan
from fairspace.submissions.benchmarks.genres.records import Features, Records
from fairspace.submissions.benchmarks.genres.resample import strata_of_elements
from fairspace.submissions.benchmarks.genres.unranked import (
    evaluation_name,
    first_evaluations,
    judge_of,
    ratio_design,
    two_thirds,
)
from fairspace.submissions.benchmarks.genres.variants import repeated_evaluations
from fairspace.submissions.values import Value, measured

IDS = tuple(plan.ids().to_pylist())
MALE, FEMALE, NEITHER, UNREAD = (1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (math.nan, math.nan)


def evaluation(*answers: tuple[float, float]) -> Features:
    """An evaluation with these answers to the first passages, in turn over all of them."""
    column = np.array([answers[place % len(answers)] for place in range(len(IDS))])
    return Features({"status": column, "main": column})


def records(*evaluations: Features, names: tuple[str, ...] = ("b", "c", "d")) -> Records:
    others = dict(zip(names, evaluations[1:], strict=False))
    return Records(IDS, len(IDS), judge="a", features=evaluations[0], others=others)


def values_of(found: Records) -> dict[str, Value]:
    return {ratio.name: ratio.value() for ratio in two_thirds(found)}


def test_two_of_three_suffice_and_three_answers_do_not() -> None:
    # In turn: all say the man; two the woman; two neither; all differ.
    a = evaluation(MALE, FEMALE, NEITHER, MALE)
    b = evaluation(MALE, FEMALE, MALE, FEMALE)
    c = evaluation(MALE, MALE, NEITHER, NEITHER)
    values = values_of(records(a, b, c))
    for question in ("status", "main"):
        whole = values[f"agreement_two_thirds_{question}"]
        assert (whole.value, whole.low, whole.high) == (0.75, 0.75, 0.75)
        assert whole.evidence == {"evaluations": 3, "needed": 2}
        for which in ("male", "female", "neither"):
            assert values[f"agreement_two_thirds_{question}_{which}"].value == pytest.approx(1 / 3)
    assert values["agreement_two_thirds_status_cs"].expected == 360


def test_of_four_evaluations_three_must_agree() -> None:
    a, b = evaluation(MALE), evaluation(FEMALE)
    assert values_of(records(a, a, b, b))["agreement_two_thirds_status"].value == 0
    assert values_of(records(a, a, a, b))["agreement_two_thirds_status"].value == 1


def test_what_is_not_read_agrees_with_nothing_and_widens_the_bounds() -> None:
    # In turn: two of three agree whatever the third says; one read alone; two that differ, one unread.
    a, b, c = evaluation(MALE, MALE, MALE), evaluation(MALE, UNREAD, FEMALE), evaluation(UNREAD, UNREAD, UNREAD)
    share = values_of(records(a, b, c))["agreement_two_thirds_status"]
    assert (share.value, share.valid) == (1, 480)
    assert share.low == pytest.approx(1 / 3)
    assert share.high == 1
    none = values_of(records(evaluation(UNREAD), evaluation(UNREAD), evaluation(UNREAD)))
    assert {value.state for value in none.values()} == {"undefined"}


def test_two_evaluations_have_no_two_thirds() -> None:
    assert two_thirds(records(evaluation(MALE), evaluation(MALE))) == []


def test_the_design_gives_the_values() -> None:
    drawn = np.random.default_rng(3)
    answers = (MALE, FEMALE, NEITHER, UNREAD)
    found = records(*(evaluation(*(answers[k] for k in drawn.integers(0, 4, 97))) for _ in range(4)))
    (design,) = ratio_design(two_thirds(found), strata_of_elements())
    now = design.statistic(np.ones((1, len(design.strata)), np.float32))[0]
    values = values_of(found)
    assert now == pytest.approx([values[name].value for name in design.names], nan_ok=True)


def test_evaluations_are_named_by_their_judge() -> None:
    names = ["x/y", "x/y#2", "z", "x/y#10", "z#2"]
    assert first_evaluations(names) == {"x/y": "x/y", "z": "z"}
    assert [judge_of(name) for name in ("x#1", "x#2", "x#02", "x#")] == ["x#1", "x", "x#02", "x#"]
    assert [evaluation_name("x", number) for number in (1, 2)] == ["x", "x#2"]


def test_repeated_evaluations_give_their_mean_with_students_interval() -> None:
    numbers = {"M4": 1.0, "M4@2": 3.0, "M4@3": 2.0, "M4@4": 9.0}
    values = {name: measured(name, number, expected=1440, valid=1440) for name, number in numbers.items()}
    empty = Features()
    (variant,) = repeated_evaluations(records(empty, empty, empty, empty, names=("a#2", "a#3", "b")), values)
    assert (variant.kind, variant.name, variant.values) == ("repeated_evaluations", "a", {"M4": 2.0})
    # t of 2 degrees of freedom at 97.5 % is 4.3027; the standard error is 1 / sqrt(3).
    assert variant.intervals["M4"] == pytest.approx((2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4)
    assert repeated_evaluations(records(empty, empty, names=("b",)), values) == []
