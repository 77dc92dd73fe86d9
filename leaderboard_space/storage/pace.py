"""A rate limit per hour: a fifth of the calls may come at once, the rest is spread evenly."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """A token bucket that allows at most `an_hour` calls in any hour.

    Args:
        an_hour: calls in an hour; a fifth of them may come at once.
        clock: seconds.
    """

    def __init__(self, an_hour: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._most = max(1.0, an_hour // 5)
        self._a_second = max(1.0, an_hour - self._most) / 3600
        self._left, self._at = self._most, clock()

    def wait(self) -> float:
        """Seconds until a token is free."""
        self._fill()
        return max(0.0, 1 - self._left) / self._a_second

    def take(self) -> None:
        """Spend one token, even if none is free."""
        self._fill()
        self._left = max(0.0, self._left - 1)

    def _fill(self) -> None:
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._a_second)
        self._at = now
