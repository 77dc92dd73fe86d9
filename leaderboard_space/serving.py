"""Serving the Space: the builder of pages starts first, and loads what it needs while the web application does."""

import asyncio
import logging
import os
import socket

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool

from fairspace.leaderboard_space.logs import configure
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site.process import FOLDER, BuilderProcess
from fairspace.submissions.errors import UsageError

MOST_CONNECTIONS, KEEP_ALIVE = 500, 15
"""Connections at a time, below the usual limit of 1,024 files, and seconds for which an idle one is kept."""
LOGGER = logging.getLogger("fairspace")


def serve(settings: Settings, host: str = "127.0.0.1", port: int = 7860) -> None:
    """Serve the Space until SIGTERM or Ctrl-C. StorageError: unreadable store; UsageError: exposed `insecure_local`."""
    if settings.insecure_local and host != "127.0.0.1":
        raise UsageError(f"--insecure-local lets everybody submit who can reach {host}; use it only with 127.0.0.1.")
    configure()
    site = settings.site() or f"http://{f'[{host}]' if ':' in host else host}:{port}"
    maker = BuilderProcess(settings, settings.work / FOLDER, site)
    try:
        maker.begin()
        from fairspace.leaderboard_space.app import create_app  # both load for more than a second, on a core each
        from fairspace.leaderboard_space.space import Space

        app = create_app(Space.open(settings, rows=False), maker)  # the builder shows the rows
    except BaseException:
        maker.end()
        raise
    if not settings.keeps_the_store():
        LOGGER.error("the store is not kept: handing in is refused until FAIRSPACE_STORE names one that is")
    config = uvicorn.Config(app, host, port, loop="uvloop", ws="none", log_config=None, access_log=False)
    config.limit_concurrency, config.timeout_keep_alive = MOST_CONNECTIONS, KEEP_ALIVE
    config.timeout_graceful_shutdown, config.server_header = settings.stop_seconds, False
    config.proxy_headers = False  # `Forwarded` knows whom to believe
    _Server(config, app).run()


class _Server(uvicorn.Server):
    """Uvicorn that loads Gradio once it listens, and on shutdown stops the jobs and ends open streams first."""

    def __init__(self, config: uvicorn.Config, app: Starlette) -> None:
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
