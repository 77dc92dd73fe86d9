"""What the pages show of the queue: the order of the submissions, which of them run, and how often each was tried."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from fairspace.leaderboard_space.jobs.fairness import fair_order
from fairspace.leaderboard_space.jobs.queue import QUEUE_ERRORS, Job, JobQueue, Record
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.state import State

Stage = Literal["queued", "running", "retried", "ended"]
_LOG = logging.getLogger("fairspace.jobs")


@dataclass(frozen=True)
class Progress:
    """Progress of a submission.

    Args:
        stage: `retried` waits again after a try that ended its process.
        position: from 1, of those that wait; 0 for one that does not.
        tries: how often it was begun.
        since: when the stage began, as `Event.time`.
    """

    stage: Stage
    position: int = 0
    tries: int = 0
    since: str = ""


@dataclass(frozen=True)
class _Snapshot:
    """The queue at a moment: waiting jobs in order, running jobs, and their records."""

    order: list[str] = field(default_factory=list)
    running: frozenset[Job] = frozenset()
    records: dict[Job, Record] = field(default_factory=dict)

    @cached_property
    def positions(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.order, 1)}


class QueueView:
    """The queue as it was a moment ago.

    Args:
        state: what waits.
        queue: what runs; `QUEUE_ERRORS` if it cannot be opened.
        seconds: for which a snapshot serves.
    """

    def __init__(self, state: State, queue: Callable[[], JobQueue], seconds: float) -> None:
        self.state, self._queue, self._seconds = state, queue, seconds
        self._lock = threading.Lock()
        self._taken: tuple[float, _Snapshot] | None = None

    def forget(self) -> None:
        """Take a new snapshot when the next one is needed."""
        self._taken = None

    def progress(self, submission: Submission) -> Progress:
        """Progress of a submission."""
        if submission.outcome != "waiting":
            return Progress("ended", tries=submission.tries, since=submission.ended)
        snapshot = self._snapshot()
        job = Job(submission.id, submission.attempt)
        record = snapshot.records.get(job, Record())
        if job in snapshot.running:
            return Progress("running", 0, record.tries, record.since)
        position = snapshot.positions.get(job.id, len(snapshot.order) + 1)
        if record.tries or record.interrupted:
            return Progress("retried", position, record.tries, record.since)
        return Progress("queued", position, 0, submission.accepted)

    def waiting(self) -> list[str]:
        """Ids of the waiting submissions, the next one first."""
        return list(self._snapshot().order)

    def held_up(self) -> set[str]:
        """Ids of the submissions that wait because of an error of this Space."""
        return {job.id for job, record in self._snapshot().records.items() if record.interrupted}

    def running(self) -> int:
        """Number of running jobs, over all workers."""
        return len(self._snapshot().running)

    def _snapshot(self) -> _Snapshot:
        with self._lock:
            at = time.monotonic()
            if self._taken is None or at - self._taken[0] > self._seconds:
                self._taken = at, self._look()
            return self._taken[1]

    def _look(self) -> _Snapshot:
        jobs = waiting_jobs(self.state)
        try:
            running = frozenset(self._queue().leases(jobs))
            records = self._queue().records(jobs)
        except QUEUE_ERRORS as error:
            _LOG.warning("the queue cannot be read: %s", error)
            return _Snapshot([job.id for job in jobs])
        return _Snapshot([job.id for job in jobs if job not in running], running, records)


def waiting_jobs(state: State) -> list[Job]:
    """The jobs of all submissions that wait by the log, the next one first."""
    return [Job(submission.id, submission.attempt) for submission in fair_order(state.submissions())]
