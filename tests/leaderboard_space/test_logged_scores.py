"""Scores in events: a board shows what scoring the values again gives, without doing so."""

from dataclasses import replace
from unittest import mock

import pytest

from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.log_state import LogState
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results import scoring
from tests.leaderboard_space.factory import result

NAMES = ("fact_or_fair", "iris", "stereotypical_bias")


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> LocalStorage:
    made = LocalStorage(tmp_path_factory.mktemp("store"))
    made.append([result_draft(result(name, "stereotyped", "Model"))[0] for name in NAMES])
    return made


def test_a_board_of_logged_scores_is_the_board_of_scored_values(storage: LocalStorage) -> None:
    with mock.patch.object(scoring, "_scored", side_effect=AssertionError("scored again")):
        boards = State(storage)
        boards.refresh()
        rows = {
            (name, standard): boards.board(name, standard)
            for name in NAMES
            for standard, about in find_benchmark(name).standards.items()
            if not about.draft
        }
    unscored = State(storage)
    unscored.refresh()
    for entry in unscored.entries():
        unscored._folded.entries[entry.entry] = replace(entry, scored={})
    for (name, standard), kept in rows.items():
        again = {row.entry: row for row in unscored.board(name, standard)}
        for row in kept:
            assert replace(row, result=None) == replace(again[row.entry], result=None)


def test_scores_of_another_version_are_not_believed(storage: LocalStorage) -> None:
    folded = LogState()
    for event in storage.events(0):
        folded.fold(replace(event, body={**event.body, "scored_by": "0.0.1"}))
    assert not any(entry.scored for entry in folded.entries.values())
