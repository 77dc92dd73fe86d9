"""Counts behind a result that the protocol cannot give say nothing of a model, and take no other row with them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fairspace.builders.iris.groups import OCCUPATIONS, group_members
from fairspace.builders.iris_ideal_52 import plan as iris_ideal_52
from fairspace.submissions.benchmarks.adjustment import Adjustment
from fairspace.submissions.benchmarks.iris import declaration as iris
from fairspace.submissions.benchmarks.iris.counts import CountsError, generation_table, rounds_stood, tournament_tables
from fairspace.submissions.results.board import UNSCORABLE, board
from fairspace.submissions.results.scoring import rescore as rescored
from tests.submissions.benchmarks.iris.results import iris_result

K = len(OCCUPATIONS)
EVEN: dict[str, Any] = {"generation_gender": [[80, 80]] * K, "tournament_gender": [[5, 5]] * K}
OWN = Adjustment(reference="own", own={"female": 0.5, "male": 0.5})
BAD: list[Any] = [
    [[1, 2, 3]],
    [[]],
    [],
    None,
    5,
    "x" * K,
    [1] * K,
    ["ab"] * K,
    [[1, 2]] * (K + 1),
    [[1, 2]] * (K - 1) + [[1]],
    [[1, 2, 3]] * K,
    [[-1, 2]] * K,
    [[0.5, 2]] * K,
    [[True, 2]] * K,
    [[float("nan"), 2]] * K,
    [[10**30, 2]] * K,
]


@pytest.mark.parametrize("bad", [*BAD, [[81, 80]] * K], ids=str)
def test_faces_that_the_protocol_cannot_give_are_not_compared(bad: Any) -> None:
    with pytest.raises(CountsError, match="generation_gender"):
        generation_table({"generation_gender": bad}, "gender")


@pytest.mark.parametrize("name", ["tournament_gender", "tournament_undecided_gender", "tournament_open_gender"])
@pytest.mark.parametrize("bad", [*BAD, [[36_000, 0]] * K], ids=str)
def test_rounds_that_the_protocol_cannot_give_are_not_compared(bad: Any, name: str) -> None:
    with pytest.raises(CountsError, match="tournament_"):
        tournament_tables({**EVEN, name: bad}, "gender")


def test_an_occupation_can_win_every_round_in_which_it_stands_and_no_more() -> None:
    rounds = np.ones(36_000, dtype=np.bool_)
    stood = rounds_stood(rounds, iris_ideal_52.tournament_competitors()) @ group_members("gender")
    assert stood.sum() == 36_000 * 5
    wins, undecided, missing = tournament_tables({"tournament_gender": stood.tolist()}, "gender")
    assert (wins == stood).all()
    assert not undecided.any()
    assert not missing.any()
    one = np.zeros_like(stood)
    one[7, 1] = 1
    for place, name in enumerate(("tournament_undecided_gender", "tournament_open_gender"), start=1):
        both = {"tournament_gender": (stood - one).tolist(), name: one.tolist()}
        assert (tournament_tables(both, "gender")[place] == one).all()
        with pytest.raises(CountsError, match="stands in"):
            tournament_tables({**both, "tournament_gender": stood.tolist()}, "gender")


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_counts_leave_their_row_unranked_and_the_others_as_they_are(bad: Any) -> None:
    good = replace(iris_result("Good", "A"), counts=EVEN)
    broken = replace(iris_result("Broken", "B", 0.3), counts={**EVEN, "generation_gender": bad})
    rows = {row.model: row for row in board("iris", results=[good, broken], adjustment=OWN) if row.result}
    assert rows["Good"].rank == 1
    assert rows["Broken"].rank is None
    assert any("generation_gender" in reason for reason in rows["Broken"].unranked)
    divergence = iris.BENCHMARK.with_own_reference(broken.values, broken.counts, OWN)["JSD_US_gender"]
    assert (divergence.state, divergence.value) == ("undefined", None)


def test_a_row_that_cannot_be_scored_as_adjusted_stands_unranked_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def rescore(result: Any, *about: Any, **named: Any) -> Any:
        if result.meta["model"] == "Broken":
            raise KeyError("a value that another version wrote")
        return rescored(result, *about, **named)

    monkeypatch.setattr("fairspace.submissions.results.board.rescore", rescore)
    results = [iris_result("Good", "A", error=0.1), iris_result("Broken", "B", 0.1, error=0.1)]
    rows = board("iris", "inaugural", results=results, adjustment=Adjustment(tau=70.0))
    (good,) = (row for row in rows if row.model == "Good")
    (broken,) = (row for row in rows if row.model == "Broken")
    assert good.rank is not None
    assert (broken.rank, broken.ranked, broken.unranked) == (None, None, (UNSCORABLE,))
    assert (broken.tier, broken.rank_range, broken.labels) == (None, None, {})
    assert {value.state for value in broken.scores.values()} == {"not_run"}
    assert [UNSCORABLE in record.getMessage() and record.exc_info is not None for record in caplog.records] == [True]
