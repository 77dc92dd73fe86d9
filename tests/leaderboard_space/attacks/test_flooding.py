"""Who asks for much waits for himself: turns go round the clients, and making has a price."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairspace.leaderboard_space.web import answers
from fairspace.leaderboard_space.web.turns import Turns
from tests.leaderboard_space.api.spaces import Opened, opened
from tests.leaderboard_space.factory import result
from tests.leaderboard_space.pages.rows import BENCHMARK

FLOOD = 44
"""Downloads of one address at once."""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    with opened(tmp_path_factory.mktemp("flooding"), (result(BENCHMARK, "stereotyped", "First"),)) as space:
        yield space


def flooded(places: int) -> tuple[list[str], dict[str, float]]:
    """The order in which turns ended while one client has many at once, and what each spent, by a clock of turns."""
    ended: list[str] = []
    spent: dict[str, float] = {}
    turns = Turns(places, clock=lambda: float(len(ended)))

    async def ask(client: str, makes: int) -> None:
        async with turns.turn(client, lambda seconds: spent.update({client: spent.get(client, 0) + seconds})):
            for _ in range(makes):
                await asyncio.sleep(0)
            ended.append(client)

    async def main() -> None:
        flood = [asyncio.create_task(ask("flood", 9)) for _ in range(FLOOD)]
        for _ in range(20):
            await asyncio.sleep(0)
        others = [asyncio.create_task(ask(client, 1)) for client in ("ann", "bob", "ann", "bob")]
        await asyncio.gather(*others)
        assert ended.count("flood") <= 5
        await asyncio.gather(*flood)
        assert turns._taken.total() == len(turns._waiting) == 0

    asyncio.run(main())
    return ended, spent


@pytest.mark.parametrize("places", [1, 4])
def test_who_asks_once_waits_for_no_flood(places: int) -> None:
    ended, spent = flooded(places)
    assert len(ended) == FLOOD + 4
    assert spent["flood"] > spent["ann"]
    if places > 1:  # a client has one of them at a time
        assert ended.index("ann") <= 2


def test_who_leaves_takes_no_turn() -> None:
    async def main() -> list[str]:
        turns, ended = Turns(1), []

        async def ask(client: str) -> None:
            async with turns.turn(client):
                await asyncio.sleep(0)
                ended.append(client)

        tasks = [asyncio.create_task(ask(client)) for client in ("a", "b", "b", "c")]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert turns._taken.total() == len(turns._waiting) == 0
        return ended

    assert asyncio.run(main()) == ["a", "b", "c"]


def test_parameters_that_mean_nothing_are_no_way_around_what_is_kept(board: Opened) -> None:
    address = f"/download/{BENCHMARK}/up_to_twenty.json"
    made = board.client.get(address)
    spent = _answers(board)._seconds.left("127.0.0.1")
    for number in range(20):
        again = board.client.get(f"{address}?{number}=1&page={number + 1}&utm_source=x", headers={"Host": f"h{number}"})
        assert again.content == made.content
    assert _answers(board)._seconds.left("127.0.0.1") >= spent


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


def _answers(board: Opened) -> answers.Answers:
    app: Any = board.client.app
    while not isinstance(app, answers.Answers):
        app = getattr(app, "app", None) or app.middleware_stack
    return app
