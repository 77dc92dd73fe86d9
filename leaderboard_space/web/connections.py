"""Bounds on connections before their request is read, client addresses behind proxies, and HEAD as GET.

Uvicorn has no time limit for requests, and counts idle connections like active ones. Here a request must arrive in
time, an address has a limited number of connections, and when all places are taken, the connection that has waited
longest for a request makes room: active clients never wait for idle ones.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fairspace.leaderboard_space.web.identity import network
from fairspace.submissions.errors import UsageError

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
            named = ",".join(headers.getlist("x-forwarded-for")).split(",")
            scope["client"] = (next(filter(None, map(self.proxies.client, reversed(named))), peer), 0)
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


HEAD_SECONDS = 15.0
"""Maximum time from a connection's opening, or the end of an answer, to the next request's head."""
HEAD_BYTES = 64 << 10
"""Maximum bytes of a head; `Guard` refuses smaller ones with an explanation."""
STALL_SECONDS = 60.0
"""Interval after which a client must have read `SLOWEST` bytes of an answer per second."""
SLOWEST = 1 << 10
MOST = 450
"""Maximum connections, leaving room for other files below the usual limit of 1,024. `RESERVE` more are taken to answer
"too many" and watchers."""
RESERVE = 50
MOST_OF_ADDRESS = 100
"""Maximum connections of an address that is no proxy."""
WATCHED = (b"/health", b"/health/live")


@dataclass(eq=False)
class Places:
    """The connections of a server by address, and those that wait for a request, the longest first.

    `of_address` is 0 for no limit; `body_seconds` begin with the head of a request. Proxies have no limit of their own.
    """

    proxies: Proxies
    most: int = MOST
    of_address: int = MOST_OF_ADDRESS
    head_seconds: float = HEAD_SECONDS
    body_seconds: float = 600.0
    held: Counter[str] = field(default_factory=Counter)
    waiting: OrderedDict[BoundedProtocol, None] = field(default_factory=OrderedDict)

    def bounds(self, peer: str) -> str:
        """The address that a connection counts for, '' for a proxy's."""
        return "" if not self.of_address or peer in self.proxies else network(peer)

    def protocol(self) -> type[BoundedProtocol]:
        """The protocol of a server with these places."""
        places_of_server = self

        class Bounded(BoundedProtocol):
            places = places_of_server

        return Bounded


class BoundedProtocol(HttpToolsProtocol):
    """A connection that has a place among `places` and keeps to their limits of time."""

    places: Places

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._address, self._head = "", 0
        self._in_head = True
        self._deadline: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, if necessary that of the longest-waiting connection."""
        super().connection_made(transport)
        places = self.places
        self._address = places.bounds(self.client[0] if self.client else "")
        if self._address:
            places.held[self._address] += 1
        if self._address and places.held[self._address] > places.of_address:
            self._refuse(b"429 Too Many Requests")
            return
        if places.waiting and self._is_beyond(places.most):
            places.waiting.popitem(last=False)[0].give_up()
        if self._is_beyond(places.most + RESERVE):
            self._refuse(b"503 Service Unavailable")
            return
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._stop_waiting()
        if self._stall is not None:
            self._stall.cancel()
        if self._address:
            self.places.held[self._address] -= 1
            if not self.places.held[self._address]:
                del self.places.held[self._address]

    def data_received(self, data: bytes) -> None:
        """Read data, up to the maximum length of a head."""
        if self.transport.is_closing():
            return
        self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > HEAD_BYTES and not self.transport.is_closing():
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; trailers after a body are ignored."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the answer, and the time limit of the body."""
        self._in_head, self._head = False, 0
        self._stop_waiting()
        self._deadline = self.loop.call_later(self.places.body_seconds, self.give_up)
        is_full = self.url not in WATCHED and self._is_beyond(self.places.most)
        self.limit_concurrency = self.places.most + 1 if is_full else None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End the request; the answer has no time limit."""
        super().on_message_complete()
        self._in_head, self._head = True, 0
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.cycle.response_complete:
            self._head = 0
            self._await_request()

    def pause_writing(self) -> None:
        """Watch whether the answer is being read."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Stop watching: everything sent has been read."""
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()

    def give_up(self) -> None:
        """End a connection whose request is late, or whose place another one needs."""
        if not self.transport.is_closing():
            if self._in_head and self._head:
                self._refuse(b"408 Request Timeout")
            else:
                self.transport.close()

    def _is_beyond(self, most: int) -> bool:
        if len(self.connections) <= most:
            return False
        return sum(not connection.transport.is_closing() for connection in self.connections) > most

    def _unsupported_upgrade_warning(self) -> None:
        """Log nothing: the answer over HTTP is enough."""

    def _await_request(self) -> None:
        self._stop_waiting()
        self.places.waiting[self] = None
        self._deadline = self.loop.call_later(self.places.head_seconds, self.give_up)

    def _stop_waiting(self) -> None:
        self.places.waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _watch_reader(self, before: float = float("inf")) -> None:
        unread = self.transport.get_write_buffer_size()
        if unread > before - SLOWEST * STALL_SECONDS:
            self.transport.abort()
        else:
            self._stall = self.loop.call_later(STALL_SECONDS, self._watch_reader, unread)

    def _refuse(self, status: bytes) -> None:
        self._stop_waiting()
        self.transport.write(b"HTTP/1.1 " + status + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        self.transport.close()
