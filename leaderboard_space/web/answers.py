"""Pages of the boards, made once and cached until a board changes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairspace.leaderboard_space.boards.views import READ
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import current_user, site_of
from fairspace.leaderboard_space.web.refusals import refuse

BYTES = 64 << 20
"""Size of the cache, which is emptied when full."""
OVERHEAD = 2048
"""Maximum bytes of an answer beyond its content and address."""
MAKERS = 2
"""Answers computed at a time."""
DOWNLOADS = 1
"""Whole tables computed at a time, beside those answers: pages do not wait for them."""
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

    Signed-in requests and those with a token bypass it.
    """

    def __init__(self, app: ASGIApp, space: Space, most: int = BYTES) -> None:
        self.app, self.state, self.most = app, space.state, most
        self.size, self._version = 0, -1
        self._cached: dict[Hashable, Answer] = {}
        self._places = {"page": asyncio.Semaphore(MAKERS), "download": asyncio.Semaphore(DOWNLOADS)}
        self._making: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        """Key of an answer -> the lock of the one request that makes it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "GET" or not _BOARDS.fullmatch(scope["path"]):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        is_packed = b"gzip" in request.headers.get("accept-encoding", "").encode()
        try:
            is_public = current_user(request) is None
            query: Hashable = scope["query_string"]
            if scope["path"].startswith("/download/"):  # an unknown parameter makes no other file
                query = tuple(pair for pair in request.query_params.multi_items() if pair[0] in READ)
            key = (scope["path"], query, site_of(request), is_packed) if is_public else None
            answer = self._find(key) or await self._make(request, receive, key)
        except SpaceError as error:
            await refuse(request, error)(scope, receive, send)
            return
        await answer.send(scope, send)

    async def _make(self, request: Request, receive: Receive, key: Hashable) -> Answer:
        kind = "download" if request.scope["path"].startswith("/download/") else "page"
        alone = asyncio.Lock() if key is None else self._making.setdefault(key, asyncio.Lock())
        async with alone, self._places[kind]:
            if (answer := self._find(key)) is not None:  # made meanwhile
                return answer
            version = self.state.version()
            answer = await self._made(request.scope, receive)
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
