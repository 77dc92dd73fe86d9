"""Rate limits per client, and a thread pool for requests that wait for the store."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from starlette.requests import HTTPConnection

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
