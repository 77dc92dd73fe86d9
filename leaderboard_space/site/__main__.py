"""`python -m fairspace.leaderboard_space.site FOLDER SITE SOCKET`: the builder, as `BuilderProcess` starts it."""

import asyncio
import gc
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.logs import configure
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site.builder import Builder
from fairspace.leaderboard_space.site.process import KEPT
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.storage import HUB

NICE = 5
"""Niceness of the builder: making pages yields to sending them."""
GARBAGE = 50_000, 10, 10
"""Thresholds of the search for garbage in cycles, which a board's rows make none of: each took as long as a page."""
_LOG = logging.getLogger("fairspace.boards")


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
    gc.set_threshold(*GARBAGE)
    data = orjson.loads(sys.stdin.buffer.readline())
    lists = {name: tuple(part) for name, part in data.items() if isinstance(part, list)}
    settings = Settings(**{**data, **lists, "work": Path(data["work"])})
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    if settings.store.startswith(HUB):  # two processes share no copy of a store on the Hub
        settings = replace(settings, work=settings.work / "builder")
    try:
        space = Space.open(settings)
    except StorageError as error:
        _LOG.error("the builder cannot open the store: %s", error, extra={"code": error.code})
        sys.exit(1)
    gc.freeze()
    builder = Builder(space, Path(folder), site, is_eager=settings.board_seconds > 0)
    app = builder_app(builder, settings.board_seconds or 0.5)
    uvicorn.Server(
        uvicorn.Config(app, uds=socket, log_config=None, access_log=False, server_header=False, date_header=False)
    ).run()


if __name__ == "__main__":
    main()
