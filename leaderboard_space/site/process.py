"""The builder as a process of its own: its main loop, and its counterpart in the web process, which restarts it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.site.builder import END, Answer, Builder
from fairspace.leaderboard_space.storage import StorageError

MODULE = "fairspace.leaderboard_space.site"
PATIENCE = 60.0
"""Seconds after which a builder that does not answer is stopped."""
TRIES = 3
NICE = 5
"""Niceness of the builder: making pages yields to sending them."""
_PAUSE = 0.2
_LINE = 1 << 20
_LOG = logging.getLogger("fairspace.boards")


class BuilderGoneError(Exception):
    """The builder ended before it answered."""


class BuilderProcess:
    """The builder in a process of its own, as `Builder` is in this one. Use it within one event loop until `stop`."""

    def __init__(self, settings: Settings, folder: Path, site: str) -> None:
        self.folder, self.site, self.settings = folder, site, settings
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._number, self._stopped = 0, False

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the process, if it does not run."""
        async with self._starting:
            if self.is_alive or self._stopped:
                return
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", MODULE, str(self.folder), self.site),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_LINE,
                start_new_session=True,  # Ctrl-C is for the web process, whose end ends it
            )
            assert self._process.stdin is not None
            self._process.stdin.write(_dumped(self.settings) + b"\n")
            self._reading = asyncio.create_task(self._read(self._process))

    async def stop(self) -> None:
        """End the process."""
        self._stopped = True
        if self._process is not None and self.is_alive:
            self._process.kill()  # files are replaced whole
        if self._reading is not None:
            await self._reading

    async def answer(self, address: str) -> Answer:
        """See `Builder.answer`. SpaceError BUILDER_GONE."""
        return await self._ask({"address": address})

    async def follow(self, number: int = 0) -> None:
        """See `Builder.follow`. Without a builder no page of before the event `number` is kept. SpaceError BUILDER_GONE."""
        try:
            await self._ask({"follow": number})
        except SpaceError:
            if not number:
                raise
            for file in self.folder.rglob(f"*{END}"):
                file.unlink(missing_ok=True)

    async def _ask(self, request: dict[str, Any]) -> Answer:
        for _ in range(TRIES):
            await self.start()
            process = self._process
            assert process is not None
            assert process.stdin is not None
            self._number += 1
            answer = self._waiting[self._number] = asyncio.get_running_loop().create_future()
            try:
                process.stdin.write(orjson.dumps({"id": self._number, **request}) + b"\n")
                return await asyncio.wait_for(answer, PATIENCE)
            except TimeoutError:
                process.kill()
            except (BuilderGoneError, OSError):
                await asyncio.sleep(_PAUSE)
            finally:
                self._waiting.pop(self._number, None)
        mend = "try again in a minute; pages that were made before are there meanwhile"
        raise SpaceError("BUILDER_GONE", "the page", "its maker ended", "a page", mend)

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Pass the process' answers on until it ends; then start another one."""
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                head = orjson.loads(line)
                content = await process.stdout.readexactly(head["size"])
                if (asked := self._waiting.get(head["id"])) is not None and not asked.done():
                    asked.set_result(Answer(head["status"], content, head["headers"], head["kept"]))
        except (asyncio.IncompleteReadError, ValueError):
            process.kill()
        await process.wait()
        for asked in list(self._waiting.values()):
            if not asked.done():
                asked.set_exception(BuilderGoneError())
        if not self._stopped:
            _LOG.warning("the builder of pages ended with %s", process.returncode, extra={"code": "BUILDER_GONE"})
            await asyncio.sleep(_PAUSE)
            asyncio.get_running_loop().create_task(self.start())


def _dumped(settings: Settings) -> bytes:
    return orjson.dumps(asdict(settings), default=str)


def _loaded(line: bytes) -> Settings:
    data = orjson.loads(line)
    lists = {name: tuple(part) for name, part in data.items() if isinstance(part, list)}
    return Settings(**{**data, **lists, "work": Path(data["work"])})


async def build(folder: Path, site: str) -> None:
    """Answer the requests on standard input until it ends, and follow the log meanwhile."""
    from fairspace.leaderboard_space.space import Space

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    settings = _loaded(await reader.readline())
    kept = settings.work if not settings.store.startswith("hf://") else settings.work / "builder"
    space = await asyncio.to_thread(Space.open, replace(settings, work=kept))
    builder = Builder(space, folder, site, is_eager=settings.board_seconds > 0)
    out, writing = os.fdopen(os.dup(1), "wb"), asyncio.Lock()

    async def reply(request: dict[str, Any]) -> None:
        if "follow" in request:
            await builder.follow(request["follow"])
            answer = Answer(200, b"")
        else:
            answer = await builder.answer(request["address"])
        head = {"id": request["id"], "status": answer.status, "headers": answer.headers, "kept": answer.kept}
        async with writing:
            await asyncio.to_thread(
                _send, out, orjson.dumps(head | {"size": len(answer.content)}) + b"\n" + answer.content
            )

    async def follow() -> None:
        while True:
            try:
                await builder.follow()
            except StorageError as error:
                _LOG.warning("the boards stay as they are: %s", error, extra={"code": error.code})
            await asyncio.sleep(settings.board_seconds or 0.5)

    following = loop.create_task(follow())
    replies = set[asyncio.Task[None]]()
    while line := await reader.readline():
        task = loop.create_task(reply(orjson.loads(line)))
        replies.add(task)
        task.add_done_callback(replies.discard)
    following.cancel()
    os._exit(0)


def _send(out: Any, content: bytes) -> None:
    out.write(content)
    out.flush()


def main() -> None:
    """Run the builder of a folder for a site, both from the command line."""
    from fairspace.leaderboard_space.logs import configure

    configure()
    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(build(Path(sys.argv[1]), sys.argv[2]))
