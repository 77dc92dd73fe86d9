"""Attacks on ranks: answers that cost nothing, handed in under a good name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fairspace.leaderboard_space.boards.figures.ranking import largest
from fairspace.submissions.results.board import board, ranked
from fairspace.submissions.results.row import Row
from fairspace.submissions.results.row_classes import CLASSES, NONE_VERIFIED, none_verified
from fairspace.submissions.values import measured
from tests.leaderboard_space.factory import result

FORGED = 147_306.0


def handed_in(model: str, number: float, **about: Any) -> Row:
    scores = {"iris_score": measured("iris_score", number)}
    row = Row(model, model, "", "scored here", "", scores, group="paper", protocol="paper", ranked=number)
    return replace(row, **about)


def test_a_forged_row_takes_no_rank_from_a_printed_or_a_verified_one() -> None:
    printed = [row for row in board("iris", "inaugural") if row.rank is not None]
    verified = handed_in("run by us", 40.0, verified=True)
    rows = ranked([*printed, handed_in("GPT-4o", FORGED), handed_in("honest", 60.0), verified], "iris")
    assert [(row.model, row.rank) for row in rows[:3]] == [("run by us", 1), ("GPT-4o", 1), ("honest", 2)]
    assert [(row.model, row.rank) for row in rows[3:]] == [(row.model, row.rank) for row in printed]


def test_no_row_stands_above_one_of_a_higher_class_and_baselines_have_no_rank() -> None:
    line = handed_in("a line", FORGED, provenance="baseline")
    partial = handed_in("partial", 0.0, ranked=None, verified=True)
    rows = ranked([line, handed_in("GPT-4o", FORGED), *board("iris", "inaugural"), partial], "iris")
    places = [list(CLASSES).index(row.row_class) for row in rows]
    assert places == sorted(places)
    assert (rows[0].model, rows[-1].model, rows[-1].rank) == ("partial", "a line", None)


def test_a_forged_row_does_not_set_the_scale_of_a_figure() -> None:
    rows = [row for row in board("iris", "inaugural") if row.rank is not None]
    with_forged = [*rows, handed_in("GPT-4o", FORGED)]
    numbers = {row.entry: row.scores["iris_score"] for row in with_forged}
    assert largest(with_forged, numbers) == largest(rows, numbers) == 95.94
    assert largest(with_forged[-1:], numbers) == FORGED


def test_a_board_without_a_verified_row_says_so() -> None:
    rows = board("fact_or_fair", results=[result("fact_or_fair", "stereotyped", "A model")])
    assert none_verified([row.row_class for row in rows]) == NONE_VERIFIED
    assert none_verified(["handed in", "verified"]) == ""
