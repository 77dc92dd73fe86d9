import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.intake import User, result_draft
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import Board, Snapshots
from fairspace.leaderboard_space.web.answers import MAKERS, Answers
from fairspace.leaderboard_space.web.identity import HEADER
from fairspace.submissions.errors import UsageError
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import result
from tests.leaderboard_space.pages.rows import BENCHMARK, entry_of, page

BOARD = f"/?benchmark={BENCHMARK}"
KEPT = (
    BOARD,
    f"/model/{BENCHMARK}/p-01",
    f"/figures/{BENCHMARK}/up_to_twenty/ranking.svg",
    f"/download/{BENCHMARK}/up_to_twenty.csv",
    f"/api/v1/boards/{BENCHMARK}",
)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    with opened(tmp_path_factory.mktemp("answers"), (result(BENCHMARK, "stereotyped", "First"),)) as space:
        yield space


def _add(board: Opened, model: str) -> None:
    found = result(BENCHMARK, "stereotyped", "First")
    draft, files = result_draft(replace(found, meta={**found.meta, "model": model}), own=True)
    board.space.storage.append([draft], files)
    board.space.state.refresh()


def _headers(answer: Any) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name != "x-request-id"}


@pytest.mark.parametrize("address", KEPT)
def test_what_is_kept_is_what_is_made(board: Opened, address: str) -> None:
    token = {HEADER: board.space.tokens.make(User("ada"))}
    made, kept, users = board.client.get(address), board.client.get(address), board.client.get(address, headers=token)
    assert made.status_code == kept.status_code == users.status_code == 200
    assert (made.content, _headers(made)) == (kept.content, _headers(kept))
    changing = {"cache-control", "etag", "content-length"}  # a page that shows its user is another one
    assert {n: v for n, v in _headers(users).items() if n not in changing} == {
        n: v for n, v in _headers(kept).items() if n not in changing
    }
    again = board.client.get(address, headers={"If-None-Match": made.headers["ETag"]})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", made.headers["ETag"])
    for name in ("cache-control", "content-security-policy", "vary"):
        assert again.headers.get(name) == made.headers.get(name)
    assert "content-encoding" not in board.client.get(address, headers={"Accept-Encoding": "identity"}).headers


def test_a_row_is_on_the_next_answer_and_one_that_is_withdrawn_is_not(board: Opened) -> None:
    addresses = (BOARD, f"/download/{BENCHMARK}/up_to_twenty.csv", f"/api/v1/boards/{BENCHMARK}", "/api/v1/boards")
    before = [page(board, address) for address in addresses]
    _add(board, "Second")
    after = [page(board, address) for address in addresses]
    assert all("Second" in text for text in after[:3])
    assert before[3] != after[3]
    entry = entry_of(board, "Second")
    board.space.storage.append([Draft("withdrawn", "withdrawn:x:1", {"entry": entry, "by": "m", "reason": "asked"})])
    board.space.state.refresh()
    assert "Second" not in page(board, addresses[1])  # pages contain a marker line for it
    assert all(page(board, address) != text for address, text in zip(addresses, after, strict=True))


def test_only_the_board_that_changed_is_made_again(board: Opened) -> None:
    state = board.space.state
    before = state.version(BENCHMARK), state.version("iris"), state.version()
    _add(board, "Third")
    assert state.version(BENCHMARK) == state.version() == state.number > before[0]
    assert state.version("iris") == before[1]


def test_who_is_signed_in_neither_gets_nor_leaves_an_answer(board: Opened) -> None:
    token = {HEADER: board.space.tokens.make(User("grace-of-the-test"))}
    address = f"{BOARD}&q=first"
    assert "grace-of-the-test" in board.client.get(address, headers=token).text
    assert "grace-of-the-test" not in page(board, address)
    assert "grace-of-the-test" in board.client.get(address, headers=token).text


def test_no_page_believes_what_a_request_says_of_the_spaces_address(
    board: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "/api"
    text = board.client.get(address, headers={"Host": "evil.example"}).text
    assert "evil.example" not in text
    assert "http://127.0.0.1/api/v1" in text
    monkeypatch.setenv("SPACE_ID", "fairspace/leaderboard")
    monkeypatch.setenv("SPACE_HOST", "fairspace-leaderboard.hf.space")
    assert "https://fairspace-leaderboard.hf.space/api/v1" in page(board, address)
    for text in ("javascript:alert(1)", "https://board.example/path", "board.example"):
        with pytest.raises(UsageError, match="FAIRSPACE_ADDRESS"):
            Settings(address=text)
    assert Settings(address="https://board.example/").site() == "https://board.example"


class _Made:
    """Counts calls; answers with the path after a moment."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        self.count += 1
        await asyncio.sleep(0)
        answer = PlainTextResponse(Request(scope).url.query * 10)
        await answer(scope, receive, send)


async def _ask(answers: Answers, app: FastAPI, query: str, path: str = "/") -> bytes:
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "scheme": "http"}
    got: list[bytes] = []

    async def send(message: Message) -> None:
        got.append(message.get("body", b""))

    await answers({**scope, "headers": [], "app": app, "server": ("x", 80)}, None, send)  # type: ignore[arg-type]
    return b"".join(got)


def test_what_several_ask_for_at_once_is_made_once_and_the_room_is_bounded(board: Opened) -> None:
    app = FastAPI()
    app.state.space = board.space
    made = _Made()
    answers = Answers(made, board.space, most=100_000)

    async def ask() -> None:
        found = await asyncio.gather(*(_ask(answers, app, "q=a") for _ in range(50)))
        assert (len(set(found)), made.count) == (1, 1)
        for number in range(200):
            await _ask(answers, app, f"q={number}")
            assert answers.size <= 100_000
        assert made.count == 201
        await _ask(answers, app, "q=199")
        assert made.count == 201
        await _ask(answers, app, "q=a")
        assert made.count == 202

    asyncio.run(ask())


def test_pages_do_not_wait_for_downloads(board: Opened) -> None:
    app = FastAPI()
    app.state.space = board.space
    made, goes_on = _Made(), asyncio.Event()

    async def slow(scope: Scope, receive: Any, send: Any) -> None:
        if scope["path"].startswith("/download/"):
            await goes_on.wait()
        await made(scope, receive, send)

    answers = Answers(slow, board.space)
    files = [f"/download/{BENCHMARK}/{standard}.csv" for standard in ("up_to_twenty", "inaugural")]

    async def ask() -> None:
        queries = (f"page={number}" for number in range(MAKERS))
        asking = [asyncio.create_task(_ask(answers, app, query, path)) for query in queries for path in files]
        await asyncio.sleep(0.01)
        await asyncio.wait_for(_ask(answers, app, "q=another"), 20)
        assert made.count == 1
        goes_on.set()
        asking += [asyncio.create_task(_ask(answers, app, f"page=0&x={n}", files[0])) for n in range(3)]
        await asyncio.gather(*asking)
        assert made.count == 1 + len(asking) - 3, "an unknown parameter makes no other file"

    asyncio.run(ask())


def test_an_old_answer_is_served_while_the_new_one_is_made_unless_a_row_was_withdrawn(board: Opened) -> None:
    app, boards, made = FastAPI(), Snapshots(lambda *board: Board(()), pace=5.0), 0
    app.state.space = board.space

    async def counted(scope: Scope, receive: Any, send: Any) -> None:
        nonlocal made
        made += 1
        await PlainTextResponse(str(made))(scope, receive, send)

    answers = Answers(counted, board.space)
    answers.boards = boards

    async def ask() -> None:
        async def asked() -> bytes:
            text = await _ask(answers, app, f"benchmark={BENCHMARK}")
            await asyncio.sleep(0.01)  # the new one is made meanwhile
            return text

        assert [await asked(), await asked()] == [b"1", b"1"]
        boards.change("iris", 1)
        assert await asked() == b"1", "another board's event"
        boards.change(BENCHMARK, 2)
        assert [await asked(), await asked()] == [b"1", b"2"]
        boards.change(BENCHMARK, 3, withdrawn=True)
        assert await asked() == b"3"
        boards.change(BENCHMARK, 4)
        with mock.patch("fairspace.leaderboard_space.web.answers.LATELY", -1.0):
            assert await asked() == b"4", "too old to be shown"

    asyncio.run(ask())


def test_what_was_for_one_client_or_failed_is_made_for_each(board: Opened) -> None:
    app = FastAPI()
    app.state.space = board.space
    count = 0

    async def personal(scope: Scope, receive: Any, send: Any) -> None:
        nonlocal count
        count += 1
        number = count
        await asyncio.sleep(0)
        if number == 1:
            raise RuntimeError("the first one fails")
        answer = PlainTextResponse(str(number))
        answer.set_cookie("session", str(number))
        await answer(scope, receive, send)

    answers = Answers(personal, board.space)

    async def ask() -> None:
        got = await asyncio.gather(*(_ask(answers, app, "q=mine") for _ in range(4)), return_exceptions=True)
        assert [answer for answer in got if isinstance(answer, bytes)] == [b"2", b"3", b"4"]
        assert [str(error) for error in got if not isinstance(error, bytes)] == ["the first one fails"]

    asyncio.run(ask())


def test_pages_are_right_while_rows_come_in(board: Opened) -> None:
    def read(number: int) -> list[int]:
        found = []
        for turn in range(8):
            answer = board.client.get(f"{BOARD}&columns={('all', 'none')[(number + turn) % 2]}")
            found.append(answer.status_code)
        return found

    with ThreadPoolExecutor(6) as threads:
        reading = [threads.submit(read, number) for number in range(6)]
        for number in range(10):
            _add(board, f"Came {number}")
        assert {status for one in reading for status in one.result()} == {200}
