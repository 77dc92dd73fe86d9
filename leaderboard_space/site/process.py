"""The builder of pages as a process of its own, seen from the web process, and what both share.

This module loads little, so that the process can be started before all else.
"""

import asyncio
import logging
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import mkdtemp

import httpx
import orjson

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.settings import Settings

MODULE = "fairspace.leaderboard_space.site.builder"
PATIENCE, PAUSE = 60.0, 0.1
"""Seconds for which a builder that does not answer is waited for, and between two looks at it."""
AGAIN = 0.5
"""Seconds after which a builder that has ended is started again."""
KEPT = "x-kept"
FOLDER, END = "site", ".gz"
"""Folder of public pages in the working folder, and end of its files."""
_LOG = logging.getLogger("fairspace.boards")


@dataclass(frozen=True)
class PageAnswer:
    """The answer to a request for a public page: content, packed if it is `kept` as a file, and headers otherwise."""

    status: int
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    kept: bool = False


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
        """Watch the process, which is started unless it was."""
        if self._process is None:
            self.begin()
        self._watching = asyncio.create_task(self._watch())

    def begin(self) -> None:
        """Start the process. OSError."""
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
                    self.begin()
                except OSError as error:  # it was killed before it read its settings, or no process is free
                    _LOG.warning("the builder of pages does not start: %s", error, extra={"code": "BUILDER_GONE"})

    async def stop(self) -> None:
        """End the process; files are replaced whole, so that a kill breaks none."""
        if self._watching is not None:
            self._watching.cancel()
        self.end()
        await self._client.aclose()

    def end(self) -> None:
        """End a process that nothing watches."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
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
