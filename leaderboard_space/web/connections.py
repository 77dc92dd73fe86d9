"""The client of a request behind proxies, and HEAD as GET."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
