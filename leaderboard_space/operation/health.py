"""Addresses for operators: `/health` and `/health/live`."""

from __future__ import annotations

import shutil
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from fairspace.leaderboard_space.jobs.network import children_leave_network
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.storage import StorageError
from fairspace.leaderboard_space.web.identity import space_of

router = APIRouter(include_in_schema=False)
ROOM = 1 << 30
"""Bytes that the working folder must have free: a few uploads, and what scoring writes."""


@router.get("/health/live")
async def live() -> dict[str, bool]:
    """Whether the process answers at all; it waits for no thread."""
    return {"live": True}


@router.get("/health")
def health(request: Request) -> Response:
    """Whether the Space can take submissions and score them: 200, or 503 with what is wrong."""
    state = examine(space_of(request))
    return JSONResponse(state, 200 if state["ready"] else 503, {"Cache-Control": "no-store"})


def examine(space: Space) -> dict[str, Any]:
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
