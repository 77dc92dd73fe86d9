"""Gradio's pages `/submit` and `/maintain`, the endpoints of its clients, and checks of every call.

Every event checks the user itself, so calling one by hand gives no more rights than its page.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Any

import gradio as gr
import orjson
from fastapi import FastAPI
from gradio import queueing, routes
from gradio.block_function import BlockFunction
from gradio.blocks import Block
from gradio.components.api_component import Api
from gradio.queueing import Queue
from starlette.requests import Request
from starlette.routing import Mount
from starlette.types import Message, Receive

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.gradio_pages.submit import add_endpoints, build_maintain, build_submit
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.guard import ENVELOPE_BYTES

KEPT_SECONDS = 3600
"""Lifetime of an uploaded file that nobody submitted."""
SYSTEM_FONT = ("system-ui", "sans-serif")
MONO_FONT = ("ui-monospace", "monospace")
THEME = gr.themes.Base(primary_hue="blue", neutral_hue="slate", font=SYSTEM_FONT, font_mono=MONO_FONT)


def build(space: Space) -> gr.Blocks:
    """The pages and endpoints over one Space."""
    folder = Path(space.settings.work).absolute() / "gradio"
    shutil.rmtree(folder, ignore_errors=True)  # uploads of an earlier process
    folder.mkdir(parents=True)
    os.environ["GRADIO_TEMP_DIR"] = str(folder)  # Gradio knows no other way to be told
    with gr.Blocks(title="fairspace", analytics_enabled=False, delete_cache=(600, KEPT_SECONDS)) as blocks:
        add_endpoints(space)
    with blocks.route("Submit", "/submit", show_in_navbar=False):
        build_submit(blocks, space)
    with blocks.route("Maintain", "/maintain", show_in_navbar=False):
        build_maintain(blocks, space)
    blocks.state_session_capacity = SESSIONS  # before it is mounted, which reads it
    return blocks.queue(max_size=100, default_concurrency_limit=4, api_open=False)


@dataclass(frozen=True)
class Gradio:
    """Gradio over one Space: its application, its pages and events, and a host whose lifespan starts and stops both."""

    host: FastAPI
    app: FastAPI
    blocks: gr.Blocks
    uploads: Path

    @cached_property
    def results(self) -> Results:
        """Results of its events."""
        return Results(self.blocks._queue)

    async def check(self, request: Request) -> Receive:
        """The body of a call of an event. SpaceError as `checked`."""
        receive = await checked(request, self.blocks, self.uploads)
        self.results.prune()
        return receive


def load(space: Space) -> Gradio:
    """Gradio over a Space. Call it outside of an event loop: within one, Gradio leaves its own loops open."""
    return asyncio.run(_load(space))


async def _load(space: Space) -> Gradio:
    host, blocks = FastAPI(), build(space)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "SSR mode", UserWarning)  # told although it is not asked for
        gr.mount_gradio_app(
            host,
            blocks,
            "/",
            footer_links=[],
            run_history=False,
            show_error=False,
            max_file_size=space.settings.upload_bytes + ENVELOPE_BYTES,  # what is larger, `Guard` refuses
            ssr_mode=False,
            enable_monitoring=False,
            pwa=False,
            mcp_server=False,
            theme=THEME,
        )
    (mount,) = (route for route in host.routes if isinstance(route, Mount))
    app = mount.app
    assert isinstance(app, FastAPI)
    app.state.space = space
    vars(queueing)["traceback"] = vars(routes)["traceback"] = Failures
    return Gradio(host, app, blocks, Path(os.environ["GRADIO_TEMP_DIR"]).resolve())


LOGGER = logging.getLogger("fairspace.gradio")
JOIN = "/gradio_api/queue/join"
_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool}
"""Types of the parameters of `gr.api`'s endpoints."""


async def checked(request: Request, blocks: gr.Blocks, uploads: Path) -> Receive:
    """The validated body of a call; its files lie in the uploads. SpaceError BAD_PARAMETER, UPLOAD_MISSING."""
    try:
        call = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise _bad("the body", str(error)) from error
    if not isinstance(call, dict) or not isinstance(call.get("data", []), list):
        raise _bad("the body", "no call of an event")
    _check_inputs(call.get("data", []), _event(request, call, blocks).inputs)
    values = [call.get("data", [])]
    while values:
        part = values.pop()
        if isinstance(part, dict) and ("path" in part or "url" in part):
            _check_file(part.get("path"), uploads)
            part.pop("url", None)
            part["meta"] = {"_type": "gradio.FileData"}
            continue
        values += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    try:
        body = [orjson.dumps(call)]
    except orjson.JSONEncodeError as error:  # what is nested deeper than it writes
        raise _bad("the body", str(error)) from error

    async def receive() -> Message:
        if not body:
            return await request.receive()
        return {"type": "http.request", "body": body.pop(), "more_body": False}

    return receive


def _event(request: Request, call: dict[str, Any], blocks: gr.Blocks) -> BlockFunction:
    """The called event, by number (pages) or by name (clients)."""
    if request.url.path == JOIN:
        number = call.get("fn_index")
        function = blocks.fns.get(number) if isinstance(number, int) else None
    else:
        name = request.url.path.rpartition("/")[2]
        function = next((each for each in blocks.fns.values() if each.api_name == name), None)
    if function is None or (request.url.path != JOIN and function.api_visibility == "private"):
        raise _bad("the event", "no event of these pages")
    return function


def _check_inputs(data: list[Any], inputs: Sequence[Block]) -> None:
    if len(data) != len(inputs):
        raise _bad("data", f"{len(data)} values for {len(inputs)} inputs")
    for number, (value, block) in enumerate(zip(data, inputs, strict=True)):
        if isinstance(block, Api):
            allowed: tuple[type, ...] = (_TYPES[str(block.api_info()["type"])],)
        elif isinstance(block, gr.File):
            allowed = (dict, NoneType)
        else:
            allowed = (str, NoneType)
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            raise _bad(f"data[{number}]", repr(value)[:100])
        if isinstance(block, gr.File) and isinstance(value, dict) and "path" not in value:
            raise _bad(f"data[{number}]", "no file")


def _check_file(path: Any, folder: Path) -> None:
    """Check that a path is a file below the folder; Gradio would keep a note of a folder, and fail to delete it."""
    file = Path(path).resolve() if isinstance(path, str) and "\0" not in path else folder
    if file == folder or not file.is_relative_to(folder):
        raise _bad("path", repr(path)[:100])
    if not os.path.isfile(file):  # noqa: PTH113 Path.is_file raises for names that are too long
        raise SpaceError("UPLOAD_MISSING", "path", "no such file", "one that was uploaded", "upload it again")


def _bad(where: str, problem: str) -> SpaceError:
    return SpaceError("BAD_PARAMETER", where, problem, "what the page or gradio_client sends", "see /api")


class Failures:
    """Replaces Gradio's printing of tracebacks: errors within events are logged too."""

    @staticmethod
    def print_exc() -> None:
        """Log the exception that is being handled."""
        LOGGER.exception("an event failed")


SESSIONS = 200
"""Sessions whose page state Gradio remembers."""
RESULTS = 400
"""Sessions with kept results of ended calls."""
FETCH_SECONDS = 60
"""Seconds for which a result waits to be fetched."""
RECORDS = 100
"""Recorded calls; Gradio computes statistics over them after each call."""


class Results:
    """Drops unfetched results of calls from Gradio's queue, the oldest first. `clock`: monotonic seconds."""

    def __init__(self, queue: Queue, clock: Callable[[], float] = time.monotonic) -> None:
        self._queue, self._clock = queue, clock
        self._ended: dict[str, float] = {}
        queue.ANALYTICS_MAX_EVENTS = RECORDS

    def prune(self) -> None:
        """Drop old results; call it within Gradio's loop before each call."""
        queue, now = self._queue, self._clock()
        running = {event.session_hash for event in list(queue.event_ids_to_events.values())}
        sessions = {*queue.pending_event_ids_session, *queue.pending_messages_per_session} - running
        self._ended = {name: then for name, then in self._ended.items() if name in sessions}
        self._ended.update(dict.fromkeys(sessions - set(self._ended), now))
        old = [name for name, then in self._ended.items() if now - then > FETCH_SECONDS]
        for name in {*old, *list(self._ended)[: max(0, len(self._ended) - RESULTS)]}:
            del self._ended[name]
            queue.pending_event_ids_session.pop(name, None)
            queue.pending_messages_per_session.pop(name, None)
