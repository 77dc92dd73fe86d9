"""Gives each request an id and one log line."""

from __future__ import annotations

import logging
import secrets
import time

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairspace.leaderboard_space.operation.logs import REQUEST
from fairspace.leaderboard_space.web.refusals import QUIET, as_space_error, refuse
from fairspace.submissions.errors import plain

LOGGER = logging.getLogger("fairspace.request")
UNKNOWN = "(unknown)"
"""The route of requests that nothing answers to, and of what is refused before."""


class Watching:
    """Middleware around everything else.

    Args:
        app: what answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and note it when the answer has gone, or its client has."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name = secrets.token_hex(8)
        token = REQUEST.set(name)
        status, began = 499, time.perf_counter()

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = name
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except Exception as error:
            LOGGER.exception("unexpected error", extra={"path": scope["path"][:200]})
            if status != 499:  # a part of another answer has gone
                raise
            request = Request(scope, receive)
            await refuse(request, as_space_error(request, error))(scope, receive, sent)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", UNKNOWN)
            level = logging.WARNING if status >= 500 else logging.INFO
            about = {
                "request": name,
                "method": scope["method"],
                "path": plain(scope["path"])[:200],
                "route": route,
                "status": status,
                "seconds": round(seconds, 4),
            }
            if QUIET not in scope:
                LOGGER.log(level, "answered", extra=about)
            REQUEST.reset(token)
