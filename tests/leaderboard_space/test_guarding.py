"""Rates, tokens, addresses, who may sign in, and what maintainers do, without a running Space."""

import time
from pathlib import Path

import pytest
from starlette.requests import Request

from leaderboard_space import maintaining, sign_in
from leaderboard_space.errors import SpaceError
from leaderboard_space.intake import User
from leaderboard_space.rates import CLIENTS, Rate, address
from leaderboard_space.settings import Settings
from leaderboard_space.space import Space
from leaderboard_space.state import State
from leaderboard_space.storage.local import LocalStorage
from leaderboard_space.tokens import DAYS, Tokens
from submissions.faults import UsageError
from tests.leaderboard_space.factory import store

MAINTAINER = User("the-maintainer")


def test_a_rate_comes_back_with_time_for_each_client_and_remembers_so_many() -> None:
    now = [0.0]
    rate = Rate(10, 60, lambda: now[0])
    assert [rate.take("a") for _ in range(11)] == [True] * 10 + [False]
    assert rate.take("b")
    now[0] = 6.0
    assert [rate.take("a") for _ in range(2)] == [True, False]
    for number in range(CLIENTS + 5):
        rate.take(f"client {number}")
    assert len(rate._left) == CLIENTS
    assert all(Rate(0, 60).take("a") for _ in range(1000))


def test_a_token_ends_after_its_days_and_a_short_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Tokens("a secret of thirty-two characters or more")
    token = tokens.make(User("ann", ("lab",)))
    assert tokens.user(token) == User("ann", ("lab",))
    later = time.time() + DAYS * 86400 + 60
    monkeypatch.setattr(time, "time", lambda: later)
    with pytest.raises(SpaceError, match="TOKEN_INVALID"):
        tokens.user(token)
    with pytest.raises(UsageError, match="32"):
        Tokens("short")
    with pytest.raises(SpaceError, match="TOKEN_INVALID"):
        Tokens().user(Tokens().make(User("ann")))  # each process draws its own


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("", "10.0.0.1"),
        ("1.2.3.4", "1.2.3.4"),
        ("6.6.6.6, 1.2.3.4", "1.2.3.4"),
        ("6.6.6.6, 1.2.3.4, 10.1.1.1", "1.2.3.4"),
        ("<script>", "10.0.0.1"),
        ("2606:4700::1", "2606:4700::/64"),
    ],
)
def test_a_client_cannot_make_up_its_address(monkeypatch: pytest.MonkeyPatch, named: str, found: str) -> None:
    monkeypatch.setenv("SPACE_ID", "fairspace/leaderboard")
    scope = {"type": "http", "headers": [(b"x-forwarded-for", named.encode())], "client": ("10.0.0.1", 1)}
    assert address(Request(scope)) == found
    monkeypatch.delenv("SPACE_ID")
    assert address(Request(scope)) == "10.0.0.1"


def test_nobody_signs_in_outside_of_a_space_and_nobody_is_local_within(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from leaderboard_space.app import create_app

    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", insecure_local=True)
    assert not sign_in.signs_in()
    app = create_app(Space.open(settings))
    assert not [route for route in app.routes if getattr(route, "path", "").startswith("/oauth")]
    monkeypatch.setenv("SPACE_ID", "fairspace/leaderboard")
    with pytest.raises(UsageError, match="insecure-local"):
        create_app(Space.open(settings))


@pytest.fixture
def state(tmp_path: Path) -> State:
    made = State(store(tmp_path / "store"))
    made.refresh()
    return made


def test_what_maintainers_do_is_one_event_each_however_often_it_is_done(state: State) -> None:
    entry = state.entries()[1].entry
    benchmark = state.entries()[1].benchmark
    first = maintaining.withdraw(state, entry, MAINTAINER, " contaminated ")
    assert maintaining.withdraw(state, entry, MAINTAINER, "again") == first
    assert entry not in {row.entry for row in state.board(benchmark)}
    own = state.entry(entry)
    assert own is not None
    assert own.withdrawn is not None
    assert (own.withdrawn.by, own.withdrawn.reason) == ("the-maintainer", "contaminated")
    back = maintaining.restore(state, entry, MAINTAINER, "a mistake")
    assert maintaining.restore(state, entry, MAINTAINER, "again") == back
    maintaining.verify(state, entry, MAINTAINER, "run on our machine")
    (row,) = (row for row in state.board(benchmark) if row.entry == entry)
    assert row.visibility == "rerun by maintainers"
    assert maintaining.withdraw(state, entry, MAINTAINER, "once more").number == back.number + 2
    assert isinstance(state.storage, LocalStorage)
    assert State(state.storage).refresh() == back.number + 2


@pytest.mark.parametrize("reason", ["", " ", "x" * 501])
def test_a_maintainer_says_why(state: State, reason: str) -> None:
    with pytest.raises(SpaceError, match="BAD_PARAMETER"):
        maintaining.withdraw(state, state.entries()[0].entry, MAINTAINER, reason)


def test_a_row_that_is_there_is_not_restored_and_an_unknown_one_not_withdrawn(state: State) -> None:
    with pytest.raises(SpaceError, match="BAD_PARAMETER"):
        maintaining.restore(state, state.entries()[0].entry, MAINTAINER, "why")
    for name in ("0" * 16, "../x", "p-1", "<b>"):
        with pytest.raises(SpaceError, match="UNKNOWN_ENTRY"):
            maintaining.withdraw(state, name, MAINTAINER, "why")
