"""The jobs of a Space: accepted submissions wait here until they are scored, refused or failed.

The log is the truth: whatever waits by the log, and neither stands in the queue nor is in a worker's hands, is put into
the queue again, at the start and ever after. A file is looked at before its submission is put there.
"""

from __future__ import annotations

import fcntl
import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO

from huey.consumer import Consumer

from fairspace.leaderboard_space.jobs.attempt import Attempt, HaltedError, pause, waiting
from fairspace.leaderboard_space.jobs.baselines import LEASE, BaselineJobs
from fairspace.leaderboard_space.jobs.bundled import add_shipped
from fairspace.leaderboard_space.jobs.counters import ENDED
from fairspace.leaderboard_space.jobs.prechecks import PRECHECKING, Prechecks
from fairspace.leaderboard_space.jobs.queue import QUEUE_ERRORS, TROUBLE, Job, JobQueue, Record
from fairspace.leaderboard_space.jobs.view import Progress, QueueView, waiting_jobs
from fairspace.leaderboard_space.jobs.watchdog import Watchdog
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State

SCORING = "fairspace.leaderboard_space.jobs.scoring"
LOCK = "workers.lock"
_LOG = logging.getLogger("fairspace.jobs")
_KILL_SECONDS = 10.0


@dataclass(frozen=True)
class Timing:
    """Intervals of the workers' tasks, in seconds.

    Args:
        beat: leases count on.
        sweep: the log is looked through.
        patience: until a lease that does not count on is taken back; longer than `beat` of every worker.
        poll: an idle worker looks into the queue.
        look: for which a view of the queue serves the pages.
    """

    beat: float = 1.0
    sweep: float = 3.0
    patience: float = 15.0
    poll: float = 0.5
    look: float = 0.5


class Jobs:
    """The queue of a Space and its workers.

    Args:
        state: of the store; its storage keeps what is accepted.
        settings: where the queue lies, workers, limits of a job.
        module: what the child process of a job runs.
        prechecking: what the look at a file before it is queued runs; '' for no look.
        timing: of the workers.
    """

    def __init__(
        self,
        state: State,
        settings: Settings,
        *,
        module: str = SCORING,
        prechecking: str = PRECHECKING,
        timing: Timing | None = None,
    ) -> None:
        self.state, self.settings, self.module = state, settings, module
        self.timing = timing or Timing()
        self.worker = uuid.uuid4().hex
        self._watchdog = Watchdog(self.timing.patience)
        self._stopping, self._stopped = threading.Event(), threading.Event()
        self._running: dict[Job, threading.Event] = {}
        self._interrupted: dict[tuple[Job, int], float] = {}
        self._threads: list[threading.Thread] = []
        self._consumer: Consumer | None = None
        self._gives_way: threading.Event | None = None
        self._lock_file: IO[bytes] | None = None
        self._health, self._opening = threading.Lock(), threading.Lock()
        self._queue: JobQueue | None = None
        self._told = 0.0
        self._prechecks = Prechecks(state, settings, prechecking) if prechecking else None
        self._handed_in = threading.Event()
        self.view = QueueView(state, lambda: self.queue, self.timing.look)

    @property
    def queue(self) -> JobQueue:
        """The queue. Errors: `QUEUE_ERRORS` if it cannot be opened; the next access tries again."""
        with self._opening:
            if self._queue is None:
                self._queue = JobQueue(self.settings, self._work)
            return self._queue

    def put(self, submission: Submission) -> None:
        """Let a submission be looked at, and then scored. Putting the same attempt twice is no harm."""
        self._handed_in.set()
        try:
            self._put_checked([Job(submission.id, submission.attempt)])
        except QUEUE_ERRORS as error:
            _LOG.warning("a job is not queued yet: %s", error, extra={"id": submission.id})
        self.view.forget()

    def start(self) -> None:
        """Queue the submissions that wait according to the log, and start the workers; an unopened queue is retried."""
        self._safely(self._begin_to_work)
        self._begin("sweep", self._sweep_on)
        if self.settings.workers:
            self._begin("beat", self._beat_on)
            if self._prechecks is not None:
                self._begin("prechecks", self._precheck_on)
            if self.settings.baselines:
                self._begin("baselines", self._score_baselines)

    def take_no_more(self) -> None:
        """Take no further job; running jobs continue."""
        with self._health:
            if not self._stopping.is_set():
                self._told = time.monotonic()
            self._stopping.set()
            self._handed_in.set()
        if (baselines := self._running.get(LEASE)) is not None:
            baselines.set()
        if self._consumer is not None:
            self._consumer.stop()

    def stop(self, seconds: float = 20.0) -> None:
        """Take no further job and wait some seconds for running ones; the next start resumes the rest.

        The seconds count from when they were told to take no more.
        """
        self.take_no_more()
        seconds -= time.monotonic() - self._told
        if self._consumer is not None:
            workers = [thread for _, thread in self._consumer.worker_threads]
            _join(workers, seconds)
            for halt in list(self._running.values()):
                halt.set()
            _join(workers, _KILL_SECONDS)
        self._stopped.set()
        _join(list(self._threads), _KILL_SECONDS)
        if self._lock_file is not None:
            self._lock_file.close()
        if self._queue is not None:
            self._queue.huey.storage.close()

    def progress(self, submission: Submission) -> Progress:
        """See `QueueView.progress`."""
        return self.view.progress(submission)

    def waiting(self) -> list[str]:
        """See `QueueView.waiting`."""
        return self.view.waiting()

    def held_up(self) -> set[str]:
        """See `QueueView.held_up`."""
        return self.view.held_up()

    def running(self) -> int:
        """See `QueueView.running`."""
        return self.view.running()

    def alive(self) -> bool:
        """Whether all threads of this process run."""
        threads = list(self._threads)
        if self._consumer is not None:
            threads += [thread for _, thread in self._consumer.worker_threads]
        elif threads and self.settings.workers:
            return False
        return all(thread.is_alive() for thread in threads)

    def counts(self) -> dict[str, int]:
        """What all workers of the queue did, by the names of `counters`; nothing if the queue cannot be read."""
        try:
            return self.queue.counts()
        except QUEUE_ERRORS as error:
            _LOG.warning("the counters cannot be read: %s", error)
            return {}

    def _work(self, queued: Job) -> None:
        """What a worker does when it took a job out of the queue: the next job in the order that is fair to all."""
        if self._stopping.is_set():
            self.queue.put(queued)
            return
        self._safely(self.state.refresh)
        job = self._take_next()
        if job is None:
            return  # the sweep queues again what pauses
        halt = self._running[job] = threading.Event()
        if (baseline := self._gives_way) is not None:
            baseline.set()
        try:
            Attempt(self.state, self.settings, self.queue, job, self.module, halt).run()
        except HaltedError:
            _LOG.info("a job was halted", extra={"id": job.id, "attempt": job.attempt})
        finally:
            del self._running[job]
            self.queue.release(job, self.worker)
        if waiting(self.state, job):
            self.queue.put(job)

    def _take_next(self) -> Job | None:
        """Take the lease of the next job that nobody has; None if there is none."""
        jobs = waiting_jobs(self.state)
        leases, checked = self.queue.leases(jobs), self._checked(jobs)
        for job in jobs:
            if job in checked and job not in leases and not self._pauses(job) and self.queue.take(job, self.worker):
                return job
        return None

    def _checked(self, jobs: Collection[Job]) -> set[Job]:
        """The jobs whose files were looked at and may be scored."""
        return set(jobs) if self._prechecks is None else self.queue.checked(jobs)

    def _put_checked(self, jobs: Collection[Job]) -> None:
        """Queue the jobs whose files were looked at."""
        checked = self._checked(jobs)
        self.queue.put(*(job for job in jobs if job in checked))

    def _precheck_on(self) -> None:
        """Look at the files of waiting submissions, one after the other, beside the workers."""
        while not self._stopping.is_set():
            self._handed_in.wait(self.timing.sweep)
            self._handed_in.clear()
            self._safely(self._precheck)

    def _precheck(self) -> None:
        jobs = waiting_jobs(self.state)
        checked = self._checked(jobs)
        for job in jobs:
            look = Job(f"check-{job.id}", job.attempt)
            if job in checked or self._prechecks is None or not self.queue.take(look, self.worker):
                continue
            halt = self._running[look] = threading.Event()
            try:
                if self._stopping.is_set():
                    return
                self.state.refresh()
                if not waiting(self.state, job):
                    continue  # another process looked at it, and ended it
                if self._prechecks.passes(job, halt):
                    self.queue.mark_checked(job)
                    self.queue.put(job)
                elif not waiting(self.state, job):
                    self.queue.count({f"{ENDED}refused": 1})
            finally:
                del self._running[look]
                self.queue.release(look, self.worker)

    def _pauses(self, job: Job) -> bool:
        """Whether a job pauses after an interruption, by this worker's clock from when it was first seen here."""
        interrupted = self.queue.records([job]).get(job, Record()).interrupted
        if not interrupted:
            return False
        since = self._interrupted.setdefault((job, interrupted), time.monotonic())
        return time.monotonic() - since < pause(interrupted)

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=f"jobs-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _beat_on(self) -> None:
        """Renew this process's leases; stop a try whose lease was taken back."""
        while not self._stopped.wait(self.timing.beat):
            for job, halt in list(self._running.items()):
                try:
                    if not self.queue.beat(job, self.worker):
                        halt.set()
                except QUEUE_ERRORS as error:
                    _LOG.warning("a lease cannot count on: %s", error, extra={"id": job.id})

    def _sweep_on(self) -> None:
        while not self._stopping.wait(self.timing.sweep):
            self._safely(self.state.refresh)  # the pages show it, whatever the queue does
            self._safely(self._begin_to_work if self._consumer is None and self.settings.workers else self._sweep)
            with self._health:
                if self._consumer is not None and not self._stopping.is_set():
                    self._consumer.check_worker_health()

    def _begin_to_work(self) -> None:
        if self.settings.workers and not self.settings.queue and self._lock_file is None:
            self._forget_the_dead()
        self._safely(self._sweep)
        if self.settings.workers:
            consumer = _Consumer(
                self.queue.huey,
                workers=self.settings.workers,
                periodic=False,
                max_delay=self.timing.poll,
                scheduler_interval=60,
            )
            with self._health:
                if not self._stopping.is_set():
                    consumer.start()
                    self._consumer = consumer

    def _score_baselines(self) -> None:
        """Add the shipped results, and score the bundled baselines while nothing waits; a job ends the one in hand."""
        self._safely(lambda: add_shipped(self.state))
        baselines = BaselineJobs(self.state, self.settings)
        while not self._stopping.wait(self.timing.poll) and baselines.pending():
            try:
                if not self.waiting() and not self.running() and self.queue.take(LEASE, self.worker):
                    self._score_baseline(baselines)
            except TROUBLE as error:
                _LOG.warning("a baseline was not scored: %s", error)
                self._stopping.wait(self.timing.patience)
        # Nothing is left to do: whether this thread is alive tells nothing any more.
        self._threads.remove(threading.current_thread())

    def _score_baseline(self, baselines: BaselineJobs) -> None:
        """Score one baseline under its lease, and return the lease."""
        halt = self._running[LEASE] = threading.Event()
        try:
            about = baselines.next()
            if about is not None and not self._stopping.is_set():
                self._gives_way = halt if baselines.gives_way(about) else None
                baselines.score(about, halt)
        finally:
            self._gives_way = None
            del self._running[LEASE]
            self.queue.release(LEASE, self.worker)

    def _safely(self, work: Callable[[], object]) -> None:
        try:
            work()
        except TROUBLE as error:
            _LOG.warning("queue or log were not looked through: %s", error)

    def _sweep(self) -> None:
        """Queue waiting submissions that no worker has; take back leases that are no longer renewed."""
        kept = self.queue.kept()
        self.state.refresh()
        jobs = waiting_jobs(self.state)
        leases = self.queue.leases(kept | {*jobs, LEASE})
        for job, lease in self._watchdog.still(leases).items():
            _LOG.warning("a job's worker is gone", extra={"id": job.id, "attempt": job.attempt, "worker": lease.worker})
            self.queue.release(job, lease.worker)
            del leases[job]
        for job in kept:
            if job not in leases and self._has_ended(job):
                self.queue.forget(job)
        self._put_checked([job for job in jobs if job not in leases])

    def _has_ended(self, job: Job) -> bool:
        """Whether the log has the outcome of a job; an unknown job may have been accepted just now."""
        submission = self.state.submission(job.id)
        return submission is not None and (submission.attempt > job.attempt or submission.outcome != "waiting")

    def _forget_the_dead(self) -> None:
        """Release leases of dead workers: no other process holds the lock of this queue."""
        self.settings.work.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            lock = opened.enter_context((self.settings.work / LOCK).open("wb"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                for job, lease in self.queue.leases(self.queue.kept()).items():
                    self.queue.release(job, lease.worker)
            fcntl.flock(lock, fcntl.LOCK_SH)
            self._lock_file = lock
            opened.pop_all()


class _Consumer(Consumer):
    """Workers in threads of a process whose signals somebody else handles."""

    def _set_signal_handlers(self) -> None:
        pass


def _join(threads: list[threading.Thread], seconds: float) -> None:
    """Wait for threads, for some seconds in all."""
    until = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
