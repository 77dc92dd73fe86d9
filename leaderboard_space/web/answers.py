"""Pages of the boards: cached until a board changes, and computed one at a time per client.

A client has a budget of computing seconds in two minutes; cached answers are free.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Hashable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import Rate, client, current_user, site_of
from fairspace.leaderboard_space.web.refusals import refuse

BYTES = 64 << 20
"""Size of the cache, which is emptied when full."""
OVERHEAD = 2048
"""Maximum bytes of an answer beyond its content and address."""
MAKERS = 4
"""Answers computed at a time, each for a different client."""
DOWNLOADS = 1
"""Whole tables computed at a time, beside those answers: pages do not wait for them."""
MAKING_SECONDS, MAKING_WITHIN = 30.0, 120.0
"""Seconds of computing that a client may use at once, and seconds until they are restored."""
_BOARDS = re.compile(
    r"/|/(standards|api/v1/(boards|standards))"
    r"|/(download|figures|model|standard|api/v1/boards|api/v1/standards)/.*"
)
"""Addresses whose answers follow from the boards alone: not the queue, a submission, a user."""


@dataclass(frozen=True)
class Answer:
    """An answer of the application, compressed if its headers say so, with its route for the log."""

    status: int
    headers: list[tuple[bytes, bytes]]
    content: bytes
    route: Any

    @property
    def is_for_all(self) -> bool:
        """Whether it may be served to others."""
        return self.status == 200 and all(name.lower() != b"set-cookie" for name, _ in self.headers)

    async def send(self, scope: Scope, send: Send) -> None:
        """Send the answer, as 304 if the client has it already."""
        if self.route is not None:
            scope["route"] = self.route
        headers, content, status = self.headers, self.content, self.status
        if status == 200 and _tags(scope["headers"], b"if-none-match") & _tags(headers, b"etag"):
            dropped = (b"content-length", b"content-type", b"content-encoding")
            headers, content, status = [one for one in headers if one[0].lower() not in dropped], b"", 304
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": content})


class Answers:
    """Middleware within `Guard`: a cache of visitors' answers with status 200, of at most `most` bytes.

    Signed-in requests and those with a token bypass it. Without a limit on requests, computing has none either.
    """

    def __init__(self, app: ASGIApp, space: Space, most: int = BYTES) -> None:
        self.app, self.state, self.most = app, space.state, most
        self.size, self._version = 0, -1
        self._cached: dict[Hashable, Answer] = {}
        self._limited = bool(space.settings.requests_a_minute)
        self._seconds = Rate(MAKING_SECONDS if self._limited else 0, MAKING_WITHIN)
        self._places = {"page": asyncio.Semaphore(MAKERS), "download": asyncio.Semaphore(DOWNLOADS)}
        self._clients: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        """Client and kind of answer -> the lock held by the client's one request that waits for a place."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "GET" or not _BOARDS.fullmatch(scope["path"]):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        is_packed = b"gzip" in request.headers.get("accept-encoding", "").encode()
        try:
            is_public = current_user(request) is None
            key = (scope["path"], scope["query_string"], site_of(request), is_packed) if is_public else None
            answer = self._find(key) or await self._make(request, receive, key)
        except SpaceError as error:
            await refuse(request, error)(scope, receive, send)
            return
        await answer.send(scope, send)

    async def _make(self, request: Request, receive: Receive, key: Hashable) -> Answer:
        """An answer computed in its client's turn and at its cost. SpaceError TOO_MANY_REQUESTS."""
        who, scope = client(request), request.scope
        if self._limited and self._seconds.left(who) <= 0:
            problem = f"answers that took more than {MAKING_SECONDS:g} seconds to make"
            mend = "wait a while; pages that others look at, too, are answered at once"
            raise SpaceError("TOO_MANY_REQUESTS", "the client", problem, "fewer", mend)
        kind = "download" if scope["path"].startswith("/download/") else "page"
        turn: AbstractAsyncContextManager[None] = nullcontext()
        if self._limited:
            turn = self._clients.setdefault((who, kind), asyncio.Lock())
        async with turn, self._places[kind]:
            if (answer := self._find(key)) is not None:  # made meanwhile
                return answer
            version, began = self.state.version(), time.monotonic()
            try:
                answer = await self._made(scope, receive)
            finally:
                self._seconds.spend(who, time.monotonic() - began)
            self._keep(key, answer, version)
            return answer

    def _find(self, key: Hashable) -> Answer | None:
        """The cached answer for the current boards; a change of any board empties the cache."""
        if (version := self.state.version()) != self._version:
            self._cached, self.size, self._version = {}, 0, version
        return self._cached.get(key)

    def _keep(self, key: Hashable, answer: Answer, version: int) -> None:
        if key is None or not answer.is_for_all or version != self.state.version() or version != self._version:
            return
        size = len(answer.content) + len(str(key)) + OVERHEAD
        if 8 * size <= self.most:
            if self.size + size > self.most:
                self._cached, self.size = {}, 0
            self._cached[key] = answer
            self.size += size

    async def _made(self, scope: Scope, receive: Receive) -> Answer:
        headers = [header for header in scope["headers"] if header[0] != b"if-none-match"]
        request = {**scope, "headers": headers}
        start: Message = {}
        content: list[bytes] = []

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            elif message["type"] == "http.response.body":
                content.append(message.get("body", b""))

        await self.app(request, receive, collect)
        return Answer(start["status"], list(start["headers"]), b"".join(content), request.get("route"))


def _tags(headers: list[tuple[bytes, bytes]], name: bytes) -> set[bytes]:
    values = [value for key, value in headers if key.lower() == name]
    return {tag.strip().removeprefix(b"W/") for value in values for tag in value.split(b",")}
