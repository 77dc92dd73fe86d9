import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.api.routes import public_event
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import Event, is_forged, signed, signing_key
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.logged import Mark
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import LogState, State
from fairspace.leaderboard_space.storage.checking import check
from fairspace.leaderboard_space.storage.local import LocalStorage
from tests.leaderboard_space.factory import add, full_of, result

MAINTAINER = User("the-maintainer")
SHARES = {"agreement": 0.99, "low": 0.98, "high": 1.0, "repeated": 1.0, "chance": 0.25}
AGREEMENT = {"requests": 385, **SHARES, "foreign": 0.01, "foreign_low": 0.0, "foreign_high": 0.03}
KAPPA = {"kappa": 0.99, "kappa_low": 0.97, "kappa_high": 1.0}
JUDGEMENTS = {
    **dict.fromkeys(("declared", "asked", "seed", "answers"), "<b>m</b>"),
    "agreement": {**AGREEMENT, **KAPPA},
    "tasks": {"narrative_analysis/status": {**AGREEMENT, "kappa": None}},
}
KEY = signing_key("a secret of thirty-two characters or more")


@pytest.fixture
def state(tmp_path: Path) -> State:
    opened = State(LocalStorage(tmp_path / "store"), KEY)
    add(opened, result("fact_or_fair", "stereotyped", "A model"))
    return opened


def verify(state: State, reason: str = "rerun", about: Mapping[str, Any] | None = None) -> Event:
    """Verify the only row."""
    return maintaining.verify(state, state.entries()[0].entry, MAINTAINER, reason, about)


def unverify(state: State, reason: str) -> Event:
    return maintaining.unverify(state, state.entries()[0].entry, MAINTAINER, reason)


def standing(state: State) -> Mark:
    """The verification of the only row."""
    mark = state.entries()[0].verified
    assert mark is not None
    return mark


def evidence(state: State) -> dict[str, Any]:
    (logged,) = state.entries()
    full = full_of(state, logged.entry)
    return {
        "how": "rerun",
        "verdict": "agrees",
        "submission": logged.result.signature["submission"],
        "agreement": AGREEMENT,
        "tasks": {"llm_subjective": AGREEMENT},
        "part": {"llm_subjective": 385},
        "model": "openai-api/served/<b>m</b>",
        "seed": "ab" * 16,
        "uncovered": [],
        "consistency": {task: held.to_json() for task, held in full.consistency.items()},
    }


def test_a_verified_row_has_its_evidence_signed_and_in_public(state: State) -> None:
    event = verify(state, about=evidence(state))
    assert verify(state, about=evidence(state)) == event
    mark = standing(state)
    assert mark.is_signed
    assert mark.evidence["agreement"]["low"] == 0.98
    space = Space(Settings(), state.storage, state, *[None] * 2)  # type: ignore[arg-type]
    public = public_event(space, event)
    assert public["evidence"]["agreement"]["agreement"] == 0.99
    assert "consistency" not in public["evidence"]


def test_a_row_shows_how_it_was_verified_with_much_or_little_evidence(state: State) -> None:
    log = {**evidence(state), "how": "log", "agreement": None, "uncovered": ["t2i_objective"]}
    shown = {
        "nothing": {},
        "99.0 % (98.0 % to 100.0 %)": evidence(state),
        "385 answers are those of the log": log,
        "0.99 (0.97 to 1.00)": {**evidence(state), "judgements": JUDGEMENTS},
    }
    section = ENVIRONMENT.get_template("parts/verified.html.jinja").module.verified_section  # type: ignore[attr-defined]
    for text, given in shown.items():
        verify(state, "nothing but a reason", given)
        page = section(standing(state))
        assert text in page
        assert "<b>m" not in page
        unverify(state, "the next one")


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "undecided"},
        {"submission": "0" * 64},
        {"more": 1},
        {"consistency": {"task": {}}},
        {"reasons": [1j]},
        {"agreement": {}},
        {"how": "hearsay"},
        {"judgements": {**JUDGEMENTS, "agreement": {**AGREEMENT, "kappa": 2}}},
    ],
)
def test_evidence_that_verifies_nothing_is_refused(state: State, change: Mapping[str, Any]) -> None:
    with pytest.raises(SpaceError, match="BAD_PARAMETER"):
        verify(state, about={**evidence(state), **change})
    assert state.entries()[0].verified is None


def test_a_row_without_a_proof_that_holds_is_not_verified(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    (logged,) = state.entries()
    full = full_of(state, logged.entry)
    monkeypatch.setattr(State, "full", lambda self, entry: replace(full, consistency={}))
    with pytest.raises(SpaceError, match="no consistency proof"):
        verify(state)
    broken = {task: replace(held, duplicates=1) for task, held in full.consistency.items()}
    monkeypatch.setattr(State, "full", lambda self, entry: replace(full, consistency=broken))
    with pytest.raises(SpaceError, match="broken in llm_objective"):
        verify(state)


def test_evidence_without_the_judge_that_a_score_rests_on_verifies_no_row(tmp_path: Path) -> None:
    opened = State(LocalStorage(tmp_path / "store"), KEY)
    add(opened, result("genres", "refusing", "A model"))
    with pytest.raises(SpaceError, match="profile_female, profile_male, narrative_analysis, on which the score rests"):
        verify(opened, about=evidence(opened))
    verify(opened, about={**evidence(opened), "judgements": JUDGEMENTS})
    mark = standing(opened)
    assert mark.is_signed
    assert mark.evidence["judgements"]["agreement"]["kappa_low"] == 0.97


def test_an_event_that_was_edited_or_moved_is_no_signature(state: State) -> None:
    body = signed({"entry": "a", "by": "ann", "reason": "rerun"}, KEY)
    assert not is_forged(body, KEY)
    assert is_forged({**body, "entry": "b"}, KEY)
    assert is_forged(body, signing_key("another secret of thirty-two characters"))
    assert not is_forged({"entry": "a", "by": "ann", "reason": "before there were signatures"}, KEY)
    assert not is_forged({**body, "entry": "b"}, b"")


def test_an_edited_log_verifies_no_row_and_the_check_names_the_event(state: State) -> None:
    (logged,) = state.entries()
    event = verify(state, about=evidence(state))
    edited = replace(event, body={**event.body, "reason": "believe me"})
    folded = LogState(key=KEY)
    for each in state.storage.events(0):
        folded.fold(edited if each.number == event.number else each)
    assert folded.entries[logged.entry].verified is None
    assert folded.forged == [event.number]
    assert not check(state.storage, KEY).faults
    (fault,) = check(state.storage, signing_key("another secret of thirty-two characters")).faults
    assert f"event {event.number}" in fault.where


def test_a_verification_can_be_taken_back_and_made_again(state: State) -> None:
    with pytest.raises(SpaceError, match="not verified"):
        unverify(state, "why")
    first = verify(state, about=evidence(state))
    back = unverify(state, "the endpoint was another model's")
    assert state.entries()[0].verified is None
    again = verify(state, about=evidence(state))
    assert (back.number, again.number) == (first.number + 1, first.number + 2)
    fresh = State(state.storage, KEY)
    fresh.refresh()
    assert standing(fresh) == standing(state)


def test_after_a_signed_event_none_verifies_without_a_signature(state: State) -> None:
    verify(state, about=evidence(state))
    unsigned = State(state.storage)
    unsigned.refresh()
    unverify(unsigned, "a mistake")
    event = verify(unsigned, "without the key")
    state.refresh()
    assert state.entries()[0].verified is None
    assert state.forged == (event.number,)


def test_a_verification_of_before_stays_readable(state: State) -> None:
    unsigned = State(state.storage)
    unsigned.refresh()
    event = verify(unsigned, "run on our machine")
    body = {"entry": state.entries()[0].entry, "by": MAINTAINER.name, "reason": "run on our machine"}
    assert json.loads(event.line())["body"] == body
    state.refresh()
    mark = standing(state)
    assert (mark.evidence, mark.is_signed) == ({}, False)


def test_a_board_in_the_terminal_says_whether_signatures_were_checked(
    run: Callable[..., tuple[int, str, str]], state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify(state, about=evidence(state))

    def shown(secret: str) -> str:
        monkeypatch.setenv("FAIRSPACE_SECRET", secret)
        store = str(tmp_path / "store")
        code, _, err = run("leaderboard", "show", "--benchmark", "fact_or_fair", "--store", store)
        assert code == 0
        return err

    assert "The signatures of 1 verified rows were not checked" in shown("")
    assert shown("a secret of thirty-two characters or more") == ""
    assert "no row is verified by it: event 2" in shown("another secret of thirty-two characters")
