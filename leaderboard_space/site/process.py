"""The builder as a process of its own, which answers over a socket, and its counterpart in the web process."""

import asyncio
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import mkdtemp

import httpx
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairspace.leaderboard_space.errors import SpaceError, StorageError
from fairspace.leaderboard_space.logs import configure
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site.builder import END, Builder, PageAnswer
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.storage import HUB

MODULE = "fairspace.leaderboard_space.site"
PATIENCE, PAUSE = 60.0, 0.1
"""Seconds for which a builder that does not answer is waited for, and between two looks at it."""
AGAIN = 0.5
"""Seconds after which a builder that has ended is started again."""
NICE = 5
"""Niceness of the builder: making pages yields to sending them."""
KEPT = "x-kept"
_LOG = logging.getLogger("fairspace.boards")


class BuilderProcess:
    """The builder in a process, as `Builder` is in this one; it is started again whenever it ends, until `stop`."""

    def __init__(self, settings: Settings, folder: Path, site: str) -> None:
        self.folder, self._socket = folder, Path(mkdtemp(prefix="fairspace-")) / "builder"
        self._command = [sys.executable, "-m", MODULE, str(folder), site, str(self._socket)]
        self._settings = orjson.dumps(asdict(settings), default=str)
        transport = httpx.AsyncHTTPTransport(uds=str(self._socket))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://builder", timeout=PATIENCE)
        self._process: subprocess.Popen[bytes] | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Start the process, and watch it."""
        self._begin()
        self._watching = asyncio.create_task(self._watch())

    def _begin(self) -> None:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, start_new_session=True)
        assert self._process.stdin is not None
        self._process.stdin.write(self._settings + b"\n")
        self._process.stdin.flush()  # it stays open: its end is that of the builder

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(PAUSE)
            if not self.is_alive:
                _LOG.warning("the builder of pages has ended", extra={"code": "BUILDER_GONE"})
                await asyncio.sleep(AGAIN)
                try:
                    self._begin()
                except OSError as error:  # it was killed before it read its settings, or no process is free
                    _LOG.warning("the builder of pages does not start: %s", error, extra={"code": "BUILDER_GONE"})

    async def stop(self) -> None:
        """End the process; files are replaced whole, so that a kill breaks none."""
        if self._watching is not None:
            self._watching.cancel()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        await self._client.aclose()
        shutil.rmtree(self._socket.parent, ignore_errors=True)

    async def answer(self, address: str) -> PageAnswer:
        """See `Builder.answer`. SpaceError BUILDER_GONE."""
        answer = await self._ask("GET", "/page", address)
        return PageAnswer(answer.status_code, answer.content, dict(answer.headers), KEPT in answer.headers)

    async def follow(self, number: int = 0) -> None:
        """See `Builder.follow`. Without a builder no page of before that event is kept. SpaceError BUILDER_GONE."""
        try:
            is_done = (await self._ask("POST", f"/follow/{number}")).is_success
        except SpaceError:
            if not number:
                raise
            is_done = False
        if number and not is_done:
            for file in self.folder.rglob(f"*{END}"):
                file.unlink(missing_ok=True)

    async def _ask(self, method: str, path: str, address: str = "") -> httpx.Response:
        for _ in range(int(PATIENCE / PAUSE)):
            try:
                return await self._client.request(method, path, params={"address": address})
            except httpx.TimeoutException:
                break
            except httpx.TransportError:  # it starts
                await asyncio.sleep(PAUSE)
        if self._process is not None:
            self._process.kill()
        mend = "try again in a minute; pages that were made before are there meanwhile"
        raise SpaceError("BUILDER_GONE", "the page", "its maker does not answer", "a page", mend)


def builder_app(builder: Builder, seconds: float) -> Starlette:
    """The builder over HTTP, for `BuilderProcess`; it looks for new events every so many seconds."""

    async def page(request: Request) -> Response:
        answer = await builder.answer(request.query_params["address"])
        return Response(answer.content, answer.status, {**answer.headers, **({KEPT: "1"} if answer.kept else {})})

    async def follow(request: Request) -> Response:
        await builder.follow(request.path_params["number"])
        return Response()

    async def keep_following() -> None:
        while True:
            try:
                await builder.follow()
            except StorageError as error:
                _LOG.warning("the boards stay as they are: %s", error, extra={"code": error.code})
            except Exception:  # noqa: BLE001 - the next event may be another one
                _LOG.exception("the boards stay as they are", extra={"code": "OUR_FAULT"})
            await asyncio.sleep(seconds)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(keep_following())
        yield
        following.cancel()

    routes = [Route("/page", page), Route("/follow/{number:int}", follow, methods=["POST"])]
    return Starlette(routes=routes, lifespan=lifespan)


def main() -> None:
    """Run the builder of a folder, for a site, at a socket: the command line. Its settings come on standard input."""
    folder, site, socket = sys.argv[1:]
    configure()
    os.nice(NICE)
    data = orjson.loads(sys.stdin.buffer.readline())
    lists = {name: tuple(part) for name, part in data.items() if isinstance(part, list)}
    settings = Settings(**{**data, **lists, "work": Path(data["work"])})
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    if settings.store.startswith(HUB):  # two processes share no copy of a store on the Hub
        settings = replace(settings, work=settings.work / "builder")
    builder = Builder(Space.open(settings), Path(folder), site, is_eager=settings.board_seconds > 0)
    app = builder_app(builder, settings.board_seconds or 0.5)
    uvicorn.Server(
        uvicorn.Config(app, uds=socket, log_config=None, access_log=False, server_header=False, date_header=False)
    ).run()
