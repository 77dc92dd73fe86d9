"""The Space as one web application over one store: middlewares, pages, API, Gradio, and `/health`."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import FileResponse, JSONResponse
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request

from fairspace.leaderboard_space.api.routes import add_examples
from fairspace.leaderboard_space.errors import SpaceError, StorageError
from fairspace.leaderboard_space.gradio_pages.gate import GradioGate
from fairspace.leaderboard_space.jobs.limits import children_leave_network
from fairspace.leaderboard_space.pages.rendering import ASSETS
from fairspace.leaderboard_space.site.builder import Builder
from fairspace.leaderboard_space.site.process import FOLDER, BuilderProcess
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web import middlewares
from fairspace.leaderboard_space.web.identity import Rate, Tokens, signs_in, space_of
from fairspace.leaderboard_space.web.refusals import add_handlers, refuse_the_rest
from fairspace.submissions.errors import UsageError
from fairspace.submissions.version import VERSION

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


def examine(space: Space, maker: middlewares.Maker) -> dict[str, Any]:
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


ROUTERS: tuple[str, ...] = (
    "fairspace.leaderboard_space.app",
    "fairspace.leaderboard_space.api.routes",
    "fairspace.leaderboard_space.api.boards",
    "fairspace.leaderboard_space.pages.submission",
)
"""Modules with a `router` of what differs by user or moment, and for its description the rest of the API."""
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1", "[::1]")


def create_app(space: Space, maker: BuilderProcess | None = None) -> FastAPI:
    """The application over an opened Space; its lifespan runs the jobs, and the process that makes public pages.

    Without a `maker` the pages are made in this process, and each request waits for what has changed: for tests.
    """
    pages = maker or Builder(space, space.settings.work / FOLDER, space.settings.site() or "http://127.0.0.1")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if maker is not None:
            await maker.start()
        shutil.rmtree(space.settings.work / "uploads", ignore_errors=True)  # that a kill cut off
        space.jobs.start()
        try:
            async with app.state.gate.serving():
                yield
        finally:  # what else stops, such as Gradio, may fail
            space.jobs.stop(space.settings.stop_seconds)
            if maker is not None:
                await maker.stop()
            space.storage.close()

    app = FastAPI(
        title="fairspace",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=lifespan,
    )
    app.state.space = space
    app.state.tokens = tokens = Tokens(space.settings.secret, space.state.is_revoked, lambda: space.state.number)
    app.state.gate = GradioGate(space, tokens)
    app.state.told, app.state.maker = Rate(1, 60), pages
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    follows = maker is None or not space.settings.board_seconds
    app.add_middleware(middlewares.PublicFiles, space=space, maker=pages, follows=follows)
    if space.settings.insecure_local and os.environ.get("SPACE_ID"):
        raise UsageError("--insecure-local lets everybody submit: use it on your own machine only, not for a Space.")
    oauth = import_module("fairspace.leaderboard_space.web.oauth") if signs_in() else None
    if oauth is not None:
        app.add_middleware(oauth.SignIn)
    app.add_middleware(middlewares.Guard, space=space, tokens=tokens)
    if oauth is not None:  # `Guard` looks into its sessions
        oauth.attach_routes(app)
    if space.settings.insecure_local:  # no other name leads here, whatever another site's DNS says
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=LOCAL_HOSTS, www_redirect=False)
    app.add_middleware(middlewares.Watching)
    app.add_middleware(middlewares.Forwarded, proxies=middlewares.Proxies(space.settings.proxies))
    app.add_middleware(middlewares.Heads)
    add_handlers(app)
    for name in ROUTERS:
        app.include_router(import_module(name).router)
    app.get("/site/{version}/{name}", include_in_schema=False)(_asset)
    refuse_the_rest(app)
    app.mount("/", app.state.gate)
    add_examples(app.openapi())  # which is made anew after each further route
    return app


def _asset(version: str, name: str) -> Response:
    file = ASSETS / name
    if file.parent != ASSETS or not file.is_file():
        raise SpaceError("UNKNOWN_PAGE", f"/site/{version}/{name}", "nothing", "a file of the pages", "reload the page")
    return FileResponse(file, headers={"Cache-Control": "public, max-age=31536000, immutable"})
