"""Cheap answers under good names, from any number of accounts.

A submission has no rank or tier and stays off the first screen until it is verified or released; mixtures of baselines
are listed with the baselines.
"""

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.boards.figures import largest
from fairspace.leaderboard_space.boards.models import KNOWN
from fairspace.leaderboard_space.events import signing_key
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.jobs.jobs import add_shipped
from fairspace.leaderboard_space.pages.front import front
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.checking.names import taken_names
from fairspace.submissions.results.board import board
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.row import CLASSES, NONE_VERIFIED, TO_CHECK, UNRANKED, Row, none_verified, ranked
from fairspace.submissions.results.scoring import rescore
from fairspace.submissions.results.shipped import shipped_reruns, shipped_results
from fairspace.submissions.values import measured
from tests.leaderboard_space.factory import add, mark, result, state_of
from tests.papers import NAMES

FORGED = 147_306.0


def handed_in(model: str, number: float, **about: Any) -> Row:
    scores = {"iris_score": measured("iris_score", number)}
    row = Row(model, model, "", "scored here", "", scores, group="paper", protocol="paper", ranked=number)
    return replace(row, **about)


@cache
def too_good(benchmark: str) -> Result:
    """A result beyond every printed score: the even baseline's; in GENRES, values near 0."""
    if benchmark != "genres":
        return result(benchmark, "balanced", "forged")
    found = next(one for one in shipped_results() if one.meta["model"] == "Phi4")
    values = {
        name: replace(measured(name, 0.01), low=0.01, high=0.01, expected=9, valid=9)
        for name, value in found.values.items()
        if value.value is None or name in ("M3", "M5")
    }
    return rescore(replace(found, values={**found.values, **values}, draws=None), found.standard)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the shipped rows."""
    store = tmp_path_factory.mktemp("shipped") / "store"
    add_shipped(State(LocalStorage(store)))
    return store


@pytest.fixture
def state(shipped: Path, tmp_path: Path) -> State:
    return state_of(Path(shutil.copytree(shipped, tmp_path / "store")))


def hand_in(state: State, forged: Result, model: str, user: str, like: dict[str, Any] | None = None) -> str:
    """Submit answers; their overlap with a baseline is what a worker found."""
    mark = {"answers": f"{model} {user}", "submission": f"{model} {user}"}
    named = replace(forged, meta={**forged.meta, "model": model}, signature={**forged.signature, **mark})
    return add(state, named, user, "", {} if like is None else {"baseline": like})


def first_screen(state: State) -> list[list[str]]:
    made = front(state)
    leaders = ([cell.row.entry for cell, _ in test.leaders] for test in made.tests)
    return [[model.name for model in made.models], *leaders]


@pytest.mark.parametrize("benchmark", NAMES)
@pytest.mark.parametrize(
    ("kind", "accounts", "recognised"), [("ladder", 10, False), ("names", 1, False), ("mixture", 4, True)]
)
def test_no_attack_has_a_rank_a_tier_or_a_place_on_the_first_screen(
    kind: str, accounts: int, recognised: bool, benchmark: str, state: State
) -> None:
    before = state.board(benchmark)
    screen = first_screen(state)
    forged = too_good(benchmark)
    like = {"baseline": "balanced", "kappa": 1.0, "is_same": False, "shares": {"balanced": 0.35}, "is_drawn": True}
    models = ["GPT-5", "GPT-4o-2024-11-20"] if kind == "names" else [f"Ladder {step}" for step in range(accounts)]
    entries = {
        hand_in(state, forged, models[step % len(models)], f"{kind}{step}", like if recognised else None)
        for step in range(accounts)
    }
    rows = state.board(benchmark)
    attacking = [row for row in rows if row.entry in entries]
    assert len(attacking) == accounts
    assert {(row.rank, row.tier, row.rank_range) for row in attacking} == {(None, None, None)}
    assert {row.row_class for row in attacking} == {"submitted"}
    assert {row.claim for row in attacking} == {f"claimed by {kind}{step}" for step in range(accounts)}
    assert {row.copy_of for row in attacking} == {"looks like our answerer 'balanced' (35 %)" if recognised else ""}
    why = {f"{row.copy_of}. {TO_CHECK}" if recognised else UNRANKED for row in attacking}
    assert {row.unranked[0] for row in attacking} == why
    others = [row for row in rows if row.entry not in entries]
    assert [(row.entry, row.rank) for row in others] == [(row.entry, row.rank) for row in before]
    assert [row.part for row in rows] == sorted(row.part for row in rows)
    assert first_screen(state) == screen


@pytest.mark.parametrize("benchmark", NAMES)
def test_an_honest_model_is_shown_and_has_a_rank_once_it_is_released_or_verified(benchmark: str, state: State) -> None:
    entry = hand_in(state, too_good(benchmark), "honest", "ada")

    def row() -> Row:
        return next(row for row in state._board(benchmark, find_benchmark(benchmark).default) if row.entry == entry)

    assert (row().rank, row().row_class) == (None, "submitted")
    assert row().scores.keys() == too_good(benchmark).scored.scores.keys()
    event = maintaining.release(state, entry, User("m"), "we ran a part of it again")
    assert maintaining.release(state, entry, User("m"), "again") == event
    assert (row().rank, row().kept_out, row().row_class) == (1, (), "submitted")
    assert row().claim == "submitted by ada, released by a maintainer"
    assert row().row_class not in KNOWN
    state.storage.append([mark("verified", entry)])
    state.refresh()
    assert (row().rank, row().row_class) == (1, "verified")
    assert row().claim == "submitted by ada, run again by us: the answers agree"
    again = State(state.storage)
    again.refresh()
    assert again.snapshot() == state.snapshot()


def test_what_we_ran_is_called_so_and_what_authors_publish_too(state: State) -> None:
    rows = {(row.model, row.row_class, row.claim) for name in NAMES for row in state.board(name) if row.own}
    assert ("SmolLM2-135M-Instruct", "own", "run by us once") in rows
    assert ("Phi4", "own", "answers published by the paper's authors, scored by us") in rows
    for name in NAMES:
        rows_of = state.board(name)
        first = next(row for row in rows_of if row.provenance == "published")
        assert rows_of[0] is first, "nothing without a rank stands above a printed row"
        assert not {row.model for row in rows_of if row.own} & {
            cell.row.model for cell, _ in front(state).tests[0].leaders
        }


@pytest.mark.parametrize(
    "organisation", ["OpenAI", "Open AI", "OpenAI Inc.", "OpenAI, L.L.C.", "openai gmbh", "Google LLC", "Stability Ltd"]
)
def test_an_organisation_with_or_without_its_legal_form_needs_proof(organisation: str) -> None:
    assert [fault.code for fault in taken_names("mine", organisation, ("eve",))] == ["NAME_TAKEN"]
    assert not taken_names("mine", organisation, ("openai", "google", "stability"))


def test_the_shipped_reruns_verify_the_maintainers_rows_alone_and_once(tmp_path: Path) -> None:
    """Somebody hands in shipped answers before the first start, the last ones under another name."""
    state = State(LocalStorage(tmp_path / "store"), signing_key("a secret of thirty-two characters or more"))
    rerun = [result for result in shipped_results() if result.signature["submission"] in shipped_reruns()]
    forged = [*rerun[:-1], replace(rerun[-1], meta={**rerun[-1].meta, "model": "GPT-5"})]
    for theirs in forged:
        add(state, theirs, "eve")
    add_shipped(state)
    assert {logged.verified for logged in state.entries() if logged.user == "eve"} == {None}
    (verified,) = (logged for logged in state.entries() if logged.verified is not None)
    assert (verified.own, verified.verified and verified.verified.is_signed) == (True, True)
    row = state.board(verified.benchmark).by_entry[verified.entry]
    assert (row.row_class, row.result and row.result.signature) == ("verified", rerun[-1].signature)
    maintaining.unverify(state, verified.entry, User("ann"), "the rerun was of another file")
    number = state.number
    add_shipped(state)
    assert (state.number, state.entry(verified.entry)) == (number, replace(verified, verified=None))


def test_a_forged_row_takes_no_rank_from_a_printed_or_a_verified_one() -> None:
    printed = [row for row in board("iris", "inaugural") if row.rank is not None]
    verified = handed_in("run by us", 40.0, verified=True)
    rows = ranked([*printed, handed_in("GPT-4o", FORGED), handed_in("honest", 60.0), verified], "iris")
    assert [(row.model, row.rank) for row in rows[-2:]] == [("GPT-4o", None), ("honest", None)]
    assert [(row.model, row.rank) for row in rows[:-2]] == [
        ("run by us", 1),
        *((row.model, row.rank) for row in printed),
    ]


def test_no_row_stands_above_one_of_a_higher_class_and_baselines_have_no_rank() -> None:
    line = handed_in("a line", FORGED, provenance="baseline")
    copied = handed_in("baseline: random", FORGED, copy_of="copy of random")
    partial = handed_in("partial", 0.0, ranked=None, verified=True)
    rows = ranked([copied, line, handed_in("GPT-4o", FORGED), *board("iris", "inaugural"), partial], "iris")
    places = [list(CLASSES).index(row.row_class) for row in rows]
    ranks = [place for place in places if place]
    assert ranks == sorted(ranks)
    assert places.index(0) == places.count(2), "without a rank, a verified row stands below the printed ones"
    assert [(row.model, row.rank) for row in rows[-2:]] == [("a line", None), ("baseline: random", None)]


def test_what_has_no_score_stands_last_of_its_group() -> None:
    lacking = replace(handed_in("lacking", 0.0, ranked=None), scores={})
    rows = ranked([lacking, handed_in("honest", 60.0)], "iris")
    assert [row.model for row in rows] == ["honest", "lacking"]


def test_a_forged_row_does_not_set_the_scale_of_a_figure() -> None:
    rows = [row for row in board("iris", "inaugural") if row.rank is not None]
    with_forged = [*rows, handed_in("GPT-4o", FORGED)]
    numbers = {row.entry: row.scores["iris_score"] for row in with_forged}
    assert largest(with_forged, numbers) == largest(rows, numbers) == 95.94
    assert largest(with_forged[-1:], numbers) == FORGED


def test_a_board_without_a_verified_row_says_so() -> None:
    rows = board("fact_or_fair", results=[result("fact_or_fair", "stereotyped", "A model")])
    assert none_verified([row.row_class for row in rows]) == NONE_VERIFIED
    assert none_verified(["submitted", "verified"]) == ""
