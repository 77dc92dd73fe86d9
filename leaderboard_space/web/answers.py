"""A cache of whole answers for visitors, valid until their board changes."""

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

from fairspace.leaderboard_space.adjusted_boards import ADJUSTED
from fairspace.leaderboard_space.boards.adjusting import adjusts
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import current_user
from fairspace.submissions.benchmarks.registry import NAMES

BYTES = 64 << 20
"""Of all answers that are kept; those of adjusted boards have an eighth of it."""
LONGEST_ADDRESS = 1024
MAKERS = 4
"""Answers that are made at a time. They take the processor alone; more of them would only keep each other waiting."""
ADJUSTERS = 2 * ADJUSTED
"""Answers of adjusted boards beside those: released ones do not wait for them, and more than may wait for such a board
are refused at once."""
OVERHEAD = 2048
"""Bytes that an answer takes besides its content, at most."""
_OF_ONE_BOARD = re.compile(r"/(?:model|figures|badge|embed|download|api/v1/boards)/([a-z0-9_]+)(?:/.*)?")
_OF_ALL = re.compile(r"/(?:compare|fairness-space|standards|validation|standard/.*|api/v1/(?:boards|standards))")
"""Addresses whose answers follow from the boards alone; what shows the queue, a submission or a user is not kept."""


@dataclass(frozen=True)
class Answer:
    """An answer of the application.

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
            headers, content, status = [header for header in headers if header[0].lower() not in dropped], b"", 304
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": content})


class _Kept:
    """The most recently used answers.

    Args:
        most: bytes of them all; a single one may take an eighth of it.
    """

    def __init__(self, most: int) -> None:
        self.most, self.size = most, 0
        self._kept: OrderedDict[Hashable, Answer] = OrderedDict()

    def find(self, key: Hashable, version: int) -> Answer | None:
        """The answer of that version of its board."""
        kept = self._kept.get(key)
        if kept is None or kept.version != version:
            return None
        self._kept.move_to_end(key)
        return kept

    def keep(self, key: Hashable, answer: Answer) -> None:
        """Keep an answer that everybody may have, in the place of the one before."""
        before = self._kept.pop(key, None)
        if before is not None:
            self.size -= _size(before)
        personal = any(name.lower() == b"set-cookie" for name, _ in answer.headers)
        if answer.status == 200 and not personal and 8 * _size(answer) <= self.most:
            self._kept[key] = answer
            self.size += _size(answer)
        while self.size > self.most:
            self.size -= _size(self._kept.popitem(last=False)[1])


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
        self.app, self.state = app, space.state
        self._kept = {False: _Kept(most - most // 8), True: _Kept(most // 8)}
        self._makers = {False: asyncio.Semaphore(MAKERS), True: asyncio.Semaphore(ADJUSTERS)}
        """Whether a board is adjusted -> its own room and makers: of adjusted ones there is no end."""
        self._flights: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    @property
    def size(self) -> int:
        """Size of the cache in bytes."""
        return sum(kept.size for kept in self._kept.values())

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
            adjusted = adjusts(request.query_params)
            answer = self._kept[adjusted].find(key, self.state.version(about))
            if answer is None:
                answer = await self._made(scope, receive, about, adjusted)
                self._kept[adjusted].keep(key, answer)
        await answer.send(scope, send)

    async def _made(self, scope: Scope, receive: Receive, about: str, adjusted: bool) -> Answer:
        """What the application answers to who does not have it yet."""
        headers = [header for header in scope["headers"] if header[0] != b"if-none-match"]
        request = {**scope, "headers": headers}
        start: Message = {}
        content: list[bytes] = []

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            elif message["type"] == "http.response.body":
                content.append(message.get("body", b""))

        async with self._makers[adjusted]:
            version = self.state.version(about)
            await self.app(request, receive, collect)
        return Answer(start["status"], list(start["headers"]), b"".join(content), request.get("route"), version)


def board_of(scope: Scope) -> str | None:
    """The benchmark whose board an answer follows from, '' for several boards; None where more goes into it."""
    path = scope["path"]
    if len(path) + len(scope["query_string"]) > LONGEST_ADDRESS:
        return None
    if path == "/":
        names = set(QueryParams(scope["query_string"]).getlist("benchmark"))
    elif match := _OF_ONE_BOARD.fullmatch(path):
        names = {match[1]}
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
    values = [value for key, value in headers if key.lower() == name]
    return {tag.strip().removeprefix(b"W/") for value in values for tag in value.split(b",")}
