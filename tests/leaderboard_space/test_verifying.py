import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.api.routes import public_event
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import is_forged, signed, signing_key
from fairspace.leaderboard_space.intake import User, add_result
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import LogState, State
from fairspace.leaderboard_space.storage.checking import check
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.submissions.commands import main as cli
from tests.leaderboard_space.factory import result

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
    storage = LocalStorage(tmp_path / "store")
    add_result(storage, result("fact_or_fair", "stereotyped", "A model"))
    opened = State(storage, KEY)
    opened.refresh()
    return opened


def evidence(state: State) -> dict[str, Any]:
    (logged,) = state.entries()
    full = state.full(logged.entry)
    assert full is not None
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
    (logged,) = state.entries()
    event = maintaining.verify(state, logged.entry, MAINTAINER, "rerun", evidence(state))
    assert maintaining.verify(state, logged.entry, MAINTAINER, "rerun", evidence(state)) == event
    mark = state.entries()[0].verified
    assert mark is not None
    assert mark.is_signed
    assert mark.evidence["agreement"]["low"] == 0.98
    space = Space(Settings(), state.storage, state, *[None] * 2)  # type: ignore[arg-type]
    public = public_event(space, event)
    assert public["evidence"]["agreement"]["agreement"] == 0.99
    assert "consistency" not in public["evidence"]


def test_a_row_shows_how_it_was_verified_with_much_or_little_evidence(state: State) -> None:
    (logged,) = state.entries()
    log = {**evidence(state), "how": "log", "agreement": None, "uncovered": ["t2i_objective"]}
    shown = {
        "nothing": {},
        "99.0 % (98.0 % to 100.0 %)": evidence(state),
        "385 answers are those of the log": log,
        "0.99 (0.97 to 1.00)": {**evidence(state), "judgements": JUDGEMENTS},
    }
    section = ENVIRONMENT.get_template("parts/verified.html.jinja").module.verified_section  # type: ignore[attr-defined]
    for text, given in shown.items():
        maintaining.verify(state, logged.entry, MAINTAINER, "nothing but a reason", given)
        mark = state.entries()[0].verified
        assert mark is not None
        page = section(mark)
        assert text in page
        assert "<b>m" not in page
        maintaining.unverify(state, logged.entry, MAINTAINER, "the next one")


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
        maintaining.verify(state, state.entries()[0].entry, MAINTAINER, "rerun", {**evidence(state), **change})
    assert state.entries()[0].verified is None


def test_a_row_without_a_proof_that_holds_is_not_verified(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    (logged,) = state.entries()
    full = state.full(logged.entry)
    assert full is not None
    monkeypatch.setattr(State, "full", lambda self, entry: replace(full, consistency={}))
    with pytest.raises(SpaceError, match="no consistency proof"):
        maintaining.verify(state, logged.entry, MAINTAINER, "rerun")
    broken = {task: replace(held, duplicates=1) for task, held in full.consistency.items()}
    monkeypatch.setattr(State, "full", lambda self, entry: replace(full, consistency=broken))
    with pytest.raises(SpaceError, match="broken in llm_objective"):
        maintaining.verify(state, logged.entry, MAINTAINER, "rerun")


def test_evidence_without_the_judge_that_a_score_rests_on_verifies_no_row(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "store")
    add_result(storage, result("genres", "refusing", "A model"))
    opened = State(storage, KEY)
    opened.refresh()
    (logged,) = opened.entries()
    with pytest.raises(SpaceError, match="profile_female, profile_male, narrative_analysis, on which the score rests"):
        maintaining.verify(opened, logged.entry, MAINTAINER, "rerun", evidence(opened))
    asked = {**evidence(opened), "judgements": JUDGEMENTS}
    maintaining.verify(opened, logged.entry, MAINTAINER, "rerun", asked)
    mark = opened.entries()[0].verified
    assert mark is not None
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
    event = maintaining.verify(state, logged.entry, MAINTAINER, "rerun", evidence(state))
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
    (logged,) = state.entries()
    with pytest.raises(SpaceError, match="not verified"):
        maintaining.unverify(state, logged.entry, MAINTAINER, "why")
    first = maintaining.verify(state, logged.entry, MAINTAINER, "rerun", evidence(state))
    back = maintaining.unverify(state, logged.entry, MAINTAINER, "the endpoint was another model's")
    assert state.entries()[0].verified is None
    again = maintaining.verify(state, logged.entry, MAINTAINER, "rerun", evidence(state))
    assert (first.number, back.number, again.number) == (first.number, first.number + 1, first.number + 2)
    assert state.entries()[0].verified is not None
    fresh = State(state.storage, KEY)
    fresh.refresh()
    assert fresh.entries()[0].verified is not None


def test_after_a_signed_event_none_verifies_without_a_signature(state: State) -> None:
    (logged,) = state.entries()
    maintaining.verify(state, logged.entry, MAINTAINER, "rerun", evidence(state))
    unsigned = State(state.storage)
    unsigned.refresh()
    maintaining.unverify(unsigned, logged.entry, MAINTAINER, "a mistake")
    event = maintaining.verify(unsigned, logged.entry, MAINTAINER, "without the key")
    state.refresh()
    assert state.entries()[0].verified is None
    assert state.forged == (event.number,)


def test_a_verification_of_before_stays_readable(state: State) -> None:
    (logged,) = state.entries()
    unsigned = State(state.storage)
    unsigned.refresh()
    event = maintaining.verify(unsigned, logged.entry, MAINTAINER, "run on our machine")
    assert json.loads(event.line())["body"] == {
        "entry": logged.entry,
        "by": MAINTAINER.name,
        "reason": "run on our machine",
    }
    state.refresh()
    mark = state.entries()[0].verified
    assert mark is not None
    assert (mark.evidence, mark.is_signed) == ({}, False)


def test_a_board_in_the_terminal_says_whether_signatures_were_checked(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    maintaining.verify(state, state.entries()[0].entry, MAINTAINER, "rerun", evidence(state))

    def shown(secret: str) -> str:
        monkeypatch.setenv("FAIRSPACE_SECRET", secret)
        command = ["leaderboard", "show", "--benchmark", "fact_or_fair", "--store", str(tmp_path / "store")]
        monkeypatch.setattr(sys, "argv", ["fairspace", *command])
        with pytest.raises(SystemExit, match="0"):
            cli.main()
        return capsys.readouterr().err

    assert "The signatures of 1 verified rows were not checked" in shown("")
    assert shown("a secret of thirty-two characters or more") == ""
    assert "no row is verified by it: event 2" in shown("another secret of thirty-two characters")
