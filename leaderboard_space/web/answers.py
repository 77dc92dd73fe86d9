"""Whole answers, kept for visitors as long as the board that they are about stands: fifty readers of it cost one."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard_space.space import Space
from leaderboard_space.web.identity import current_user
from submissions.registry import NAMES

BYTES = 64 << 20
"""Of all answers that are kept; a single one may take an eighth of it."""
LONGEST_ADDRESS = 1024
MAKERS = 4
"""Answers that are made at a time. They take the processor alone; more of them would only keep each other waiting."""
OVERHEAD = 2048
"""Bytes that an answer takes besides its content, at most."""
_OF_ONE_BOARD = re.compile(r"/(?:model|figures|badge|embed|download|api/v1/boards)/([a-z0-9_]+)(?:/.*)?")
_OF_ALL = re.compile(r"/(?:compare|fairness-space|standards|validation|standard/.*|api/v1/(?:boards|standards))")
"""Addresses whose answers follow from the boards alone; what shows the queue, a submission or a user is not kept."""


@dataclass(frozen=True)
class Answer:
    """What the application answered.

    Args:
        status: of the answer.
        headers: as they were sent.
        content: as it was sent, so packed if it was.
        route: that answered, for the metrics.
        version: of the board at that time.
    """

    status: int
    headers: list[tuple[bytes, bytes]]
    content: bytes
    route: Any = None
    version: int = 0

    async def send(self, scope: Scope, send: Send) -> None:
        """Answer a request, with 304 if its client has this already."""
        if self.route is not None:
            scope["route"] = self.route
        headers, content, status = self.headers, self.content, self.status
        if status == 200 and _tags(scope["headers"], b"if-none-match") & _tags(headers, b"etag"):
            dropped = (b"content-length", b"content-type", b"content-encoding")
            headers, content, status = [one for one in headers if one[0].lower() not in dropped], b"", 304
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": content})


class Answers:
    """Middleware within `Guard` and around the packing of answers. It keeps what a visitor is answered with 200.

    What is asked for by several at a time is made once. Who is signed in or sends a token neither gets nor makes what
    is kept. The next request after a board has changed gets the new one.

    Args:
        app: what answers.
        space: whose boards.
        most: bytes that are kept, those that were asked for last.
    """

    def __init__(self, app: ASGIApp, space: Space, most: int = BYTES) -> None:
        self.app, self.state, self.most = app, space.state, most
        self._kept: OrderedDict[Hashable, Answer] = OrderedDict()
        self._flights: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._makers = asyncio.Semaphore(MAKERS)
        self.size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        about = None if scope["type"] != "http" or scope["method"] != "GET" else board_of(scope)
        if about is None or current_user(request := Request(scope)) is not None:
            await self.app(scope, receive, send)
            return
        # Pages name the address at which they are reached, and are packed for those who can unpack.
        packed = "gzip" in request.headers.get("accept-encoding", "")
        key = (scope["path"], scope["query_string"], scope["scheme"], request.headers.get("host", ""), packed)
        flight = self._flights.setdefault(key, asyncio.Lock())
        async with flight:
            answer = self._find(key, about)
            if answer is None:
                answer = await self._made(scope, receive, about)
                self._keep(key, answer)
        await answer.send(scope, send)

    async def _made(self, scope: Scope, receive: Receive, about: str) -> Answer:
        """What the application answers to who does not have it yet."""
        headers = [one for one in scope["headers"] if one[0] != b"if-none-match"]
        asked = {**scope, "headers": headers}
        start: Message = {}
        content: list[bytes] = []

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            elif message["type"] == "http.response.body":
                content.append(message.get("body", b""))

        async with self._makers:
            version = self.state.version(about)
            await self.app(asked, receive, collect)
        return Answer(start["status"], list(start["headers"]), b"".join(content), asked.get("route"), version)

    def _find(self, key: Hashable, about: str) -> Answer | None:
        found = self._kept.get(key)
        if found is None or found.version != self.state.version(about):
            return None
        self._kept.move_to_end(key)
        return found

    def _keep(self, key: Hashable, answer: Answer) -> None:
        before = self._kept.pop(key, None)
        if before is not None:
            self.size -= _size(before)
        own = any(name.lower() == b"set-cookie" for name, _ in answer.headers)
        if answer.status == 200 and not own and 8 * _size(answer) <= self.most:
            self._kept[key] = answer
            self.size += _size(answer)
        while self.size > self.most:
            self.size -= _size(self._kept.popitem(last=False)[1])


def board_of(scope: Scope) -> str | None:
    """The benchmark whose board an answer follows from, '' for several boards; None where more goes into it."""
    path = scope["path"]
    if len(path) + len(scope["query_string"]) > LONGEST_ADDRESS:
        return None
    if path == "/":
        names = set(QueryParams(scope["query_string"]).getlist("benchmark"))
    elif found := _OF_ONE_BOARD.fullmatch(path):
        names = {found[1]}
    elif _OF_ALL.fullmatch(path):
        names = set()
    else:
        return None
    name = names.pop() if len(names) == 1 else ""
    return name if name in NAMES else ""


def _size(answer: Answer) -> int:
    return len(answer.content) + OVERHEAD + LONGEST_ADDRESS


def _tags(headers: list[tuple[bytes, bytes]], name: bytes) -> set[bytes]:
    """The tags of a header; that they are weak says nothing here."""
    told = [value for key, value in headers if key.lower() == name]
    return {tag.strip().removeprefix(b"W/") for value in told for tag in value.split(b",")}
