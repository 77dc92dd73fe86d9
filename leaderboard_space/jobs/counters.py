"""Prometheus counters of a worker; `metrics` gives them a registry."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

BEGUN = Counter("fairspace_jobs_begun", "Tries of jobs that were begun.", registry=None)
RETRIED = Counter("fairspace_jobs_retried", "Tries that ended their process and are to be made again.", registry=None)
ENDED = Counter(
    "fairspace_jobs_ended", "Attempts at submissions that ended, by what came of them.", ["outcome"], registry=None
)
SECONDS = Histogram(
    "fairspace_jobs_seconds",
    "How long a child process scored.",
    buckets=(1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600),
    registry=None,
)
