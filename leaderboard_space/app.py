"""The Space as one web application over one store: pages, API, and Gradio for submitting and for its clients."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from threading import Thread

import uvicorn
from fastapi import FastAPI, Response
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from fairspace.leaderboard_space.boards.query import BoardQuery
from fairspace.leaderboard_space.boards.tables.table import board_table
from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.gradio_pages import blocks
from fairspace.leaderboard_space.operation.logs import configure
from fairspace.leaderboard_space.operation.metrics import Metrics
from fairspace.leaderboard_space.operation.watching import Watching
from fairspace.leaderboard_space.pages.rendering import ASSETS
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web import sign_in
from fairspace.leaderboard_space.web.answers import Answers
from fairspace.leaderboard_space.web.forwarded import Forwarded
from fairspace.leaderboard_space.web.guard import Guard
from fairspace.leaderboard_space.web.heads import Heads
from fairspace.leaderboard_space.web.rates import Rate
from fairspace.leaderboard_space.web.refusals import add_handlers, refuse_the_rest
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.errors import UsageError
from fairspace.submissions.version import VERSION

ROUTERS: tuple[str, ...] = (
    "fairspace.leaderboard_space.operation.health",
    "fairspace.leaderboard_space.api.routes",
    "fairspace.leaderboard_space.pages.api_docs",
    "fairspace.leaderboard_space.pages.board",
    "fairspace.leaderboard_space.pages.model",
    "fairspace.leaderboard_space.pages.badges",
    "fairspace.leaderboard_space.pages.downloads",
    "fairspace.leaderboard_space.pages.submission",
    "fairspace.leaderboard_space.pages.figures",
    "fairspace.leaderboard_space.pages.compare",
    "fairspace.leaderboard_space.pages.fairness_space",
    "fairspace.leaderboard_space.pages.standards",
    "fairspace.leaderboard_space.pages.validation",
    "fairspace.leaderboard_space.pages.texts",
)
"""Modules with a `router`, in the order in which they are asked."""
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1", "[::1]")
GRACE = 8
"""Seconds that requests on their way and the jobs have when the Space stops."""
CONNECTIONS = 1000
LOGGER = logging.getLogger("fairspace")


def create_app(space: Space) -> FastAPI:
    """The application over an opened Space; it starts and stops the jobs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        space.jobs.start()
        try:
            yield
        finally:  # what else stops, such as Gradio, may fail
            space.jobs.stop(GRACE)
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
    app.state.metrics = Metrics(space)
    app.state.told = Rate(1, 60)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(Answers, space=space)
    sign_in.attach(app, space)
    app.add_middleware(Guard, space=space)
    sign_in.attach_sessions(app)
    if space.settings.insecure_local:  # no other name leads here, whatever another site's DNS says
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=LOCAL_HOSTS, www_redirect=False)
    app.add_middleware(Watching, metrics=app.state.metrics)
    app.add_middleware(Forwarded, networks=space.settings.proxies)
    app.add_middleware(Heads)
    add_handlers(app)
    for name in ROUTERS:
        app.include_router(import_module(name).router)
    app.get("/site/{version}/{name}", include_in_schema=False)(_asset)
    refuse_the_rest(app)
    blocks.mount(app, space)
    return app


def _make_boards(space: Space) -> None:
    """Compute the first table of every board before the first visitor."""
    for name in NAMES:
        board_table(space.state, BoardQuery.read(QueryParams(), name))


def _asset(version: str, name: str) -> Response:
    """A file of `assets`, under an address that changes with its content."""
    file = ASSETS / name
    if file.parent != ASSETS or not file.is_file():
        raise SpaceError("UNKNOWN_PAGE", f"/site/{version}/{name}", "nothing", "a file of the pages", "reload the page")
    return FileResponse(file, headers={"Cache-Control": "public, max-age=31536000, immutable"})


def serve(settings: Settings, host: str = "127.0.0.1", port: int = 7860) -> None:
    """Serve the Space until SIGTERM or Ctrl-C; then running requests are finished first.

    StorageError if the store cannot be read; UsageError if everybody could submit from elsewhere.
    """
    if settings.insecure_local and host != "127.0.0.1":
        raise UsageError(f"--insecure-local lets everybody submit who can reach {host}; use it only with 127.0.0.1.")
    configure()
    space = Space.open(settings)
    Thread(target=_make_boards, args=(space,), name="boards", daemon=True).start()
    app = create_app(space)
    if not settings.keeps_the_store():
        LOGGER.error("the store is not kept: handing in is refused until FAIRSPACE_STORE names one that is")
    config = uvicorn.Config(app, host, port, log_config=None, access_log=False, server_header=False)
    config.timeout_graceful_shutdown, config.limit_concurrency = GRACE, CONNECTIONS
    config.proxy_headers = False  # `Forwarded` knows whom to believe
    _Server(config, app).run()


class _Server(uvicorn.Server):
    """Uvicorn that tells the jobs at once when it stops, and ends streams of open pages.

    Args:
        config: of the application.
        app: of `create_app`.
    """

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self.app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish running requests within `GRACE` seconds."""
        await run_in_threadpool(self.app.state.space.jobs.take_no_more)
        blocks.end_streams(self.app)
        await super().shutdown(sockets)


def main() -> None:
    """Run the Space at the port that Gradio would use."""
    port = int(os.environ.get("GRADIO_SERVER_PORT", "7860"))
    serve(Settings.from_environment(), host="0.0.0.0", port=port)  # noqa: S104 a container
