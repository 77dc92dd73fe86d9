"""The gate before Gradio: passes the requests of its page, and adds this site's header and footer.

Gradio's import takes longer than the rest of the start, so it is loaded on first use or once the boards are there.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.pages.rendering import ENVIRONMENT, HUB
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.identity import Tokens, current_user
from fairspace.leaderboard_space.web.refusals import note, refuse, unknown

if TYPE_CHECKING:
    from fairspace.leaderboard_space.gradio_pages.submit import Gradio

UPLOAD = "/gradio_api/upload"
PAGE = "/submit"
_NAME = r"[A-Za-z0-9_-]{1,64}"
NEEDED = {
    "GET": re.compile(
        r"/(config|theme\.css|favicon\.ico|manifest\.json|(assets|static|svelte)/[A-Za-z0-9_./-]{1,200}"
        rf"|gradio_api/(app_id|startup-events|queue/data|upload_progress|heartbeat/{_NAME}"
        rf"|info|call/(submit|submission)/{_NAME}))"
    ),
    "POST": re.compile(r"/gradio_api/(upload|queue/join|call/v2/(submit|submission))"),
}
"""Method -> addresses; `info` to `call` are for programs. The rest (proxy, files, monitor, ...) is blocked."""
POLICY = (
    "default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; font-src 'self' data:; manifest-src 'self'; "
    f"worker-src 'self' blob:; form-action 'self'; base-uri 'self'; frame-ancestors {HUB}"
)
_SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
_CARDS = re.compile(r'\s*<meta\s+(property="og:|name="twitter:)[^>]*>')


class GradioGate:
    """An application that passes needed requests to Gradio and adds header and footer to its pages."""

    def __init__(self, space: Space, tokens: Tokens) -> None:
        self.space, self.tokens = space, tokens
        self._gradio: asyncio.Future[Gradio] | None = None
        self._running: asyncio.Task[None] | None = None
        self._stopped = asyncio.Event()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Stop Gradio at the end, if it was loaded."""
        try:
            yield
        finally:
            self._stopped.set()
            if self._running is not None:
                await self._running

    async def load(self) -> Gradio:
        """Gradio, imported, built and started by the first call. Every caller gets the exceptions of its start."""
        if self._gradio is None:
            self._gradio = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._gradio))
        return await asyncio.shield(self._gradio)

    async def _run(self, loaded: asyncio.Future[Gradio]) -> None:
        """Run Gradio from start to stop, which must be in one task."""
        try:
            gradio = await run_in_threadpool(_load, self.space, self.tokens)
            async with gradio.host.router.lifespan_context(gradio.host):
                loaded.set_result(gradio)
                await self._stopped.wait()
        except Exception as error:
            if loaded.done():
                raise
            loaded.set_exception(error)

    def end_streams(self) -> None:
        """End the heartbeat streams of Gradio's pages; call it within the serving loop."""
        if self._gradio is not None and self._gradio.done() and self._gradio.exception() is None:
            self._gradio.result().app.stop_event.set()  # type: ignore[attr-defined]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await (await self.load()).app(scope, receive, send)
            return
        request, path = Request(scope, receive), scope["path"]
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if method == "GET" and path == PAGE and "deep_link" not in request.query_params:
            await (await self.load()).app({**scope, "method": "GET"}, receive, _Framed(request, send))
            return
        needed = NEEDED.get(method)
        if needed is None or not needed.fullmatch(path) or ".." in path or "deep_link" in request.query_params:
            error = unknown(request)
            if path == PAGE and method != "GET":
                error = SpaceError("WRONG_METHOD", path, method, "GET, HEAD", "submit with the API; see /api")
            await refuse(request, error)(scope, receive, send)
            return
        gradio = await self.load()
        session = _session(request) if method == "GET" else None
        if session is not None and session not in gradio.blocks._queue.pending_messages_per_session:
            problem, mend = "a session that this process does not know", f"load {PAGE} again"
            await refuse(request, SpaceError("UNKNOWN_PAGE", path, problem, "that of a call", mend))(
                scope, receive, send
            )
            return
        if method == "POST" and path != UPLOAD:
            try:
                receive = await gradio.check(request)
            except SpaceError as error:
                await refuse(request, error)(scope, receive, send)
                return
        try:
            await gradio.app(scope, receive, _hardened(request, send))
        finally:
            if path == UPLOAD:
                await run_in_threadpool(sweep, gradio.uploads, self.space.settings.upload_seconds)


def _session(request: Request) -> str | None:
    """The session whose results a request streams; that of a plain call is its event. None for another request."""
    if request.url.path.endswith("/queue/data"):
        return request.query_params.get("session_hash", "")
    return request.url.path.rpartition("/")[2] if "/call/" in request.url.path else None


def _load(space: Space, tokens: Tokens) -> Gradio:
    gradio: Gradio = import_module("fairspace.leaderboard_space.gradio_pages.submit").load(space, tokens)
    return gradio


def sweep(folder: Path, seconds: float) -> None:
    """Delete files of interrupted uploads, which Gradio forgets."""
    for path in folder.glob("tmp*"):
        with suppress(FileNotFoundError):
            if path.is_file() and time.time() - path.stat().st_mtime > seconds:
                path.unlink()


def _hardened(request: Request, send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            if 400 <= message["status"] < 500:
                problem = f"Gradio answers {message['status']}"
                note(request, SpaceError("BAD_PARAMETER", request.url.path, problem, "what its pages send", "see /api"))
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        await send(message)

    return sent


class _Framed:
    """Sends a page of Gradio with header and footer, and a policy that allows only its own scripts."""

    def __init__(self, request: Request, send: Send) -> None:
        self._request, self._send = request, send
        self._start: Message = {}
        self._parts: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body":
            await self._send(message)
            return
        self._parts.append(message.get("body", b""))
        if message.get("more_body", False):
            return
        text = framed(b"".join(self._parts).decode(), self._request)
        digests = (hashlib.sha256(script.encode()).digest() for script in _SCRIPT.findall(text))
        hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
        headers = {
            "Content-Security-Policy": POLICY.format(hashes=hashes),
            "Cache-Control": "private, no-store",
            "Referrer-Policy": "same-origin",
            "Vary": "Cookie",
        }
        answer = Response(text, self._start["status"], headers, "text/html; charset=utf-8")
        await answer(self._request.scope, self._request.receive, self._send)


def framed(text: str, request: Request) -> str:
    """A page of Gradio with header and footer, without Gradio's social-media cards."""
    path = request.url.path
    values = {"user": current_user(request), "path": path, "name": "Submit"}
    head, top, bottom = (
        ENVIRONMENT.get_template(f"parts/frame_{part}.html.jinja").render(values) for part in ("head", "top", "bottom")
    )
    text = _CARDS.sub("", text).replace("</head>", f"{head}</head>", 1)
    text = re.sub(r"<body[^>]*>", lambda body: f"{body[0]}{top}", text, count=1)
    return text.replace("</gradio-app>", f"</gradio-app>{bottom}", 1)
