"""The Space as one web application over one store: pages, API, and Gradio for submitting and for its clients."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

import uvicorn
from fastapi import FastAPI, Response
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.gradio_pages.gate import GradioGate
from fairspace.leaderboard_space.logs import configure
from fairspace.leaderboard_space.operation import Watching, pruning
from fairspace.leaderboard_space.pages.rendering import ASSETS
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site.builder import Builder
from fairspace.leaderboard_space.site.process import BuilderProcess
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.files import PublicFiles
from fairspace.leaderboard_space.web.guard import Forwarded, Guard, Heads, Proxies
from fairspace.leaderboard_space.web.identity import Rate, check_local, signs_in
from fairspace.leaderboard_space.web.refusals import add_handlers, refuse_the_rest
from fairspace.submissions.errors import UsageError
from fairspace.submissions.version import VERSION

ROUTERS: tuple[str, ...] = (
    "fairspace.leaderboard_space.operation",
    "fairspace.leaderboard_space.api.routes",
    "fairspace.leaderboard_space.api.boards",
    "fairspace.leaderboard_space.pages.submission",
)
"""Modules with a `router` of what differs by user or moment, and for its description the rest of the API."""
FOLDER = "site"
"""Folder of public pages in the working folder."""
MOST_CONNECTIONS, KEEP_ALIVE = 500, 15
"""Connections at a time, below the usual limit of 1,024 files, and seconds for which an idle one is kept."""
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1", "[::1]")
LOGGER = logging.getLogger("fairspace")


def create_app(space: Space, maker: BuilderProcess | None = None) -> FastAPI:
    """The application over an opened Space; its lifespan runs the jobs, and the process that makes public pages.

    Without a `maker` the pages are made in this process, and each request waits for what has changed: for tests.
    """
    pages = maker or Builder(space, space.settings.work / FOLDER, space.settings.site() or "http://127.0.0.1")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if maker is not None:
            await maker.start()
        space.jobs.start()
        try:
            with pruning(space.state, space.settings):
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
    app.state.gate = GradioGate(space)
    app.state.told, app.state.maker = Rate(1, 60), pages
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(PublicFiles, space=space, maker=pages, follows=maker is None or not space.settings.board_seconds)
    check_local(space.settings)
    oauth = import_module("fairspace.leaderboard_space.web.oauth") if signs_in() else None
    if oauth is not None:
        app.add_middleware(oauth.SignIn)
    app.add_middleware(Guard, space=space)
    if oauth is not None:  # `Guard` looks into its sessions
        oauth.attach_routes(app)
    if space.settings.insecure_local:  # no other name leads here, whatever another site's DNS says
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=LOCAL_HOSTS, www_redirect=False)
    app.add_middleware(Watching)
    app.add_middleware(Forwarded, proxies=Proxies(space.settings.proxies))
    app.add_middleware(Heads)
    add_handlers(app)
    for name in ROUTERS:
        app.include_router(import_module(name).router)
    app.get("/site/{version}/{name}", include_in_schema=False)(_asset)
    refuse_the_rest(app)
    app.mount("/", app.state.gate)
    return app


def _asset(version: str, name: str) -> Response:
    file = ASSETS / name
    if file.parent != ASSETS or not file.is_file():
        raise SpaceError("UNKNOWN_PAGE", f"/site/{version}/{name}", "nothing", "a file of the pages", "reload the page")
    return FileResponse(file, headers={"Cache-Control": "public, max-age=31536000, immutable"})


def serve(settings: Settings, host: str = "127.0.0.1", port: int = 7860) -> None:
    """Serve the Space until SIGTERM or Ctrl-C. StorageError: unreadable store; UsageError: exposed `insecure_local`."""
    if settings.insecure_local and host != "127.0.0.1":
        raise UsageError(f"--insecure-local lets everybody submit who can reach {host}; use it only with 127.0.0.1.")
    configure()
    space = Space.open(settings, rows=False)  # the builder shows them
    site = settings.site() or f"http://{f'[{host}]' if ':' in host else host}:{port}"
    app = create_app(space, BuilderProcess(settings, settings.work / FOLDER, site))
    if not settings.keeps_the_store():
        LOGGER.error("the store is not kept: handing in is refused until FAIRSPACE_STORE names one that is")
    config = uvicorn.Config(app, host, port, loop="uvloop", ws="none", log_config=None, access_log=False)
    config.limit_concurrency, config.timeout_keep_alive = MOST_CONNECTIONS, KEEP_ALIVE
    config.timeout_graceful_shutdown, config.server_header = settings.stop_seconds, False
    config.proxy_headers = False  # `Forwarded` knows whom to believe
    _Server(config, app).run()


class _Server(uvicorn.Server):
    """Uvicorn that loads Gradio once it listens, and on shutdown stops the jobs and ends open streams first."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self.app = app
        self._loading: asyncio.Task[object] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._loading = asyncio.create_task(self.app.state.gate.load())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._loading is not None:
            self._loading.cancel()
        await run_in_threadpool(self.app.state.space.jobs.take_no_more)
        self.app.state.gate.end_streams()
        await super().shutdown(sockets)


def main() -> None:
    """Run the Space at the port that Gradio would use."""
    port = int(os.environ.get("GRADIO_SERVER_PORT", "7860"))
    serve(Settings.from_environment(), host="0.0.0.0", port=port)  # noqa: S104 a container
