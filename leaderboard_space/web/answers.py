"""Pages of the boards, made once and cached until their board changes.

The old answer is served while the new one is made, unless a row was withdrawn: what it shows must be gone at once.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairspace.leaderboard_space.boards.views import READ
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import current_user, site_of
from fairspace.leaderboard_space.web.refusals import refuse
from fairspace.submissions.benchmarks.registry import NAMES

BYTES = 64 << 20
"""Size of the cache; what was not asked for longest leaves it."""
LATELY = 30.0
"""Seconds for which an answer is still served after its board has changed."""
OVERHEAD = 2048
"""Maximum bytes of an answer beyond its content and address."""
MAKERS = 2
"""Answers computed at a time."""
DOWNLOADS = 1
"""Whole tables computed at a time, beside those answers: pages do not wait for them."""
_BOARDS = re.compile(
    r"/|/(standards|api/v1/(boards|standards))"
    r"|/(download|figures|model|models|standard|api/v1/boards|api/v1/standards)/.*"
)
"""Addresses whose answers follow from the boards alone: not the queue, a submission, a user."""
Version = tuple[int, int]
"""Number of withdrawn rows, and the last event of the boards that an answer shows."""
_LOG = logging.getLogger("fairspace.boards")


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
        self.app, self.boards, self.most, self.size = app, space.state.snapshots, most, 0
        self._cached: dict[Hashable, tuple[Answer, Version]] = {}
        places = {"page": MAKERS, "download": DOWNLOADS, "renewal": 1}  # nobody waits for renewals
        self._places = {kind: asyncio.Semaphore(count) for kind, count in places.items()}
        self._making: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        """Key of an answer -> the lock of the one request that makes it."""
        self._renewing: dict[Hashable, asyncio.Task[None]] = {}

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
            answer, is_old = self._find(key, benchmark_of(scope))
            if answer is None:
                answer = await self._make(request, receive, key)
            elif is_old and key not in self._renewing:
                self._renewing[key] = asyncio.create_task(self._renew(request, receive, key))
        except SpaceError as error:
            await refuse(request, error)(scope, receive, send)
            return
        await answer.send(scope, send)

    async def _renew(self, request: Request, receive: Receive, key: Hashable) -> None:
        try:
            await self._make(request, receive, key, "renewal")
        except Exception:  # noqa: BLE001 - who asks when the old answer has gone is told
            _LOG.exception("an answer could not be renewed", extra={"code": "OUR_FAULT"})
        finally:
            del self._renewing[key]

    async def _make(self, request: Request, receive: Receive, key: Hashable, kind: str = "page") -> Answer:
        kind = "download" if request.scope["path"].startswith("/download/") else kind
        alone = asyncio.Lock() if key is None else self._making.setdefault(key, asyncio.Lock())
        benchmark = benchmark_of(request.scope)
        async with alone, self._places[kind]:
            answer, is_old = self._find(key, benchmark)
            if answer is not None and not is_old:  # made meanwhile
                return answer
            version = self.boards.shown(benchmark)
            answer = await self._made(request.scope, receive)
            if key is not None and answer.is_for_all:
                self._keep(key, answer, version)
            return answer

    def _find(self, key: Hashable, benchmark: str) -> tuple[Answer | None, bool]:
        """The cached answer, if it may be served, and whether its board has changed."""
        kept, version = self._cached.get(key), self.boards.shown(benchmark)
        if kept is None:
            return None, False
        answer, shown = kept
        if shown != version and (shown[0] != version[0] or self.boards.age(benchmark, shown[1]) > LATELY):
            self._drop(key)
            return None, False
        self._cached[key] = self._cached.pop(key)
        return answer, shown != version

    def _keep(self, key: Hashable, answer: Answer, version: Version) -> None:
        self._drop(key)
        size = _size(key, answer)
        if 8 * size <= self.most:
            while self.size + size > self.most:
                self._drop(next(iter(self._cached)))
            self._cached[key] = answer, version
            self.size += size

    def _drop(self, key: Hashable) -> None:
        if (kept := self._cached.pop(key, None)) is not None:
            self.size -= _size(key, kept[0])

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


def benchmark_of(scope: Scope) -> str:
    """The benchmark whose board alone an address shows; '' if it shows more."""
    words = [*scope["path"].split("/"), *parse_qs(scope["query_string"].decode("latin-1")).get("benchmark", ())]
    return next((word for word in words if word in NAMES), "")


def _size(key: Hashable, answer: Answer) -> int:
    return len(answer.content) + len(str(key)) + OVERHEAD


def _tags(headers: list[tuple[bytes, bytes]], name: bytes) -> set[bytes]:
    values = [value for key, value in headers if key.lower() == name]
    return {tag.strip().removeprefix(b"W/") for value in values for tag in value.split(b",")}
