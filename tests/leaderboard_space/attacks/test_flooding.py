import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from fairspace.leaderboard_space.web import answers
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import result
from tests.leaderboard_space.pages.rows import BENCHMARK

FLOOD = 44


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    with opened(tmp_path_factory.mktemp("flooding"), (result(BENCHMARK, "stereotyped", "First"),)) as space:
        yield space


@pytest.mark.parametrize("path", [f"/download/{BENCHMARK}/up_to_twenty.csv", "/"])
def test_who_asks_once_waits_for_no_flood(board: Opened, path: str) -> None:
    app, ended = FastAPI(), []
    app.state.space = board.space

    async def slow(scope: Scope, receive: Any, send: Any) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        ended.append(scope["client"][0])
        await PlainTextResponse("made")(scope, receive, send)

    making = answers.Answers(slow, board.space)

    async def ask(address: str, query: str) -> None:
        about = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "scheme": "http"}
        scope = {**about, "headers": [], "app": app, "server": ("x", 80), "client": (address, 0)}

        async def send(message: Message) -> None:
            pass

        await making(scope, None, send)  # type: ignore[arg-type]

    async def main() -> None:
        flood = [asyncio.create_task(ask("flood", f"q={number}")) for number in range(FLOOD)]
        for _ in range(20):
            await asyncio.sleep(0)
        tasks = [asyncio.create_task(ask(who, f"q={who}{turn}")) for turn in range(2) for who in ("ann", "bob")]
        flood[-1].cancel()
        await asyncio.gather(*tasks)
        assert ended.count("flood") <= 7
        await asyncio.gather(*flood, return_exceptions=True)

    asyncio.run(main())
    assert sorted(ended) == [*2 * ["ann"], *2 * ["bob"], *(FLOOD - 1) * ["flood"]]
    assert making._seconds.left("flood") < making._seconds.left("ann")


def test_making_has_a_price_and_what_is_kept_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAKING_SECONDS", 1e-6)
    with opened(tmp_path, (result(BENCHMARK, "stereotyped", "First"),)) as space:
        asked = [f"/?benchmark={BENCHMARK}&q={word}" for word in ("a", "b")]
        assert [space.client.get(address).status_code for address in asked] == [200, 429]
        assert space.client.get(asked[0]).status_code == 200
        assert space.client.get("/health/live").status_code == 200
        refused = space.client.get(f"/api/v1/boards/{BENCHMARK}")
        assert (refused.status_code, refused.json()["code"]) == (429, "TOO_MANY_REQUESTS")
    with opened(tmp_path, requests_a_minute=0) as space:
        assert [space.client.get(address).status_code for address in asked] == [200, 200]
