"""What workers did is counted whichever process they are, and a queue that is gone costs no job."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from fairspace.leaderboard_space.jobs.counters import BEGUN, job_metrics, seconds_counts
from fairspace.leaderboard_space.jobs.queue import JobQueue
from tests.leaderboard_space.jobs.spaces import settings


def test_workers_of_one_queue_count_together(tmp_path: Path) -> None:
    about = settings(tmp_path)
    workers = [JobQueue(about, lambda job: None) for _ in range(2)]
    for worker, seconds in zip(workers, (0.5, 3.25), strict=True):
        worker.count({BEGUN: 1, "ended:scored": 1} | seconds_counts(seconds))
    web = JobQueue(about, lambda job: None)

    class Jobs(Collector):
        def collect(self) -> list[Metric]:
            return list(job_metrics(web.counts()))

    registry = CollectorRegistry()
    registry.register(Jobs())
    text = generate_latest(registry).decode()
    for line in (
        "fairspace_jobs_begun_total 2.0",
        "fairspace_jobs_retried_total 0.0",
        'fairspace_jobs_ended_total{outcome="scored"} 2.0',
        'fairspace_jobs_seconds_bucket{le="1.0"} 1.0',
        'fairspace_jobs_seconds_bucket{le="5.0"} 2.0',
        'fairspace_jobs_seconds_bucket{le="+Inf"} 2.0',
        "fairspace_jobs_seconds_count 2.0",
        "fairspace_jobs_seconds_sum 3.75",
    ):
        assert f"\n{line}\n" in text, text
