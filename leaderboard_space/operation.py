"""Operation of a Space: `/health`, a log line for each request, and the removal of old files of refused submissions."""

from __future__ import annotations

import logging
import secrets
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairspace.leaderboard_space.events import Draft, clock
from fairspace.leaderboard_space.jobs.limits import children_leave_network
from fairspace.leaderboard_space.log_state import LoggedSubmission
from fairspace.leaderboard_space.logs import REQUEST
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import StorageError, submission_path
from fairspace.leaderboard_space.web.files import Maker
from fairspace.leaderboard_space.web.identity import space_of
from fairspace.leaderboard_space.web.refusals import QUIET, as_space_error, refuse
from fairspace.submissions.errors import plain

LOGGER = logging.getLogger("fairspace.request")
UNKNOWN = "(unknown)"
"""Route of unknown addresses and of requests refused before routing."""


class Watching:
    """Outermost middleware: gives each request an id and a log line; no browser guesses the type of an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request and log it when the answer or the client has gone."""
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
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"], headers["X-Content-Type-Options"] = name, "nosniff"
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


router = APIRouter(include_in_schema=False)
ROOM = 1 << 30
"""Bytes that the working folder must have free: a few uploads and files of scoring."""


@router.get("/health/live")
async def live() -> dict[str, bool]:
    """Whether the process answers at all; it waits for no thread."""
    return {"live": True}


@router.get("/health")
def health(request: Request) -> Response:
    """Whether the Space can take submissions and score them: 200, or 503 with what is wrong."""
    state = examine(space_of(request), request.app.state.maker)
    return JSONResponse(state, 200 if state["ready"] else 503, {"Cache-Control": "no-store"})


def examine(space: Space, maker: Maker) -> dict[str, Any]:
    """State of a Space: `ready`, with details of store, workers, queue and disk; `wrong` names the problems."""
    wrong: list[str] = []
    try:
        last = space.state.refresh()
    except StorageError as error:
        wrong.append(error.code)
        last = space.state.number
    if space.storage.trouble is not None and space.storage.trouble.code not in wrong:
        wrong.append(space.storage.trouble.code)
    if not space.settings.keeps_the_store():
        wrong.append("STORE_NOT_KEPT")
    if not maker.is_alive:
        wrong.append("BUILDER_GONE")
    alive = space.jobs.alive()
    if not alive:
        wrong.append("WORKERS_GONE")
    space.settings.work.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(space.settings.work).free
    if free < ROOM:
        wrong.append("DISK_NEARLY_FULL")
    return {
        "ready": not wrong,
        "wrong": wrong,
        "last_event": last,
        "workers_alive": alive,
        "jobs_have_network": not children_leave_network(),
        "queue_length": len(space.jobs.waiting()),
        "disk_free_bytes": free,
    }


# Removes the files of refused and failed submissions when they are old or many; their events stay.
# Nothing needs these files again: what was refused stays refused, and what failed is handed in again with its file.

EVERY = 600.0
"""Seconds between two checks."""
_STOP = 5.0
"""Seconds that pruning may still take when the Space stops; a kill is harmless."""
_MOST = 500
"""Maximum files removed by one event."""
_TRIES = 20
"""Attempts at a removal while others append."""
PRUNING = logging.getLogger("fairspace.pruning")


def due(submissions: Iterable[LoggedSubmission], before: str, most_bytes: int) -> list[str]:
    """The sha256 of the files to remove, the oldest first; files that another submission needs are kept.

    Files whose last submission ended `before` a time go, then more until the rest takes at most `most_bytes`.
    """
    ended: dict[str, tuple[str, int]] = {}
    needed: set[str] = set()
    for submission in submissions:
        if submission.outcome not in ("refused", "failed"):
            needed.add(submission.sha256)
        elif not submission.pruned:
            last = max(submission.ended, ended.get(submission.sha256, ("", 0))[0])
            ended[submission.sha256] = last, submission.size
    files = sorted((last, sha256, size) for sha256, (last, size) in ended.items() if sha256 not in needed)
    total = sum(size for _, _, size in files)
    removed: list[str] = []
    for last, sha256, size in files:
        if last < before or total > most_bytes:
            removed.append(sha256)
            total -= size
    return removed


def prune(state: State, days: int, most_bytes: int) -> list[str]:
    """Remove due files and return their sha256. Errors: StorageError."""
    removed: list[str] = []
    for _ in range(_TRIES):
        number = state.refresh()
        files = due(state.submissions(), clock(-timedelta(days=days)), most_bytes)[:_MOST]
        if not files:
            break
        draft = Draft("pruned", f"pruned:{number + 1}", {"sha256": files})
        if state.storage.remove([submission_path(sha256) for sha256 in files], draft, number):
            removed += files
    if removed:
        PRUNING.info("files of refused and failed submissions were removed", extra={"files": len(removed)})
    return removed


@contextmanager
def pruning(state: State, settings: Settings) -> Iterator[None]:
    """Prune the store periodically while the context lasts; first, remove uploads that a kill cut off."""
    shutil.rmtree(settings.work / "uploads", ignore_errors=True)
    stop = threading.Event()

    def work() -> None:
        wait = 0.0
        while not stop.wait(wait):
            wait = EVERY
            try:
                prune(state, settings.keep_refused_days, settings.keep_refused_bytes)
            except StorageError as error:
                PRUNING.warning("nothing was pruned: %s", error, extra={"code": error.code})

    thread = threading.Thread(target=work, name="pruning", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_STOP)
