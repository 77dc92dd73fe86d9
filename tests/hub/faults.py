"""Faults on demand, and a log of requests: the outermost layer of the server.

`POST /_faults` takes a list of `Fault` as JSON and puts them behind those that wait; the first that fits a request is
used up by it. `GET /_faults` tells those that are left. `GET /_log` tells the requests since the start or the last
`DELETE /_log`. None of these is in the log.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

DROP = 0
"""As a status: the connection is cut instead of an answer."""
SLOW = 1
"""As a status: the answer comes, `seconds` late."""


@dataclass
class Fault:
    """One kind of request that goes wrong.

    Args:
        method: of the request.
        path: regular expression, searched in the raw path.
        status: what is answered instead of the truth: an HTTP status, `DROP` or `SLOW`.
        after: whether what was asked for happens all the same, and only the answer is wrong.
        times: how many requests it spoils.
        chance: with which probability it spoils a fitting request; drawn from `seed`.
        seed: of the draws.
        seconds: of a 429's `Retry-After`, and of `SLOW`, which waits before or, with `after`, behind what is done.
    """

    method: str
    path: str
    status: int
    after: bool = False
    times: int = 1
    chance: float = 1.0
    seed: int = 0
    seconds: float = 0

    def __post_init__(self) -> None:
        self._draws = random.Random(self.seed)

    def spoils(self, method: str, path: str) -> bool:
        """Whether it hits this request; counts."""
        if not self.times or self.method != method or not re.search(self.path, path):
            return False
        if self._draws.random() >= self.chance:
            return False
        self.times -= 1
        return True


class Faulty:
    """An ASGI application around another one.

    Also makes the router see the path as it was sent, so that `%2F` in a revision or path is no slash.
    """

    def __init__(self, application: ASGIApp) -> None:
        self.application = application
        self.faults: list[Fault] = []
        self.log: list[dict[str, Any]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or spoil it."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        method, path = scope["method"], scope["raw_path"].decode("ascii")
        if path in ("/_faults", "/_log"):
            await (await self._control(Request(scope, receive)))(scope, receive, send)
            return
        fault = next((fault for fault in self.faults if fault.spoils(method, path)), None)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        entry: dict[str, Any] = {"method": method, "path": path, "query": scope["query_string"].decode("ascii")}
        entry |= {"token": headers.get("authorization", ""), "range": headers.get("range", ""), "status": None}
        entry["fault"] = asdict(fault) if fault else None
        self.log.append(entry)

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                entry["status"] = message["status"]
            await send(message)

        truth: list[Message] = []

        async def keep(message: Message) -> None:
            truth.append(message)

        inner = {**scope, "path": path}
        if fault is None or (fault.status == SLOW and not fault.after):
            if fault:
                await asyncio.sleep(fault.seconds)
            with suppress(ClientDisconnect):
                await self.application(inner, receive, note)
            return
        if fault.after:
            await self.application(inner, receive, keep)
            entry["done"] = True
        else:
            await _drain(receive)
        if fault.status == SLOW:
            await asyncio.sleep(fault.seconds)
            for message in truth:
                await note(message)
            return
        if fault.status == DROP:
            entry["status"] = DROP
            await _cut(send)
            return
        retry = {"Retry-After": f"{fault.seconds:g}"} if fault.status == 429 else {}
        answer = JSONResponse({"error": f"injected {fault.status}"}, fault.status, retry)
        await answer(inner, receive, note)

    async def _control(self, request: Request) -> Response:
        if request.url.path == "/_log":
            answer = JSONResponse(self.log)
            if request.method == "DELETE":
                self.log.clear()
            return answer
        if request.method == "POST":
            self.faults += [Fault(**fault) for fault in json.loads(await request.body())]
        elif request.method == "DELETE":
            self.faults.clear()
        return JSONResponse([asdict(fault) for fault in self.faults if fault.times])


async def _drain(receive: Receive) -> None:
    while (message := await receive()).get("more_body") and message["type"] == "http.request":
        pass


async def _cut(send: Any) -> None:
    """Cut the connection: `send` is a method of uvicorn's cycle of request and answer, which holds the transport."""
    send.__self__.transport.abort()
    await asyncio.sleep(0)  # uvicorn hears of it
