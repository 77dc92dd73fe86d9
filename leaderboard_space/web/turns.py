"""Turns at making answers: few at a time, and clients take them one after another, however much each asks for."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Turns:
    """Places for what takes the processor, given to the clients in rotation.

    Args:
        places: that are taken at a time.
        each: of one client.
        clock: monotonic seconds.
    """

    def __init__(self, places: int, each: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self.places, self.each, self._clock = places, each, clock
        self._taken: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, client: str, spend: Callable[[float], None] = lambda seconds: None) -> AsyncIterator[None]:
        """Wait for a place and hold it; at the end, spend the client's part of the seconds.

        Args:
            client: who asks.
            spend: takes the seconds for which the place was held, divided by the places that were taken.
        """
        await self._enter(client)
        began, beside = self._clock(), self._taken.total()
        try:
            yield
        finally:
            spend((self._clock() - began) / max(1.0, (beside + self._taken.total()) / 2))
            self._leave(client)

    async def _enter(self, client: str) -> None:
        if client not in self._waiting and self._may(client):
            self._taken[client] += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # it was given at the same moment
                self._leave(client)
            raise

    def _may(self, client: str) -> bool:
        return self._taken.total() < self.places and self._taken[client] < self.each

    def _leave(self, client: str) -> None:
        self._taken[client] -= 1
        if not self._taken[client]:
            del self._taken[client]
        self._give()

    def _give(self) -> None:
        """Give free places to those who wait, the client first that has waited longest since its last one."""
        for client in list(self._waiting):
            queue = self._waiting[client]
            while queue and queue[0].done():  # who asked has left
                queue.popleft()
            if queue and self._may(client):
                self._taken[client] += 1
                queue.popleft().set_result(None)
                self._waiting.move_to_end(client)
            if not queue:
                del self._waiting[client]
