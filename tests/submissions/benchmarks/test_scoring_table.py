import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairspace.metrics.iris_score.standards import STANDARDS
from fairspace.submissions.benchmarks.benchmark import Scoring, Standard, TableScore
from fairspace.submissions.benchmarks.registry import benchmark
from fairspace.submissions.benchmarks.scoring_table import (
    AS_RELEASED,
    Adjustable,
    Adjustment,
    Column,
    Columns,
    Rule,
    ScoringTable,
    Weights,
    falling,
    is_left_out,
    least_covered,
    names_of_parts,
    same,
)
from fairspace.submissions.errors import UsageError
from fairspace.submissions.results.scoring import load_result, rescore
from fairspace.submissions.values import Value, measured, not_run, undefined
from tests.submissions.benchmarks.iris.results import iris_result


def part(name: str, number: float, low: float, high: float, valid: int = 10) -> Value:
    return measured(name, number, low=low, high=high, expected=10, valid=valid)


def length(columns: Columns, weights: Weights) -> Column:
    return sum(weights[name] * column**2 for name, column in columns.items()) ** 0.5


VALUES = {"a": part("a", 0.3, 0.1, 0.5, valid=9), "b": part("b", 0.4, 0.4, 0.8, valid=7)}
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


def test_a_score_is_a_raw_value_if_it_is_one_part_as_it_is() -> None:
    originals = {name: rule.original for name, rule in TABLE.rules.items()}
    assert originals == {"A": "a", "mean": None, "norm": None, "nothing": None}
    assert Rule("m", {"b": 2.0}).original == "b"
    assert Rule("m", {"b": 2.0}, rescale=lambda x: 2 - x).original is None
    assert Rule("m", {"b": 2.0}, length).original is None


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


def test_a_bound_that_a_part_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        TABLE.values(VALUES | {"b": measured("b", 0.4, low=0.1, expected=10, valid=10)})


Run = Callable[..., tuple[int, str, str]]


def test_an_unknown_part_is_told_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'IFS_Gen'"):
        benchmark("iris").scoring.adjustable(STANDARDS["inaugural"]).check(Adjustment(weights={"IFS_gen": 2.0}))


CHANGEABLE = Adjustable((("a",), ("b", "c")), tau=60.0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"weights": {"a": 10.5}}, "a:10.5 is no number from 0 to 10"),
        ({"weights": {"a": -0.5}}, "a:-0.5 is no number from 0"),
        ({"weights": {"a": math.nan}}, "a:nan is no number"),
        ({"weights": {"d": 1.0}}, "there is no 'd'.*Known: a, b, c"),
        ({"weights": {"a": 0.0, "b": 0.0}}, "Leave at least one"),
        ({"tau": 1000.5}, "is no number from 0 to 1000"),
        ({"tau": math.inf}, "is no number from 0 to 1000"),
        ({"tau": -0.5}, "is no number from 0"),
    ],
    ids=str,
)
def test_what_lies_beyond_a_limit_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        CHANGEABLE.check(Adjustment(**changes))


def test_what_the_standard_says_anyway_is_no_change() -> None:
    assert CHANGEABLE.check(Adjustment(weights={"a": 1.0, "b": 2.0}, tau=60.0)) == Adjustment(weights={"b": 2.0})
    assert CHANGEABLE.check(Adjustment(tau=60.5)).tau == 60.5
    assert AS_RELEASED.weight("a") == 1
    assert hash(Adjustment(weights={"a": 2.0, "b": 3.0})) == hash(Adjustment(weights={"b": 3.0, "a": 2.0}))
    without = Adjustable((("a",),))
    assert without.check(Adjustment()) == AS_RELEASED
    with pytest.raises(UsageError, match="no threshold"):
        without.check(Adjustment(tau=60.0))


def test_the_command_shows_the_scores_as_released_and_what_if_and_keeps_none(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(iris_result("a model", "a lab").dumps(), encoding="utf-8")
    asked = ("score", file, "--standard", "inaugural", "--weight", "IFS_Gen:0", "--tau", "99.9")
    code, out, _ = run(*asked)
    assert (code, "What if, not inaugural" in out) == (0, True)
    found = json.loads(run(*asked, "--json")[1])
    assert (found["weights"], found["tau"]) == ({"IFS_Gen": 0.0}, 99.9)
    expected = rescore(load_result(file), "inaugural", Adjustment({"IFS_Gen": 0.0}, 99.9)).scored
    assert found["labels"] == expected.labels
    totals = [score["value"] for score in found["scores"] if score["name"] == "iris_score"]
    assert totals == [expected.scores["iris_score"].value]
    for wrong in (("--weight", "IFS_Gen"), ("--weight", "IFS_gen:1"), ("--tau", "99", "--out", tmp_path / "kept.json")):
        assert run("score", file, *wrong)[0] == 2


@pytest.mark.parametrize(
    ("floor", "reason"),
    [
        (measured("same", 0.5, low=0.5, high=0.8, expected=10, valid=10), ""),
        (measured("same", 0.5, low=0.5, high=0.95, expected=10, valid=10), "same: 0.95 in the worst case"),
        (undefined("same", "no answer", expected=10, valid=0), "same is not known"),
        (not_run("same", "not asked"), "same is not known"),
    ],
)
def test_a_floor_that_is_not_known_to_hold_gives_no_rank(floor: Value, reason: str) -> None:
    table = ScoringTable({"score": Rule("score", {"gap": 1.0}, same, (0.0, 1.0))}, ("score",))
    score = TableScore(Scoring(lambda standard, adjustment: table), higher_is_better=False)
    gap = measured("gap", 0.1, low=0.1, high=0.2, expected=10, valid=10)
    scored = score({"gap": gap, "same": floor}, Standard(at_most={"same": 0.9}))
    assert scored.ranked == (None if reason else 0.2)
    assert bool(scored.unranked) == bool(reason)
    assert all(line.startswith(reason) for line in scored.unranked)
