"""The Space as one web application over one store: pages, API, Gradio, `/health`, request log, old files."""

import hashlib
import logging
import os
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairspace.leaderboard_space.api.routes import add_examples
from fairspace.leaderboard_space.errors import SpaceError, StorageError
from fairspace.leaderboard_space.gradio_pages.gate import GradioGate
from fairspace.leaderboard_space.jobs.limits import children_leave_network
from fairspace.leaderboard_space.logs import REQUEST
from fairspace.leaderboard_space.pages.rendering import ASSETS
from fairspace.leaderboard_space.site.addresses import file_of, headers_of, is_public, moved, shown_by
from fairspace.leaderboard_space.site.builder import Builder, unpacked
from fairspace.leaderboard_space.site.process import END, FOLDER, BuilderProcess
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.guard import Forwarded, Guard, Heads, Proxies
from fairspace.leaderboard_space.web.identity import Rate, Tokens, signs_in, space_of
from fairspace.leaderboard_space.web.refusals import QUIET, add_handlers, as_space_error, refuse, refuse_the_rest
from fairspace.submissions.errors import UsageError, plain
from fairspace.submissions.version import VERSION

REQUESTS = logging.getLogger("fairspace.request")
UNKNOWN = "(unknown)"
"""Route of unknown addresses and of requests refused before routing."""


class Watching:
    """Outermost middleware: gives each request an id and a log line; no browser guesses the type of an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request and log it when the answer or the client has gone."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name = secrets.token_hex(8)
        token = REQUEST.set(name)
        status, began = 499, time.perf_counter()

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"], headers["X-Content-Type-Options"] = name, "nosniff"
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except Exception as error:
            REQUESTS.exception("unexpected error", extra={"path": scope["path"][:200]})
            if status != 499:  # a part of another answer has gone
                raise
            request = Request(scope, receive)
            await refuse(request, as_space_error(request, error))(scope, receive, sent)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", UNKNOWN)
            level = logging.WARNING if status >= 500 else logging.INFO
            about = {
                "request": name,
                "method": scope["method"],
                "path": plain(scope["path"])[:200],
                "route": route,
                "status": status,
                "seconds": round(seconds, 4),
            }
            if QUIET not in scope:
                REQUESTS.log(level, "answered", extra=about)
            REQUEST.reset(token)


Maker = Builder | BuilderProcess
"""The maker of a folder of public pages."""


class PublicFiles:
    """Middleware within `Guard` that answers for public pages, the same to everybody, from their files.

    An ETag is compared, and the file sent; the builder is asked for what is not there.

    `follows`: whether each request waits for what has changed.
    """

    def __init__(self, app: ASGIApp, space: Space, maker: Maker, *, follows: bool = False) -> None:
        self.app, self.space, self.maker, self.follows = app, space, maker, follows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "GET" or not is_public(scope["path"]):  # HEAD comes as GET
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
        headers["ETag"] = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
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


router = APIRouter(include_in_schema=False)
ROOM = 1 << 30
"""Bytes that the working folder must have free: a few uploads and files of scoring."""


@router.get("/health/live")
async def live() -> dict[str, bool]:
    """Whether the process answers at all; it waits for no thread."""
    return {"live": True}


@router.get("/health")
def health(request: Request) -> Response:
    """Whether the Space can take submissions and score them: 200, or 503 with what is wrong."""
    state = examine(space_of(request), request.app.state.maker)
    return JSONResponse(state, 200 if state["ready"] else 503, {"Cache-Control": "no-store"})


def examine(space: Space, maker: Maker) -> dict[str, Any]:
    """State of a Space: `ready`, with details of store, workers, queue and disk; `wrong` names the problems."""
    wrong: list[str] = []
    try:
        last = space.state.refresh()
    except StorageError as error:
        wrong.append(error.code)
        last = space.state.number
    if space.storage.trouble is not None and space.storage.trouble.code not in wrong:
        wrong.append(space.storage.trouble.code)
    if not space.settings.keeps_the_store():
        wrong.append("STORE_NOT_KEPT")
    if not maker.is_alive:
        wrong.append("BUILDER_GONE")
    alive = space.jobs.alive()
    if not alive:
        wrong.append("WORKERS_GONE")
    space.settings.work.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(space.settings.work).free
    if free < ROOM:
        wrong.append("DISK_NEARLY_FULL")
    return {
        "ready": not wrong,
        "wrong": wrong,
        "last_event": last,
        "workers_alive": alive,
        "jobs_have_network": not children_leave_network(),
        "queue_length": len(space.jobs.waiting()),
        "disk_free_bytes": free,
    }


ROUTERS: tuple[str, ...] = (
    "fairspace.leaderboard_space.app",
    "fairspace.leaderboard_space.api.routes",
    "fairspace.leaderboard_space.api.boards",
    "fairspace.leaderboard_space.pages.submission",
)
"""Modules with a `router` of what differs by user or moment, and for its description the rest of the API."""
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1", "[::1]")


def create_app(space: Space, maker: BuilderProcess | None = None) -> FastAPI:
    """The application over an opened Space; its lifespan runs the jobs, and the process that makes public pages.

    Without a `maker` the pages are made in this process, and each request waits for what has changed: for tests.
    """
    pages = maker or Builder(space, space.settings.work / FOLDER, space.settings.site() or "http://127.0.0.1")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if maker is not None:
            await maker.start()
        shutil.rmtree(space.settings.work / "uploads", ignore_errors=True)  # that a kill cut off
        space.jobs.start()
        try:
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
    app.state.tokens = tokens = Tokens(space.settings.secret, space.state.is_revoked, lambda: space.state.number)
    app.state.gate = GradioGate(space, tokens)
    app.state.told, app.state.maker = Rate(1, 60), pages
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(PublicFiles, space=space, maker=pages, follows=maker is None or not space.settings.board_seconds)
    if space.settings.insecure_local and os.environ.get("SPACE_ID"):
        raise UsageError("--insecure-local lets everybody submit: use it on your own machine only, not for a Space.")
    oauth = import_module("fairspace.leaderboard_space.web.oauth") if signs_in() else None
    if oauth is not None:
        app.add_middleware(oauth.SignIn)
    app.add_middleware(Guard, space=space, tokens=tokens)
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
    add_examples(app.openapi())  # which is made anew after each further route
    return app


def _asset(version: str, name: str) -> Response:
    file = ASSETS / name
    if file.parent != ASSETS or not file.is_file():
        raise SpaceError("UNKNOWN_PAGE", f"/site/{version}/{name}", "nothing", "a file of the pages", "reload the page")
    return FileResponse(file, headers={"Cache-Control": "public, max-age=31536000, immutable"})
