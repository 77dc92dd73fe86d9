"""Middlewares before every page and call: log, client behind proxies, HEAD as GET, limits, and public pages as files.

`Guard` refuses requests that are too large, too slow, too many or forged.
"""

import asyncio
import hashlib
import ipaddress
import logging
import os
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import SimpleNamespace
from urllib.parse import quote, urlsplit

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.logs import REQUEST
from fairspace.leaderboard_space.site.addresses import file_of, headers_of, is_public, moved, shown_by
from fairspace.leaderboard_space.site.builder import Builder, unpacked
from fairspace.leaderboard_space.site.process import END, BuilderProcess
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web import identity
from fairspace.leaderboard_space.web.refusals import CUT, QUIET, as_space_error, refuse
from fairspace.submissions.errors import UsageError, plain

_LOG = logging.getLogger("fairspace.request")
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
            _LOG.exception("unexpected error", extra={"path": scope["path"][:200]})
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
                _LOG.log(level, "answered", extra=about)
            REQUEST.reset(token)


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Proxies:
    """Trusted proxies: peers in given networks, such as 10.0.0.0/8. UsageError for an invalid one.

    Without networks every peer is a proxy in a Space, which only the Hub's proxies reach, and none elsewhere.
    """

    def __init__(self, networks: Sequence[str] = ()) -> None:
        try:
            self.networks = [ipaddress.ip_network(network) for network in networks]
        except ValueError as error:
            raise UsageError(f"FAIRSPACE_PROXIES: {error}.") from error
        self._in_a_space = bool(os.environ.get("SPACE_ID"))

    def __contains__(self, peer: str) -> bool:
        """Whether a peer is a proxy."""
        address = _address(peer)
        if self.networks:
            return address is not None and any(address in network for network in self.networks)
        return self._in_a_space

    def client(self, text: str) -> str:
        """The client named by a proxy; '' if it is another proxy or no address."""
        address = _address(text.strip())
        if address is None or (str(address) in self if self.networks else not address.is_global):
            return ""
        return str(address)


class Forwarded:
    """Middleware that sets the client's address and scheme for all others.

    The client is the last address that is no proxy's: it may have invented those before.
    """

    def __init__(self, app: ASGIApp, proxies: Proxies) -> None:
        self.app, self.proxies = app, proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and (peer := (scope["client"] or ("", 0))[0]) in self.proxies:
            headers = Headers(scope=scope)
            scheme = headers.get("x-forwarded-proto", "").split(",")[-1].strip().lower()
            if scheme in ("http", "https"):
                scope["scheme"] = scheme
            clients = ",".join(headers.getlist("x-forwarded-for")).split(",")
            scope["client"] = (next(filter(None, map(self.proxies.client, reversed(clients))), peer), 0)
        await self.app(scope, receive, send)


def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


STREAMS = "/gradio_api/"
"""Addresses with endless answers, whose HEAD Gradio answers."""


class Heads:
    """Middleware that answers HEAD like GET, without the content."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"].startswith(STREAMS):
            await self.app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self.app({**scope, "method": "GET"}, receive, sent)


ENVELOPE_BYTES = 64 << 10
"""Maximum bytes of an upload besides its file."""
PARTS = 8
"""Maximum parts of an upload: the file, and fields such as the organisation."""
SLOWEST = 4 << 10
"""Minimum average bytes per second of an upload after `PATIENCE`."""
PATIENCE = 15.0


class BodyCut(Exception):  # noqa: N818 the body is refused, and nothing has gone wrong
    """Ends the reading of a refused body; `Guard` answers."""


@dataclass(frozen=True)
class BodyLimits:
    """Limits of a request's body: bytes, seconds, and parts of a form with files (0: no files)."""

    most: int
    seconds: float
    parts: int = 0


class Body:
    """The body of a request, read up to its limits."""

    def __init__(self, request: Request, receive: Receive, limits: BodyLimits) -> None:
        self.request, self.limits, self._receive = request, limits, receive
        self.refused: SpaceError | None = None
        self.received = 0
        self._ended = False
        self._began = time.monotonic()
        self._parts, self._tail, self._boundary = 0, b"", _boundary(request)

    def check_length(self) -> None:
        """SpaceError if the declared length of the body is too large."""
        length = self.request.headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > self.limits.most:
            raise self._too_large(f"{length[:20]} bytes")

    async def receive(self) -> Message:
        """The next part of the body. Ends the reading once the body is refused."""
        if self._ended:
            return await self._receive()
        if self.refused is not None:
            raise BodyCut
        left = self.limits.seconds - (time.monotonic() - self._began)
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, min(left, PATIENCE)))
            if message["type"] == "http.request":
                self._count(message.get("body", b""))
                self._ended = not message.get("more_body", False)
            else:
                self._ended = True
        except TimeoutError:
            self.refused = self._too_slow()
        except SpaceError as error:
            self.refused = error
        if self.refused is not None:
            self.request.scope[CUT] = self.refused
            raise BodyCut
        return message

    def _count(self, chunk: bytes) -> None:
        self.received += len(chunk)
        seconds = time.monotonic() - self._began
        if self.received > self.limits.most:
            raise self._too_large(f"more than {self.limits.most:,} bytes")
        if seconds > self.limits.seconds or (seconds > PATIENCE and self.received < SLOWEST * (seconds - PATIENCE)):
            raise self._too_slow()
        if self._boundary:
            recent = self._tail + chunk
            self._parts += recent.count(self._boundary)
            self._tail = recent[-(len(self._boundary) - 1) :]
            if self._parts > self.limits.parts + 1:  # the end of the form is marked, too
                problem, mend = f"more than {self.limits.parts} parts", "submit one .zip file"
                raise SpaceError("UPLOAD_TOO_MANY_PARTS", "the form", problem, "one file", mend)

    def _too_large(self, problem: str) -> SpaceError:
        if self.limits.parts:
            mend = "submit tables as Parquet; see FORMAT.md"
            return SpaceError("UPLOAD_TOO_LARGE", "the upload", problem, f"at most {self.limits.most:,} bytes", mend)
        return SpaceError("REQUEST_TOO_LARGE", "the body", problem, f"at most {self.limits.most:,} bytes", "see /api")

    def _too_slow(self) -> SpaceError:
        problem = f"{self.received:,} bytes in {time.monotonic() - self._began:.0f} seconds"
        expected = f"all of it within {self.limits.seconds:g} seconds"
        return SpaceError("UPLOAD_TOO_SLOW", "the body", problem, expected, "use a faster connection")


def _boundary(request: Request) -> bytes:
    """The separator of parts in a form with files, b'' for another body."""
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data":
        return b""
    if not options.get(b"boundary"):
        problem, mend = "a form with files without a boundary", "use a library to encode the form"
        raise SpaceError("BAD_PARAMETER", "content-type", problem, "multipart/form-data; boundary=...", mend)
    return b"--" + options[b"boundary"]


UPLOADS = frozenset({"/api/v1/submissions", "/gradio_api/upload"})
EXEMPT = frozenset({"/health", "/health/live"})
"""Addresses of watchers, which count for no limit."""
FILES = ("/site/", "/assets/", "/static/", "/svelte/", "/favicon.ico")
"""Prefixes of static files, of which a page may need many."""
FILES_PER_REQUEST = 10
"""Allowed requests for static files per allowed other request."""
CLIENT_AT_A_TIME = 20
"""Simultaneous requests of one address, streams included."""
CALLS = ("/gradio_api/queue/join", "/gradio_api/call/")
CALLS_A_MINUTE = 60
"""Calls of Gradio's events, whose results it keeps until they are fetched."""
HEAD_BYTES = 16 << 10
LIMITS = BodyLimits(256 << 10, seconds=30)
"""Limits of requests without an upload."""
AT_A_TIME = 2
"""Simultaneous uploads of one user."""
UPLOADS_AN_HOUR = 60
FULL_UPLOADS_AN_HOUR = 10
"""Uploads of the largest size; smaller ones up to the same bytes."""


class Guard:
    """Middleware before everything else; it knows the user from the session or a token."""

    def __init__(self, app: ASGIApp, space: Space, tokens: identity.Tokens) -> None:
        self.app, self.state, self.settings, self.tokens = app, space.state, space.settings, tokens
        self._requests = identity.Rate(space.settings.requests_a_minute, 60)
        self._calls = identity.Rate(min(CALLS_A_MINUTE, space.settings.requests_a_minute), 60)
        self._uploads = identity.Rate(UPLOADS_AN_HOUR, 3600)
        self._bytes = identity.Rate(FULL_UPLOADS_AN_HOUR * space.settings.upload_bytes, 3600)
        self._files = identity.Rate(FILES_PER_REQUEST * space.settings.requests_a_minute, 60)
        self._upload_limits = BodyLimits(
            space.settings.upload_bytes + ENVELOPE_BYTES, space.settings.upload_seconds, PARTS
        )
        self._running: Counter[str] = Counter()
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        asker = identity.address(request)
        self._open[asker] += 1
        places = ExitStack()  # that the request takes, until its answer is sent or has failed
        places.callback(_count_down, self._open, asker)
        try:
            self._count(request)
            check_head(request)
            check_origin(request)
            called = scope["method"] == "POST" and scope["path"].startswith(CALLS)
            if called and not self._calls.take(identity.client(request)):
                raise _too_many(f"more than {CALLS_A_MINUTE} calls a minute")
            is_upload = scope["method"] == "POST" and scope["path"].rstrip("/") in UPLOADS
            body = Body(request, receive, self._upload_limits if is_upload else LIMITS)
            if is_upload:
                places.callback(self._end_upload, self._begin_upload(request), body)
            body.check_length()
            await self._pass_on(request, body, _giving_back(send, places))
        except SpaceError as error:
            await refuse(request, error)(scope, receive, _closing(send))
        finally:
            places.close()

    def _count(self, request: Request) -> None:
        """Count a request, also one with an invalid token. SpaceError TOO_MANY_REQUESTS, TOKEN_INVALID."""
        path, most = request.scope["path"], self.settings.requests_a_minute
        invalid: SpaceError | None = None
        request.scope[identity.USER] = None  # for the page that says that the token is not valid
        try:
            request.scope[identity.USER] = self._user(request)
        except SpaceError as error:
            invalid = error
        if path not in EXEMPT or invalid is not None:
            if most and self._open[identity.address(request)] > CLIENT_AT_A_TIME:
                raise _too_many(f"more than {CLIENT_AT_A_TIME} requests at a time")
            rate = self._files if path.startswith(FILES) and invalid is None else self._requests
            if not rate.take(identity.client(request)):
                raise _too_many(f"more than {rate.burst:g} requests a minute")
        if invalid is not None:
            raise invalid

    def _user(self, request: Request) -> User | None:
        """The asker: signed in at the Hub, a program with a token, or anybody with `--insecure-local`."""
        if token := identity.token_of(request):
            return self.tokens.user(token)
        session_user = request.scope.get("session", {}).get("user")
        is_revoked = session_user and self.state.is_revoked(session_user.get("id", ""), "", "-")
        if session_user and session_user["until"] > time.time() and not is_revoked:
            return User(session_user["name"], tuple(session_user["organisations"]))
        return identity.LOCAL if self.settings.insecure_local else None

    async def _pass_on(self, request: Request, body: Body, send: Send) -> None:
        """Let the application answer, unless the body is refused before it does."""
        answered = False

        async def sent(message: Message) -> None:
            nonlocal answered
            if body.refused is None or answered:
                answered = answered or message["type"] == "http.response.start"
                await send(message)

        try:
            await self.app(request.scope, body.receive, sent)
        except Exception:
            if body.refused is None:
                raise
            # It broke because its body was cut off, which is what the refusal below answers and logs.
        if body.refused is not None and not answered:
            await refuse(request, body.refused)(request.scope, body.receive, _closing(send))

    def _begin_upload(self, request: Request) -> str:
        name = identity.required_user(request).name
        if self._running[name] >= AT_A_TIME:
            raise _too_many(f"{AT_A_TIME} uploads of {name} at a time")
        if not self._uploads.take(name) or not self._bytes.take(name, 0):
            raise _too_many(f"the uploads of {name} within an hour")
        self._running[name] += 1
        return name

    def _end_upload(self, name: str, body: Body) -> None:
        self._bytes.spend(name, body.received)
        _count_down(self._running, name)


def check_head(request: HTTPConnection) -> None:
    """SpaceError REQUEST_TOO_LARGE for headers and address beyond the needs of any page."""
    scope = request.scope
    size = sum(len(name) + len(value) for name, value in scope["headers"])
    size += len(scope.get("raw_path") or b"") + len(scope["query_string"])
    if size > HEAD_BYTES:
        mend = "send a smaller request"
        raise SpaceError("REQUEST_TOO_LARGE", "the head", f"{size:,} bytes", f"at most {HEAD_BYTES:,}", mend)


def check_origin(request: Request) -> None:
    """SpaceError FORM_FORGED for a change requested by a browser on behalf of another site.

    Requests with a token pass: browsers send none by themselves.
    """
    if request.method in ("GET", "HEAD", "OPTIONS") or identity.token_of(request):
        return
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        same = site in ("same-origin", "none")
    elif origin is not None:
        address = urlsplit(identity.space_of(request).settings.site()).netloc
        hosts = {request.headers.get("host", ""), *os.environ.get("SPACE_HOST", "").split(","), address} - {""}
        same = urlsplit(origin).netloc in hosts
    else:
        same = not request.cookies
    if not same:
        problem = f"a request of {(origin or site or 'nowhere')[:100]!r}"
        mend = "use the form on /submit, or a token"
        raise SpaceError("FORM_FORGED", "the request", problem, "one of this Space's own pages", mend)


def _count_down(running: Counter[str], name: str) -> None:
    running[name] -= 1
    if not running[name]:
        del running[name]


def _too_many(problem: str) -> SpaceError:
    return SpaceError("TOO_MANY_REQUESTS", "the client", problem, "fewer", "wait a while")


def _giving_back(send: Send, places: ExitStack) -> Send:
    """Give places back before the end of an answer is sent, so that the client may ask again at once.

    Work after the answer, such as moving an uploaded file, takes no place.
    """

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            places.close()
        await send(message)

    return sent


def _closing(send: Send) -> Send:
    """Close the connection after the answer, so that the rest of a refused body is not read."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    return sent


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
        tags = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
        if headers["ETag"] in tags:
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
