"""Public pages as files: an ETag is compared, and the file sent; the builder is asked for what is not there."""

from __future__ import annotations

from hashlib import sha256
from types import SimpleNamespace
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.site.addresses import file_of, headers_of, is_public, moved, shown_by
from fairspace.leaderboard_space.site.builder import END, Builder, unpacked
from fairspace.leaderboard_space.site.process import BuilderProcess
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.refusals import refuse

Maker = Builder | BuilderProcess
"""The maker of a folder of public pages."""


class PublicFiles:
    """Middleware within `Guard` that answers for public pages, the same to everybody.

    `follows`: whether each request waits for what has changed.
    """

    def __init__(self, app: ASGIApp, space: Space, maker: Maker, *, follows: bool = False) -> None:
        self.app, self.space, self.maker, self.follows = app, space, maker, follows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or not is_public(scope["path"]):
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        scope["route"] = SimpleNamespace(path=f"/{scope['path'].split('/')[1]}/…")
        try:
            answer = await self._answer(request)
        except SpaceError as error:
            answer = refuse(request, error)
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        path = request.url.path
        if request.method != "GET":  # HEAD comes as GET
            raise SpaceError("WRONG_METHOD", path, request.method, "GET, HEAD", "see /api for the list of addresses")
        if address := moved(path, request.url.query):
            return RedirectResponse(address, 308, {"Content-Type": "text/plain"})
        if len(path) > 1:
            path = path.rstrip("/")
        if path.startswith("/api/"):
            path = path.removesuffix(".json")
        is_withdrawn = self._is_withdrawn(path)
        if self.follows or is_withdrawn:  # the builder may not know of that event yet
            await self.maker.follow()
        content = None if is_withdrawn else self._read(path)
        if content is None:
            answer = await self.maker.answer(quote(path))
            if not answer.kept:
                return Response(answer.content, answer.status, answer.headers)
            content = answer.content
        return self._sent(request, path, content)

    def _sent(self, request: Request, path: str, content: bytes) -> Response:
        headers = headers_of(path, shared=bool(self.space.settings.site()))
        headers["ETag"] = f'"{sha256(content).hexdigest()[:24]}"'
        known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
        if headers["ETag"] in known:
            return Response(status_code=304, headers={k: v for k, v in headers.items() if k != "Content-Type"})
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        else:
            content = unpacked(content)
        return Response(content, headers=headers)

    def _is_withdrawn(self, path: str) -> bool:
        entries = map(self.space.state.entry, shown_by(path).entries)
        return any(logged is not None and logged.withdrawn is not None for logged in entries)

    def _read(self, path: str) -> bytes | None:
        file = file_of(path)
        try:
            return (self.maker.folder / f"{file}{END}").read_bytes() if file else None
        except FileNotFoundError:
            return None
