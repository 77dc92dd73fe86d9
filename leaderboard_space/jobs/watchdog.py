"""Finds leases that are no longer renewed: their workers are gone or too slow."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from fairspace.leaderboard_space.jobs.queue import Job, Lease


class Watchdog:
    """Watches the counters of leases with a monotonic clock.

    Args:
        patience: seconds after which a lease that does not count on stands still.
        clock: seconds that only grow.
    """

    def __init__(self, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience, self._clock = patience, clock
        self._seen: dict[Job, tuple[Lease, float]] = {}

    def still(self, leases: Mapping[Job, Lease]) -> dict[Job, Lease]:
        """The leases whose counter has not changed for longer than the patience."""
        at = self._clock()
        seen = {job: self._seen[job][1] for job in leases if job in self._seen and self._seen[job][0] == leases[job]}
        self._seen = {job: (lease, seen.get(job, at)) for job, lease in leases.items()}
        return {job: lease for job, (lease, since) in self._seen.items() if at - since > self._patience}
