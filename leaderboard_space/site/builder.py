"""The builder: makes public pages from the boards as files of a folder, each again once its board has changed.

`python -m fairspace.leaderboard_space.site.builder FOLDER SITE SOCKET` is its process.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import mkstemp
from urllib.parse import quote, unquote
from weakref import WeakValueDictionary

import httpx
import orjson
import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from fairspace.leaderboard_space.boards.models import slug_of
from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.logs import configure
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site.addresses import file_of, path_of, shown_by
from fairspace.leaderboard_space.site.process import END, KEPT, PageAnswer
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.storage import HUB
from fairspace.leaderboard_space.web.refusals import add_handlers, as_space_error, refuse, refuse_the_rest
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.benchmarks.registry import benchmark as find_benchmark
from fairspace.submissions.results.row import marks_of

ROUTERS = (
    "fairspace.leaderboard_space.api.boards",
    "fairspace.leaderboard_space.api.routes",
    "fairspace.leaderboard_space.pages.front",
    "fairspace.leaderboard_space.pages.board",
    "fairspace.leaderboard_space.pages.model",
    "fairspace.leaderboard_space.pages.compare",
    "fairspace.leaderboard_space.pages.downloads",
    "fairspace.leaderboard_space.pages.figures",
    "fairspace.leaderboard_space.pages.standards",
    "fairspace.leaderboard_space.pages.texts",
)
"""Modules with a `router` of public pages, and the rest of the API, which one of them describes."""
FIRST = ("/", "/api/v1/boards", *(f"/board/{name}" for name in NAMES))
"""Pages that are there before anybody asks, and the first to be made again."""
RENEWED, FILES = 150, 50_000
"""Most pages of boards that are made again after an event, and most files; what was made first goes first."""
YIELDS = 10
"""Hundredths of a second for which a page that is made again waits for those that somebody waits for."""
MAKERS, WHOLE = 2, (".csv", "board.json")
"""Pages made at a time, and ends of addresses with all rows of a table, of which one is made beside these."""
PACKED = 6
VERSIONS = "versions.json"
LOGGER = logging.getLogger("fairspace.boards")
_PART = ".part-"


def reading_app(space: Space) -> FastAPI:
    """The application that makes public pages, one for each address."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.state.space = space
    add_handlers(app)
    for name in ROUTERS:
        app.include_router(import_module(name).router)
    refuse_the_rest(app)
    app.add_exception_handler(Exception, _failed)
    return app


def _failed(request: Request, error: Exception) -> Response:
    LOGGER.error("unexpected error", exc_info=error, extra={"path": request.url.path[:200]})
    return refuse(request, as_space_error(request, error))


class Builder:
    """The builder of a folder of public pages. One builder writes a folder; use it within one event loop.

    Args:
        space: the Space, whose state shows the log.
        folder: place of the files; those of another version of this software or for another site are removed.
        site: address of the Space, for texts that name it.
        is_eager: whether pages of a changed board are made again at once, and served as they were until then.
    """

    is_alive = True

    def __init__(self, space: Space, folder: Path, site: str, *, is_eager: bool = False) -> None:
        self.space, self.folder, self.site, self.is_eager = space, folder, site, is_eager
        transport = httpx.ASGITransport(reading_app(space), raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url=site)
        self._asked = 0
        """Pages that somebody waits for."""
        self._following, self._events = asyncio.Lock(), 0
        """Turn of who follows the log, and a number that each event raises while its pages change."""
        self._making: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Address -> turn of who makes it."""
        self._places = {is_whole: asyncio.Semaphore(count) for is_whole, count in ((True, 1), (False, MAKERS))}
        self._files: dict[str, None] = {}
        """Addresses with a file, the one made first first."""
        self._versions: dict[str, int] = {}
        """Benchmark -> the event as of which its pages are there."""
        self._rows: dict[tuple[str, str], dict[str, Hashable]] = {}
        """Benchmark and standard -> entry of a row -> what its pages depend on."""
        self._open()

    def _open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            kept = orjson.loads((self.folder / VERSIONS).read_bytes())
        except (OSError, ValueError):
            kept = {}
        for part in self.folder.rglob(f"{_PART}*"):  # of a builder that was killed
            part.unlink()
        files = sorted(self.folder.rglob(f"*{END}"), key=lambda file: file.stat().st_mtime)
        if (kept.get("stamp"), kept.get("site")) == (stamp(), self.site):
            self._versions = kept["versions"]
            names = (file.relative_to(self.folder).as_posix().removesuffix(END) for file in files)
            self._files = {path_of(name): None for name in names}
        else:
            for file in files:
                file.unlink(missing_ok=True)
            self._remember()

    async def answer(self, address: str) -> PageAnswer:
        """The page of an address, which is a file from then on if it may be. Errors are answers, too."""
        path = unquote(address)
        async with self._making.setdefault(path, asyncio.Lock()):
            file, events = self.folder / f"{file_of(path)}{END}", self._events
            if path in self._files and file.is_file():  # made meanwhile
                return PageAnswer(200, file.read_bytes(), kept=True)
            may_be_old, self._asked = self.space.state.is_between, self._asked + 1
            try:
                answer = await self._render(path)
            finally:
                self._asked -= 1
            if answer.status != 200 or not file_of(path) or may_be_old or events != self._events:
                return answer
            return PageAnswer(200, self._write(path, answer.content), kept=True)

    async def follow(self, number: int = 0) -> None:
        """Bring the folder up to the last event, which is not before `number`. StorageError: the log cannot be read."""
        async with self._following:
            state = self.space.state
            if state.refresh() < number:
                self.space.storage.sync()
                state.refresh()
            changed = [name for name in NAMES if state.version(name) != self._versions.get(name)]
            for name in changed:
                await self._renew(name, state.version(name))
            if self.is_eager:
                for path in FIRST:
                    if path not in self._files:
                        await self.answer(path)

    async def _renew(self, benchmark: str, version: int) -> None:
        """Bring the pages that show a benchmark's board up to its last event."""
        shows = {path: shown_by(path) for path in self._files}
        standards = {of.standard for of in shows.values() if of.benchmark == benchmark}
        standards.add(find_benchmark(benchmark).default)
        self._events, self.space.state.is_between = self._events + 1, True
        try:  # in a thread, which lets pages be made meanwhile
            marks = {each: await run_in_threadpool(self._marks, benchmark, each) for each in standards}
        finally:
            self._events, self.space.state.is_between = self._events + 1, False
        changed = {standard: self._changed(benchmark, standard, now) for standard, now in marks.items()}
        slugs, every = (
            set[str]().union(*(of.slugs for of in changed.values())),
            any(of.every for of in changed.values()),
        )
        boards = []
        for path, of in reversed(shows.items()):
            is_mine = of.benchmark == benchmark
            if is_mine and of.entries:
                if changed[of.standard].every or changed[of.standard].entries & {*of.entries}:
                    self._remove(path)
            elif of.slug:
                if every or of.slug in slugs:
                    self._remove(path)
            elif is_mine or of.every_board:
                boards.append(path)
        self._rows |= {(benchmark, standard): now for standard, now in marks.items()}
        first = [path for path in boards if path in FIRST]
        others = [] if any(of.gone for of in changed.values()) else [path for path in boards if path not in FIRST]
        renewed = [*first, *others][:RENEWED] if self.is_eager else []
        for path in {*boards} - {*renewed}:
            self._remove(path)
        for path in renewed:
            for _ in range(YIELDS):
                if self._asked:
                    await asyncio.sleep(0.01)
            answer = await self._render(path)
            if answer.status == 200:
                self._write(path, answer.content)
            else:
                self._remove(path)
        self._events += 1
        self._versions[benchmark] = version
        self._remember()

    def _remember(self) -> None:
        about = {"stamp": stamp(), "site": self.site, "versions": self._versions}
        _replace(self.folder / VERSIONS, orjson.dumps(about))

    def _marks(self, benchmark: str, standard: str) -> dict[str, Hashable]:
        """Entry of each row of a board -> what its pages depend on."""

        def signed(entry: str) -> tuple[str, ...]:
            logged = self.space.state.entry(entry)
            marks = () if logged is None else (logged.verified, logged.released)
            return tuple(mark.time for mark in marks if mark is not None)

        return {row.entry: (marks_of(row), signed(row.entry)) for row in self.space.state.board(benchmark, standard)}

    def _changed(self, benchmark: str, standard: str, now: Mapping[str, Hashable]) -> Changed:
        """The rows whose pages have changed since the last event, all if that is not known."""
        before, board = self._rows.get((benchmark, standard)), self.space.state.board(benchmark, standard)
        if before is None:
            return Changed(set(), set(), gone=True, every=True)
        entries = {entry for entry in {*before, *now} if before.get(entry) != now.get(entry)}
        logged = filter(None, map(self.space.state.entry, entries))
        slugs = {slug_of(str(each.result.meta.get("model", ""))) for each in logged}
        gone = bool(before.keys() - now.keys())
        if gone:  # the pages of a model's other rows say so
            entries |= {row.entry for row in board if slug_of(row.model) in slugs}
        return Changed(entries, slugs, gone, any(row.row_class == "baseline" for row in board if row.entry in entries))

    async def _render(self, path: str) -> PageAnswer:
        async with self._places[path.endswith(WHOLE)]:
            answer = await self._client.get(quote(path))
        return PageAnswer(answer.status_code, answer.content, dict(answer.headers))

    def _write(self, path: str, content: bytes) -> bytes:
        packed = gzip.compress(content, PACKED, mtime=0)
        file = self.folder / f"{file_of(path)}{END}"
        if path not in self._files and len(self._files) >= FILES:
            for first in [*self._files][: FILES // 5]:
                self._remove(first)
        file.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, packed)
        self._files.pop(path, None)
        self._files[path] = None
        return packed

    def _remove(self, path: str) -> None:
        self._files.pop(path, None)
        (self.folder / f"{file_of(path)}{END}").unlink(missing_ok=True)


@dataclass(frozen=True)
class Changed:
    """The rows of a board that have changed, their models, whether some have gone, and whether all count as changed."""

    entries: set[str]
    slugs: set[str]
    gone: bool
    every: bool


def unpacked(content: bytes) -> bytes:
    """The content of a kept page as it was made."""
    return gzip.decompress(content)


def _replace(file: Path, content: bytes) -> None:
    """Write a file so that readers see all of it or the one before."""
    handle, part = mkstemp(dir=file.parent, prefix=_PART)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    Path(part).replace(file)


@cache
def stamp() -> str:
    """A mark of this software's files, which changes with each of them."""
    root = Path(__file__).parents[2]
    folders = ("builders", "cards", "leaderboard_space", "metrics", "submissions")
    files = (file for name in folders for file in (root / name).rglob("*") if file.suffix not in ("", ".pyc"))
    marks = sorted(f"{file.relative_to(root)} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files)
    return sha256("\n".join(marks).encode()).hexdigest()[:24]


NICE = 5
"""Niceness of the builder: making pages yields to sending them."""
GARBAGE = 50_000, 10, 10
"""Thresholds of the search for garbage in cycles, which a board's rows make none of: each took as long as a page."""


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
                LOGGER.warning("the boards stay as they are: %s", error, extra={"code": error.code})
            except Exception:  # the next event may be another one
                LOGGER.exception("the boards stay as they are", extra={"code": "OUR_FAULT"})
            await asyncio.sleep(seconds)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(keep_following())
        yield
        following.cancel()

    routes = [Route("/page", page), Route("/follow/{number:int}", follow, methods=["POST"])]
    return Starlette(routes=routes, lifespan=lifespan)


def main() -> None:
    """Run the builder as `BuilderProcess` starts it: FOLDER SITE SOCKET, with its settings on standard input."""
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
        LOGGER.error("the builder cannot open the store: %s", error, extra={"code": error.code})
        sys.exit(1)
    gc.freeze()
    builder = Builder(space, Path(folder), site, is_eager=settings.board_seconds > 0)
    app = builder_app(builder, settings.board_seconds or 0.5)
    uvicorn.Server(
        uvicorn.Config(app, uds=socket, log_config=None, access_log=False, server_header=False, date_header=False)
    ).run()


if __name__ == "__main__":
    main()
