"""What all workers of a queue did, counted in the queue's store, so that `/metrics` of the Space tells all of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

BEGUN, RETRIED, ENDED, SECONDS = "begun", "retried", "ended:", "seconds:"
BOUNDS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
"""Upper bounds of the classes of seconds that a child process scored."""
MILLISECONDS = "milliseconds"


def seconds_counts(seconds: float) -> dict[str, int]:
    """Counter -> how far a child process that ended moves it on."""
    return {f"{SECONDS}{bisect_left(BOUNDS, seconds)}": 1, MILLISECONDS: round(1000 * seconds)}


def job_metrics(counts: Mapping[str, int]) -> Iterator[Metric]:
    """The counters in Prometheus' families."""
    begun, retried = "Tries of jobs that were begun.", "Tries that ended their process and are to be made again."
    yield CounterMetricFamily("fairspace_jobs_begun", begun, value=counts.get(BEGUN, 0))
    yield CounterMetricFamily("fairspace_jobs_retried", retried, value=counts.get(RETRIED, 0))
    about = "Attempts at submissions that ended, by what came of them."
    ended = CounterMetricFamily("fairspace_jobs_ended", about, labels=["outcome"])
    for name, count in sorted(counts.items()):
        if name.startswith(ENDED):
            ended.add_metric([name.removeprefix(ENDED)], count)
    yield ended
    classes = accumulate(counts.get(f"{SECONDS}{place}", 0) for place in range(len(BOUNDS) + 1))
    buckets = list(zip((*(f"{bound}.0" for bound in BOUNDS), "+Inf"), classes, strict=True))
    total = counts.get(MILLISECONDS, 0) / 1000
    yield HistogramMetricFamily("fairspace_jobs_seconds", "How long a child process scored.", buckets, total)
