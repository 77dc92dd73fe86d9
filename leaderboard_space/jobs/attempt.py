"""One try of a job: a child process scores the file, and the outcome goes into the log."""

from __future__ import annotations

import hashlib
import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import orjson

from fairspace.leaderboard_space.events import Draft
from fairspace.leaderboard_space.jobs.child import Ended, run_child, threads_of_user
from fairspace.leaderboard_space.jobs.counters import BEGUN, ENDED, RETRIED, SECONDS
from fairspace.leaderboard_space.jobs.limits import JobLimits
from fairspace.leaderboard_space.jobs.queue import TROUBLE, Job, JobQueue, Record
from fairspace.leaderboard_space.jobs.scoring import FAULTS, RESULT
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.result_events import result_draft
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import StorageError, submission_path
from fairspace.submissions.errors import UsageError
from fairspace.submissions.format.faults import Fault
from fairspace.submissions.results.result import Result
from fairspace.submissions.results.scoring import MAX_BYTES, load_result
from fairspace.submissions.uncertainty.resampling import SETTING as RESAMPLES

_LOG = logging.getLogger("fairspace.jobs")
SCRATCH = "scoring"
_LOST = ("STORE_MISSING", "STORE_CORRUPT")
_NICE = 10
"""Scoring gives way to those who read."""
_TORN = "could not be read: the stored file is not what was handed in"
_WORKER_DIED = "took its worker down with it"
_LONGEST_WAIT = 60.0
_T = TypeVar("_T")


class HaltedError(Exception):
    """The try must end without an outcome."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a child process: one of the three.

    Args:
        result: of a submission that was scored.
        faults: of one that was refused.
        reason: why there is neither.
        final: whether another try would come to the same.
    """

    result: Result | None = None
    faults: tuple[Fault, ...] = ()
    reason: str = ""
    final: bool = False


class Attempt:
    """A try at a job whose lease the worker has.

    Args:
        state: of the store.
        settings: limits.
        queue: keeps count of tries.
        job: what is tried.
        module: what the child runs.
        halt: set when the try is to end.
    """

    def __init__(
        self, state: State, settings: Settings, queue: JobQueue, job: Job, module: str, halt: threading.Event
    ) -> None:
        self.state, self.settings, self.queue = state, settings, queue
        self.job, self.module, self.halt = job, module, halt

    def run(self) -> None:
        """Try it once: it ends in the log, or is to be tried again. HaltedError: the try does not count."""
        submission = self._insist(self._submission)
        if submission is None:
            return
        before = self._insist(lambda: self.queue.records([self.job])).get(self.job, Record())
        if before.tries >= self.settings.tries:
            # The last try was counted and came to no end: whoever made it is gone.
            self._end(submission, Outcome(reason=before.reason or _WORKER_DIED), before.tries, 0.0)
            return
        tries = before.tries + 1
        self._insist(lambda: self.queue.note(self.job, Record(tries, now())))
        try:
            self._try(submission, tries)
        except HaltedError:
            self.queue.note(self.job, before)
            raise

    def _try(self, submission: Submission, tries: int) -> None:
        about: dict[str, str | int | float]
        about = {"id": self.job.id, "attempt": self.job.attempt, "tries": tries}
        BEGUN.inc()
        _LOG.info("a job was begun", extra=about)
        outcome, seconds = self._score(submission)
        if outcome.reason and not outcome.final and tries < self.settings.tries:
            self._insist(lambda: self.queue.note(self.job, Record(tries, now(), outcome.reason)))
            RETRIED.inc()
            _LOG.warning(
                "a job is to be tried again: it %s", outcome.reason, extra={**about, "seconds": round(seconds, 3)}
            )
        else:
            self._end(submission, outcome, tries, seconds)

    def _submission(self) -> Submission | None:
        """The submission that the job is about, if it still waits."""
        self.state.refresh()
        return waiting(self.state, self.job)

    def _score(self, submission: Submission) -> tuple[Outcome, float]:
        """Run the child process: its outcome and its seconds. HaltedError if it was stopped."""
        path = submission_path(submission.sha256)
        try:
            with ExitStack() as opened:
                file = self._insist(lambda: opened.enter_context(self.state.storage.local(path)))
                with file.open("rb") as stream:
                    if hashlib.file_digest(stream, "sha256").hexdigest() != submission.sha256:
                        return Outcome(reason=_TORN, final=True), 0.0
                name = f"{self.job.id}-{self.job.attempt}"
                folder = self._insist(lambda: opened.enter_context(scratch(self.settings, name)))
                ended = run_child(
                    self.module,
                    [str(file.resolve()), str(folder)],
                    folder,
                    limits(self.settings),
                    self.halt,
                    scoring_settings(self.settings),
                )
                if ended.halted:
                    raise HaltedError
                SECONDS.observe(ended.seconds)
                return read_outcome(ended, folder), ended.seconds
        except StorageError as error:
            return Outcome(reason=f"could not be read: {error.what}"), 0.0
        except OSError as error:
            return Outcome(reason=f"could not be begun: {error.strerror or error}"), 0.0

    def _end(self, submission: Submission, outcome: Outcome, tries: int, seconds: float) -> None:
        """Write the outcome of the attempt to the log."""
        job = {"id": self.job.id, "attempt": self.job.attempt, "tries": tries}
        key = f"ended:{self.job.id}:{self.job.attempt}"
        if self._insist(self._submission) is None:
            _LOG.warning("a job was ended by another worker first", extra=job)
            self.queue.forget(self.job)
            return
        if outcome.result is not None:
            draft, files = result_draft(outcome.result, submission.user, submission.organisation)
            summary = {"key": draft.body["key"], "entry": draft.body["entry"], "same": self._same(submission, draft)}
            drafts, name = [draft, Draft("scored", key, job | summary)], "scored"
        elif outcome.faults:
            faults = [fault.to_json() for fault in outcome.faults]
            drafts, files, name = [Draft("refused", key, job | {"faults": faults})], {}, "refused"
        else:
            times = f"It was tried {tries} times; the last time it" if tries > 1 else "It"
            drafts, files, name = [Draft("failed", key, job | {"reason": f"{times} {outcome.reason}."})], {}, "failed"
        self._insist(lambda: self.state.storage.append(drafts, files))
        self._insist(self.state.refresh)
        ENDED.labels(name).inc()
        self.queue.forget(self.job)
        about = {**job, "outcome": name, "seconds": round(seconds, 3)}
        _LOG.info("a job ended", extra=about | ({"reason": outcome.reason} if outcome.reason else {}))

    def _same(self, submission: Submission, draft: Draft) -> bool:
        """Whether the result was in the log before, other than from an interrupted try of this job."""
        event = self.state.storage.find(draft.key)
        if event is None:
            return False
        others = (other for other in self.state.submissions() if other.id != submission.id)
        return event.body["user"] != submission.user or any(other.result == draft.body["key"] for other in others)

    def _insist(self, call: Callable[[], _T]) -> _T:
        """Repeat a call until storage and queue work. HaltedError; StorageError for lost data."""
        pause = 1.0
        while not self.halt.is_set():
            try:
                return call()
            except TROUBLE as error:
                if isinstance(error, StorageError) and error.code in _LOST:
                    raise
                _LOG.warning("a job waits: %s", error, extra={"id": self.job.id, "attempt": self.job.attempt})
                self.halt.wait(pause)
                pause = min(2 * pause, _LONGEST_WAIT)
        raise HaltedError


def waiting(state: State, job: Job) -> Submission | None:
    """The submission of a job, if it still waits."""
    submission = state.submission(job.id)
    return submission if submission and submission.attempt == job.attempt and submission.outcome == "waiting" else None


def scoring_settings(settings: Settings) -> dict[str, str]:
    """Environment variables of a job's process."""
    return {RESAMPLES: str(settings.resamples)}


def limits(settings: Settings) -> JobLimits:
    """Resource limits of a job."""
    return JobLimits(
        settings.scoring_memory,
        settings.scoring_cpu_seconds,
        settings.scoring_seconds,
        settings.scoring_file_bytes,
        threads=threads_of_user(),
        nice=_NICE,
    )


def now() -> str:
    """The time as `Event.time` has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextmanager
def scratch(settings: Settings, name: str) -> Iterator[Path]:
    """An empty folder for a child, gone afterwards; where a killed worker left it behind, the next try clears it."""
    folder = (settings.work / SCRATCH / name).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_outcome(ended: Ended, folder: Path) -> Outcome:
    """The outcome that a child process wrote."""
    if ended.reason:
        _LOG.warning("a child ended: it %s", ended.reason, extra={"output": ended.output})
        return Outcome(reason=ended.reason, final=ended.beyond)
    try:
        faults = folder / FAULTS
        if faults.is_file() and faults.stat().st_size <= MAX_BYTES:
            return Outcome(faults=tuple(Fault(**fault) for fault in orjson.loads(faults.read_bytes())))
        return Outcome(result=load_result(folder / RESULT))
    except (UsageError, ValueError, TypeError) as error:
        _LOG.warning("a child left no outcome: %s", error, extra={"output": ended.output})
        return Outcome(reason="ended without a result")
