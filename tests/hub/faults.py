"""Faults on demand, and a log of requests: the outermost layer of the server.

`POST /_faults` appends a list of `Fault` as JSON; a request uses up the first that fits. `GET /_faults` returns those
left, `GET /_log` the requests since the start or `DELETE /_log`. None of these is logged.
"""

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

DROP = 0
"""Status of a connection that is cut."""
SLOW = 1
"""Status of an answer that comes `seconds` late."""


@dataclass
class Fault:
    """One kind of request that goes wrong.

    Args:
        path: Regular expression, searched in the raw path.
        status: HTTP status, `DROP` or `SLOW`.
        after: Whether the request takes effect all the same.
        times: Requests that it spoils.
        seconds: `Retry-After` of a 429, or the delay of `SLOW` (with `after`, behind the effect).
    """

    method: str
    path: str
    status: int
    after: bool = False
    times: int = 1
    seconds: float = 0

    def spoils(self, method: str, path: str) -> bool:
        if not self.times or self.method != method or not re.search(self.path, path):
            return False
        self.times -= 1
        return True


class Faulty:
    """An ASGI layer that spoils requests and passes raw paths to the router, so that `%2F` is no slash."""

    def __init__(self, application: ASGIApp) -> None:
        self.application = application
        self.faults: list[Fault] = []
        self.log: list[dict[str, Any]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        method, path = scope["method"], scope["raw_path"].decode("ascii")
        if path in ("/_faults", "/_log"):
            await (await self._control(Request(scope, receive)))(scope, receive, send)
            return
        fault = next((fault for fault in self.faults if fault.spoils(method, path)), None)
        entry: dict[str, Any] = {"method": method, "path": path, "fault": asdict(fault) if fault else None}
        self.log.append(entry)
        inner = {**scope, "path": path}
        if fault is None or (fault.status == SLOW and not fault.after):
            if fault:
                await asyncio.sleep(fault.seconds)
            with suppress(ClientDisconnect):
                await self.application(inner, receive, send)
            return
        truth: list[Message] = []
        if fault.after:

            async def keep(message: Message) -> None:
                truth.append(message)

            await self.application(inner, receive, keep)
            entry["done"] = True
        else:
            await _drain(receive)
        if fault.status == SLOW:
            await asyncio.sleep(fault.seconds)
            for message in truth:
                await send(message)
        elif fault.status == DROP:
            await _cut(send)
        else:
            retry = {"Retry-After": f"{fault.seconds:g}"} if fault.status == 429 else {}
            answer = JSONResponse({"error": f"injected {fault.status}"}, fault.status, retry)
            await answer(inner, receive, send)

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
    """Cut the connection: `send` is a method of uvicorn's cycle, which holds the transport."""
    send.__self__.transport.abort()
    await asyncio.sleep(0)  # uvicorn hears of it
