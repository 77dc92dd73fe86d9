import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.events import clock
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.leaderboard_space.web import identity as revoking
from fairspace.leaderboard_space.web.identity import (
    CLIENTS,
    DAYS,
    HEADER,
    MARK,
    Rate,
    Tokens,
    address,
    revoke_all,
    revoke_token,
    signs_in,
    token_id,
)
from fairspace.leaderboard_space.web.middlewares import CLIENT_AT_A_TIME, Forwarded, Guard, Proxies
from fairspace.submissions.errors import UsageError
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import result, state_of

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
        Tokens().user(Tokens().make(User("ann")))  # each process draws its own key


def forwarded(peer: str, *networks: str, **headers: str) -> tuple[str, str]:
    found: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found.append(scope)

    raw = [
        (name.replace("_", "-").encode(), one.encode()) for name, value in headers.items() for one in value.split("+")
    ]
    scope = {"type": "http", "headers": raw, "client": (peer, 1), "scheme": "http"}
    asyncio.run(Forwarded(app, Proxies(networks))(scope, None, None))  # type: ignore[arg-type]
    return address(Request(found[0])), found[0]["scheme"]


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("", "10.0.0.1"),
        ("1.2.3.4", "1.2.3.4"),
        ("6.6.6.6, 1.2.3.4", "1.2.3.4"),
        ("6.6.6.6, 1.2.3.4, 10.1.1.1", "1.2.3.4"),
        ("6.6.6.6+1.2.3.4", "1.2.3.4"),
        ("<script>", "10.0.0.1"),
        ("2606:4700::1", "2606:4700::/64"),
    ],
)
def test_a_client_cannot_make_up_its_address(monkeypatch: pytest.MonkeyPatch, named: str, found: str) -> None:
    monkeypatch.setenv("SPACE_ID", "fairspace/leaderboard")
    assert forwarded("10.0.0.1", x_forwarded_for=named) == (found, "http")
    monkeypatch.delenv("SPACE_ID")
    assert forwarded("10.0.0.1", x_forwarded_for=named) == ("10.0.0.1", "http")


def test_a_proxy_that_is_named_is_believed_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"x_forwarded_for": "6.6.6.6, 192.168.0.7, 10.1.1.1", "x_forwarded_proto": "https"}
    assert forwarded("10.0.0.1", "10.0.0.0/8", **told) == ("192.168.0.7", "https")
    assert forwarded("::ffff:10.0.0.1", "10.0.0.0/8", **told) == ("192.168.0.7", "https")
    assert forwarded("192.168.0.7", "10.0.0.0/8", **told) == ("192.168.0.7", "http")
    assert forwarded("10.0.0.1", **told) == ("10.0.0.1", "http")
    monkeypatch.setenv("SPACE_ID", "fairspace/leaderboard")
    assert forwarded("10.0.0.1", **told) == ("6.6.6.6", "https")
    assert forwarded("10.0.0.1", x_forwarded_proto="javascript") == ("10.0.0.1", "http")
    with pytest.raises(UsageError, match="FAIRSPACE_PROXIES"):
        Proxies(["nowhere"])


def test_a_space_whose_store_would_be_lost_takes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from fairspace.leaderboard_space.gradio_pages.submit import html  # Gradio, which no other test here loads

    monkeypatch.setattr(Path, "is_mount", lambda self: self in (Path("/"), Path("/data")))
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work")
    assert settings.keeps_the_store()
    monkeypatch.setenv("SPACE_ID", "fairspace/leaderboard")
    assert not settings.keeps_the_store()
    file = tmp_path / "file.zip"
    file.write_bytes(b"no zip")
    with pytest.raises(SpaceError, match="STORE_NOT_KEPT"):
        Space.open(settings).intake.accept(file, User("ann"))
    assert "STORE_NOT_KEPT" in html("parts/submit_about.html.jinja", settings=settings)
    for kept in ({"store": "/data/deep/store"}, {"store": "hf://datasets/a/b"}, {"store_is_kept": True}):
        assert replace(settings, **kept).keeps_the_store()


def test_what_is_refused_early_counts_and_too_many_requests_cost_little(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    forged, asked = {"X-Fairspace-Token": "forged"}, 12
    with opened(tmp_path, requests_a_minute=5) as space:
        client = space.client
        answers = [client.get("/site/x/y", headers=forged) for _ in range(asked)]
        assert [answer.status_code for answer in answers] == [401] * 5 + [429] * (asked - 5)
        assert answers[-1].headers["content-type"].startswith("text/plain")
        assert answers[-1].text.startswith("TOO_MANY_REQUESTS: more than 5 requests a minute")
        told = [record for record in caplog.records if getattr(record, "code", "") == "TOO_MANY_REQUESTS"]
        assert len(told) == 1
        assert len([record for record in caplog.records if getattr(record, "status", 0) == 429]) == 2
        assert client.get("/api/v1/boards").json()["code"] == "TOO_MANY_REQUESTS"
        assert {client.get("/health/live").status_code for _ in range(asked)} == {200}
        began, files = time.monotonic(), 0
        while client.get("/site/x/style.css").status_code == 200:
            files += 1
        most = 50 + (time.monotonic() - began) * 50 / 60
        assert 50 <= files <= most, "ten for each request, which come back within a minute"
        assert client.get("/health/x").status_code == 429


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    return create_app(Space.open(Settings(store=str(tmp_path / "store"), work=tmp_path / "work")))


def test_a_client_has_so_many_requests_at_a_time(app: FastAPI) -> None:
    async def ask() -> tuple[list[int], list[int], list[int]]:
        free, waiting = asyncio.Event(), asyncio.Event()

        async def slow(scope: Scope, receive: Receive, send: Send) -> None:
            if guard._open.total() == CLIENT_AT_A_TIME:
                waiting.set()
            if scope["path"] == "/slow":
                await free.wait()
            await PlainTextResponse("done")(scope, receive, send)

        guard = Guard(slow, app.state.space, app.state.tokens)

        async def get(path: str, peer: str = "1.2.3.4") -> int:
            statuses: list[int] = []

            async def send(message: Message) -> None:
                statuses.append(message.get("status", 0))

            async def receive() -> Message:
                return {"type": "http.request"}

            scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b"", "app": app}
            await guard({**scope, "client": (peer, 1), "scheme": "http", "server": ("x", 80)}, receive, send)
            return statuses[0]

        slow_ones = [asyncio.create_task(get("/slow")) for _ in range(CLIENT_AT_A_TIME)]
        await waiting.wait()
        refused = [await get("/"), await get("/", "4.3.2.1"), await get("/health")]
        free.set()
        return await asyncio.gather(*slow_ones), refused, [await get("/"), guard._open.total()]

    assert asyncio.run(ask()) == ([200] * CLIENT_AT_A_TIME, [429, 200, 200], [200, 0])


def test_what_is_done_after_an_answer_takes_no_place_of_the_client(app: FastAPI) -> None:
    places: list[int] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        places.append(guard._open.total())
        await PlainTextResponse("done")(scope, receive, send)
        places.append(guard._open.total())

    guard = Guard(answer, app.state.space, app.state.tokens)

    async def within(scope: Scope, receive: Receive, send: Send) -> None:
        await guard({**scope, "app": app}, receive, send)

    assert TestClient(within, base_url="http://localhost").get("/").text == "done"
    assert places == [1, 0]


def test_a_space_on_ones_own_machine_has_no_other_name(tmp_path: Path) -> None:
    def statuses(space: Opened, *hosts: str) -> set[int]:
        return {space.client.get("/health/live", headers={"Host": host}).status_code for host in hosts}

    with opened(tmp_path, insecure_local=True) as local:
        assert statuses(local, "127.0.0.1:7860", "localhost", "LOCALHOST:1", "[::1]:7860") == {200}
        others = ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:7860", "")
        assert statuses(local, *others) == {400}
    with opened(tmp_path) as space:
        assert statuses(space, "board.example") == {200}


def test_nobody_signs_in_outside_of_a_space_and_nobody_is_local_within(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", insecure_local=True)
    assert not signs_in()
    app = create_app(Space.open(settings))
    assert not [route for route in app.routes if getattr(route, "path", "").startswith("/oauth")]
    monkeypatch.setenv("SPACE_ID", "fairspace/leaderboard")
    with pytest.raises(UsageError, match="insecure-local"):
        create_app(Space.open(settings))


@pytest.fixture
def state(tmp_path: Path) -> State:
    return state_of(tmp_path / "store", result("fact_or_fair", "stereotyped", "A model"))


def test_what_maintainers_do_is_one_event_each_however_often_it_is_done(state: State) -> None:
    (logged,) = state.entries()
    entry, benchmark = logged.entry, logged.benchmark
    first = maintaining.withdraw(state, entry, MAINTAINER, " contaminated ")
    assert maintaining.withdraw(state, entry, MAINTAINER, "again") == first
    assert entry not in {row.entry for row in state.board(benchmark, "inaugural")}
    withdrawn = state.entries()[0].withdrawn
    assert withdrawn is not None
    assert (withdrawn.by, withdrawn.reason) == ("the-maintainer", "contaminated")
    back = maintaining.restore(state, entry, MAINTAINER, "a mistake")
    assert maintaining.restore(state, entry, MAINTAINER, "again") == back
    maintaining.verify(state, entry, MAINTAINER, "run on our machine")
    (row,) = (row for row in state.board(benchmark, "inaugural") if row.entry == entry)
    assert row.visibility == "rerun by maintainers"
    assert maintaining.withdraw(state, entry, MAINTAINER, "once more").number == back.number + 2
    assert State(state.storage).refresh() == back.number + 2


def test_a_maintainer_says_why_and_of_a_row_that_is_there(state: State) -> None:
    entry = state.entries()[0].entry
    for reason in ("", " ", "x" * 501):
        with pytest.raises(SpaceError, match="BAD_PARAMETER"):
            maintaining.withdraw(state, entry, MAINTAINER, reason)
    with pytest.raises(SpaceError, match="BAD_PARAMETER"):
        maintaining.restore(state, entry, MAINTAINER, "why")
    for name in ("0" * 16, "../x", "p-1", "<b>"):
        with pytest.raises(SpaceError, match="UNKNOWN_ENTRY"):
            maintaining.withdraw(state, name, MAINTAINER, "why")


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
