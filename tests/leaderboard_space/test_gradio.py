import asyncio
from collections.abc import Callable
from pathlib import Path

import gradio as gr
import pytest
from gradio.queueing import Event
from starlette.requests import Request

from fairspace.leaderboard_space.app import create_app
from fairspace.leaderboard_space.gradio_pages import blocks as memory
from fairspace.leaderboard_space.gradio_pages.blocks import build
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space


@pytest.fixture
def space(tmp_path: Path) -> Space:
    told = {"workers": 0, "requests_a_minute": 0, "insecure_local": True, "baselines": 0}
    return Space.open(Settings(store=str(tmp_path / "store"), work=tmp_path / "work", **told))  # type: ignore[arg-type]


def test_what_nobody_fetches_is_forgotten(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "RESULTS", 5)

    async def built() -> gr.Blocks:
        return build(space)

    now, blocks = [0.0], asyncio.run(built())  # outside of a loop, Gradio leaves loops open
    assert blocks.state_session_capacity == memory.SESSIONS
    queue = blocks._queue
    results = memory.Results(queue, lambda: now[0])

    def call(name: str) -> None:
        queue.pending_event_ids_session[name] = {name}
        queue.pending_messages_per_session[name] = asyncio.Queue()
        results.prune()

    def kept() -> list[list[str]]:
        return [list(queue.pending_event_ids_session), list(queue.pending_messages_per_session)]

    queue.event_ids_to_events["0"] = Event("0", blocks.fns[0], Request({"type": "http"}), None)
    for number in range(12):
        call(str(number))
    assert kept() == [["0", "7", "8", "9", "10", "11"]] * 2  # the first one runs still
    now[0] = memory.FETCH_SECONDS + 1
    call("last")
    assert kept() == [["0", "last"]] * 2


def test_jobs_and_the_store_end_whatever_else_fails_to(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    for told, (owner, name) in {"jobs": (space.jobs, "stop"), "storage": (space.storage, "close")}.items():
        really = getattr(owner, name)

        def end(*given: object, told: str = told, really: Callable[..., None] = really) -> None:
            ended.append(told)
            really(*given)

        monkeypatch.setattr(owner, name, end)
    app = create_app(space)

    async def fail() -> None:
        async with app.router.lifespan_context(app):
            raise IsADirectoryError

    with pytest.raises(IsADirectoryError):
        asyncio.run(fail())
    assert ended == ["jobs", "storage"]
