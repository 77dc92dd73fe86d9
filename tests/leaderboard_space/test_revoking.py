import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import clock
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.leaderboard_space.web import identity as revoking
from fairspace.leaderboard_space.web.identity import HEADER, MARK, Tokens, revoke_all, revoke_token, token_id
from tests.leaderboard_space.api.spaces import Opened, opened

ANN = User("ann", ("lab",))


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Opened]:
    with opened(tmp_path) as running:
        yield running


def status(space: Opened, token: str) -> tuple[int, str]:
    answer = space.client.get("/api/v1/submissions/0f1e", headers={HEADER: token})
    return answer.status_code, answer.json()["code"]


def of_an_earlier_version(tokens: Tokens) -> str:
    return MARK + str(tokens._serializer.dumps(["ann", ["lab"]]))


def test_one_token_is_revoked_and_others_stay(space: Opened) -> None:
    tokens = space.tokens
    lost, kept, earlier = tokens.make(ANN), tokens.make(ANN), of_an_earlier_version(tokens)
    assert len({token_id(token) for token in (lost, kept, earlier)}) == 3
    for token in (lost, kept, earlier):
        assert tokens.user(token) == ANN
        assert status(space, token) == (404, "UNKNOWN_SUBMISSION")
    event = revoke_token(space.space.state, lost, "ann")
    assert lost not in str(event.body)
    assert status(space, lost) == (401, "TOKEN_REVOKED")
    assert tokens.user(kept) == tokens.user(earlier) == ANN
    revoke_token(space.space.state, token_id(earlier), "the-maintainer")
    assert status(space, earlier) == (401, "TOKEN_REVOKED")
    assert revoke_token(space.space.state, lost, "bob").number == event.number, "once is enough"


def test_no_other_spelling_of_a_revoked_token_is_valid(space: Opened) -> None:
    tokens = space.tokens
    token = tokens.make(ANN)
    revoke_token(space.space.state, token, "ann")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spellings = [token.removeprefix(MARK), f"{token}=", *(token[:-1] + letter for letter in letters)]
    valid = []
    for spelling in spellings:
        try:
            tokens.read(spelling)
            valid.append(spelling)
        except SpaceError:
            continue
        with pytest.raises(SpaceError, match="TOKEN_REVOKED"):
            tokens.user(spelling)
    assert len(valid) > 2, "one signature can be written in several ways"


def test_all_tokens_of_a_user_are_revoked_and_new_ones_are_valid(space: Opened) -> None:
    tokens, bob = space.tokens, User("bob")
    lost, others = tokens.make(ANN), tokens.make(bob)
    revoke_all(space.space.state, "ann", "ann")
    with pytest.raises(SpaceError, match="TOKEN_REVOKED"):
        tokens.user(lost)
    assert tokens.user(others) == bob
    assert not space.space.state.is_revoked("0" * 16, "ann", clock(timedelta(seconds=1))), (
        "one that is made from now on"
    )
    again = State(LocalStorage(space.space.settings.store))
    again.refresh()
    assert again.is_revoked(token_id(lost), "ann", tokens.read(lost).time), "after a restart, too"


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_clock_that_jumps_revives_no_token_and_hinders_no_new_one(
    space: Opened, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    tokens, now = space.tokens, time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600 * hours)
    lost = tokens.make(ANN)
    monkeypatch.setattr(time, "time", lambda: now)
    revoke_all(space.space.state, "ann", "ann")
    monkeypatch.setattr(time, "time", lambda: now + 3600 * hours)
    kept = tokens.make(ANN)
    monkeypatch.setattr(time, "time", lambda: now + 6 * 3600)
    assert tokens.user(kept) == ANN
    with pytest.raises(SpaceError, match="TOKEN_REVOKED"):
        tokens.user(lost)


def test_what_is_no_token_is_refused_and_nobody_fills_the_log(space: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    state = space.space.state
    for text in ("", "x", "0" * 15, "../../etc", "0" * 17):
        with pytest.raises(SpaceError, match="BAD_PARAMETER"):
            revoke_token(state, text, "ann")
    monkeypatch.setattr(revoking, "A_DAY", 2)
    revoke_all(state, "ann", "ann")
    revoke_token(state, "0" * 16, "ann")
    with pytest.raises(SpaceError, match="TOO_MANY_REQUESTS"):
        revoke_all(state, "ann", "ann")
    revoke_all(state, "ann", "the-maintainer")
