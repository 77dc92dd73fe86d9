"""Prometheus metrics at `/metrics`: requests of this process, jobs of all workers, store, queue and machine."""

from __future__ import annotations

import math
import shutil
import threading
import time
from collections import Counter as Count
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from fairspace.leaderboard_space.jobs.counters import job_metrics
from fairspace.leaderboard_space.space import Space
from fairspace.submissions.benchmarks.registry import NAMES

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 60)
"""Upper bounds of the classes of seconds."""
KEPT_SECONDS = 1.0
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Metrics:
    """The metrics of one Space, in a registry of their own.

    Args:
        space: whose store and queue are told.

    `last` is when the last request ended, in monotonic seconds.
    """

    def __init__(self, space: Space) -> None:
        self.registry = CollectorRegistry()
        self.last = -math.inf
        self._lock, self._recent = threading.Lock(), (-math.inf, b"")
        self._requests = Counter(
            "fairspace_requests", "Requests that were answered.", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "fairspace_request_seconds",
            "Seconds until an answer had gone.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._refusals = Counter(
            "fairspace_refusals", "Requests that were refused, by code.", ("code",), registry=self.registry
        )
        self._store_errors = Counter(
            "fairspace_store_errors", "What the storage could not do, by code.", ("code",), registry=self.registry
        )
        ProcessCollector(registry=self.registry)
        self.registry.register(_Now(space))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.last = time.monotonic()
        self._requests.labels(method if method in METHODS else "other", route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def refused(self, code: str) -> None:
        """Count a refusal; uploads that are refused have codes of their own."""
        self._refusals.labels(code).inc()

    def store_error(self, code: str) -> None:
        """Count an error of the storage."""
        self._store_errors.labels(code).inc()

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self.registry)

    def recent(self) -> bytes:
        """As `text`, cached for a moment."""
        with self._lock:
            if time.monotonic() - self._recent[0] > KEPT_SECONDS:
                self._recent = time.monotonic(), self.text()
            return self._recent[1]


class _Now:
    """Gauges that are read at each request.

    Args:
        space: whose.
    """

    def __init__(self, space: Space) -> None:
        self.space = space

    def describe(self) -> list[Metric]:
        """No metrics, so that registering reads nothing."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The gauges."""
        state, settings = self.space.state, self.space.settings
        yield _gauge("fairspace_events", "Number of the last event of the log.", state.number)
        rows = GaugeMetricFamily("fairspace_rows", "Rows of a board, withdrawn ones left out.", labels=("benchmark",))
        for name in NAMES:
            rows.add_metric((name,), len(state.board(name)))
        yield rows
        jobs = GaugeMetricFamily("fairspace_submissions", "Submissions by what became of them.", labels=("outcome",))
        for outcome, number in sorted(Count(submission.outcome for submission in state.submissions()).items()):
            jobs.add_metric((outcome,), number)
        yield jobs
        yield from job_metrics(self.space.jobs.counts())
        yield _gauge("fairspace_queue_length", "Submissions that wait.", len(self.space.jobs.waiting()))
        settings.work.mkdir(parents=True, exist_ok=True)
        yield _gauge("fairspace_disk_free_bytes", "Room in the working folder.", shutil.disk_usage(settings.work).free)


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, about, value=value)
