"""The user of a request: signed in at the Hub, a program with a token, or `local` with `--insecure-local`.

Also rate limits per client, and a pool of threads. `oauth` is separate: its import takes a fifth of a server's start.
"""

from __future__ import annotations

import ipaddress
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from huggingface_hub import constants
from starlette.requests import HTTPConnection

from fairspace.leaderboard_space.errors import SpaceError
from fairspace.leaderboard_space.intake import User
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.space import Space
from fairspace.leaderboard_space.web.tokens import MARK
from fairspace.submissions.errors import UsageError

CLIENTS = 10_000
"""Clients remembered by a `Rate`; the least recently active are forgotten first."""


class Rate:
    """A rate per client: `burst` units at once (0: no limit), restored over `seconds`. `clock`: monotonic seconds."""

    def __init__(self, burst: float, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.burst, self.seconds, self._clock = burst, seconds, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, client: str, units: float = 1) -> bool:
        """Take units of a client's; False, and none taken, if there are not enough left."""
        enough = not self.burst or self.left(client) >= units
        if enough:
            self.spend(client, units)
        return enough

    def left(self, client: str) -> float:
        """Units that a client may still take; below 0 after overspending."""
        with self._lock:
            return self._of(client, self._clock())

    def spend(self, client: str, units: float) -> None:
        """Take units that were used, even if fewer are left."""
        with self._lock:
            now = self._clock()
            left = self._of(client, now)
            self._left.pop(client, None)
            self._left[client] = (left - units, now)
            if len(self._left) > CLIENTS:
                self._left.popitem(last=False)

    def _of(self, client: str, now: float) -> float:
        left, then = self._left.get(client, (self.burst, now))
        return min(self.burst, left + (now - then) * self.burst / self.seconds)


USER = "fairspace.user"
"""Key of a request's scope: the user, set by `identity`."""


def client(request: HTTPConnection) -> str:
    """The key of a rate limit: the user, or the address of a visitor."""
    user = request.scope.get(USER)
    return user.name if user else address(request)


def address(request: HTTPConnection) -> str:
    """The client's address by `Forwarded`; addresses of one IPv6 network count as one."""
    return network(request.client.host if request.client else "")


def network(peer: str) -> str:
    """The address that counts: itself, or its IPv6 network."""
    try:
        parsed = ipaddress.ip_address(peer)
    except ValueError:
        return peer
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)


THREADS = 8
Given = ParamSpec("Given")
Found = TypeVar("Found")
_LIMITER: RunVar[CapacityLimiter] = RunVar("threads for the store")
"""One per event loop."""


async def with_store(function: Callable[Given, Found], *arguments: Given.args, **named: Given.kwargs) -> Found:
    """Run a function that waits for the store in one of these threads."""
    limiter = _LIMITER.get(None)
    if limiter is None:
        limiter = CapacityLimiter(THREADS)
        _LIMITER.set(limiter)
    return await to_thread.run_sync(partial(function, *arguments, **named), limiter=limiter)


LOCAL = User("local")
HEADER = "x-fairspace-token"


def space_of(request: HTTPConnection) -> Space:
    """The Space that a request came to."""
    space: Space = request.app.state.space
    return space


def site_of(request: HTTPConnection) -> str:
    """The address of this Space, for code on other sites: the setting, or the listening address.

    Headers of the request are not trusted: answers are cached for others.
    """
    address = space_of(request).settings.site()
    if address:
        return address
    host, port = request.scope.get("server") or ("127.0.0.1", None)
    host = f"[{host}]" if ":" in host else host
    return f"{request.scope['scheme']}://{host}" + (f":{port}" if port not in (None, 80, 443) else "")


def current_user(request: HTTPConnection) -> User | None:
    """The user of a request; None for a visitor. SpaceError TOKEN_INVALID."""
    if USER not in request.scope:
        request.scope[USER] = None  # for the page that says that the token is not valid
        request.scope[USER] = _found(request)
    user: User | None = request.scope[USER]
    return user


def required_user(request: HTTPConnection) -> User:
    """The user of a request. SpaceError SIGN_IN_REQUIRED for a visitor."""
    user = current_user(request)
    if user is None:
        raise SpaceError("SIGN_IN_REQUIRED", "the request", "no user", "a signed-in user", "sign in, or send a token")
    return user


def is_maintainer(request: HTTPConnection, user: User) -> bool:
    """Whether a user may withdraw rows."""
    space = space_of(request)
    return user.name in space.settings.admins or (space.settings.insecure_local and user == LOCAL)


def token_of(request: HTTPConnection) -> str:
    """The Space's token in a request, '' for none. `Authorization` may hold a token of the Hub instead."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" and token.strip().startswith(MARK) else ""
    return request.headers.get(HEADER, "").strip() or bearer


def _found(request: HTTPConnection) -> User | None:
    space = space_of(request)
    if token := token_of(request):
        return space.tokens.user(token)
    session_user = request.scope.get("session", {}).get("user")
    is_revoked = session_user and space.state.is_revoked(session_user.get("id", ""), "", "-")
    if session_user and session_user["until"] > time.time() and not is_revoked:
        return User(session_user["name"], tuple(session_user["organisations"]))
    return LOCAL if space.settings.insecure_local else None


LOGIN, CALLBACK, LOGOUT = (f"/oauth/huggingface/{name}" for name in ("login", "callback", "logout"))


def signs_in() -> bool:
    """Whether users sign in at the Hub: in a Space with `hf_oauth: true`.

    Elsewhere huggingface_hub would sign everybody in as one user, with a forgeable cookie.
    """
    settings = (constants.OAUTH_CLIENT_ID, constants.OAUTH_CLIENT_SECRET, os.environ.get("SPACE_ID"))
    return all(settings) and bool(constants.OPENID_PROVIDER_URL and constants.OAUTH_SCOPES)


def check_local(settings: Settings) -> None:
    """UsageError for `insecure_local` in a Space."""
    if settings.insecure_local and os.environ.get("SPACE_ID"):
        raise UsageError("--insecure-local lets everybody submit: use it on your own machine only, not for a Space.")
