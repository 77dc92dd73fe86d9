import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from fairspace.leaderboard_space import maintaining
from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.gradio_pages.submit import html
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage.local import LocalStorage
from fairspace.leaderboard_space.web.guard import CLIENT_AT_A_TIME, Forwarded, Guard, Proxies
from fairspace.leaderboard_space.web.identity import CLIENTS, DAYS, Rate, Tokens, address, signs_in
from fairspace.submissions.errors import UsageError
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


@contextmanager
def local(tmp_path: Path, base_url: str = "http://127.0.0.1", **settings: object) -> Iterator[TestClient]:
    told = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", workers=0, **settings)  # type: ignore[arg-type]
    with TestClient(create_app(Space.open(told)), base_url=base_url) as client:
        yield client


def test_what_is_refused_early_counts_and_too_many_requests_cost_little(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    forged, asked = {"X-Fairspace-Token": "forged"}, 12
    with local(tmp_path, requests_a_minute=5) as client:
        answers = [client.get("/site/x/y", headers=forged) for _ in range(asked)]
        assert [answer.status_code for answer in answers] == [401] * 5 + [429] * (asked - 5)
        assert answers[-1].headers["content-type"].startswith("text/plain")
        assert answers[-1].text.startswith("TOO_MANY_REQUESTS: more than 5 requests a minute")
        told = [record for record in caplog.records if getattr(record, "code", "") == "TOO_MANY_REQUESTS"]
        assert len(told) == 1
        assert len([record for record in caplog.records if getattr(record, "status", 0) == 429]) == 2
        assert client.get("/api/v1/boards").json()["code"] == "TOO_MANY_REQUESTS"
        assert {client.get("/health/live").status_code for _ in range(asked)} == {200}
        files = [client.get("/site/x/style.css").status_code for _ in range(51)]
        assert files == [200] * 50 + [429]
        assert client.get("/health/x").status_code == 429


def test_a_client_has_so_many_requests_at_a_time(tmp_path: Path) -> None:
    app = create_app(Space.open(Settings(store=str(tmp_path / "store"), work=tmp_path / "work")))

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


def test_what_is_done_after_an_answer_takes_no_place_of_the_client(tmp_path: Path) -> None:
    app = create_app(Space.open(Settings(store=str(tmp_path / "store"), work=tmp_path / "work")))
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
    with local(tmp_path, insecure_local=True) as client:
        for host in ("127.0.0.1:7860", "localhost", "LOCALHOST:1", "[::1]:7860"):
            assert client.get("/health/live", headers={"Host": host}).status_code == 200
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:7860", ""):
            assert client.get("/health/live", headers={"Host": host}).status_code == 400
    with local(tmp_path, base_url="http://board.example") as client:
        assert client.get("/health/live").status_code == 200


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
    made = State(store(tmp_path / "store"))
    made.refresh()
    return made


@pytest.mark.slow
def test_what_maintainers_do_is_one_event_each_however_often_it_is_done(state: State) -> None:
    entry = state.entries()[1].entry
    benchmark = state.entries()[1].benchmark
    first = maintaining.withdraw(state, entry, MAINTAINER, " contaminated ")
    assert maintaining.withdraw(state, entry, MAINTAINER, "again") == first
    assert entry not in {row.entry for row in state.board(benchmark, "inaugural")}
    own = state.entry(entry)
    assert own is not None
    assert own.withdrawn is not None
    assert (own.withdrawn.by, own.withdrawn.reason) == ("the-maintainer", "contaminated")
    back = maintaining.restore(state, entry, MAINTAINER, "a mistake")
    assert maintaining.restore(state, entry, MAINTAINER, "again") == back
    maintaining.verify(state, entry, MAINTAINER, "run on our machine")
    (row,) = (row for row in state.board(benchmark, "inaugural") if row.entry == entry)
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
