"""One try of a job: a child process scores the file, and the outcome goes into the log; and the records of tries.

The log says what waits. The file of records outlives the process, so that a job that ends its process is not tried for
ever; it can be lost: then a job is tried from the beginning.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import orjson

from fairspace.leaderboard_space.events import Draft, clock
from fairspace.leaderboard_space.jobs.child import (
    Outcome,
    limits,
    read_faults,
    read_outcome,
    run_child,
    scoring_settings,
    scratch,
)
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.result_events import result_draft
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import StorageError, submission_path
from fairspace.submissions.checking.names import look_alikes, taken_names
from fairspace.submissions.checking.structure import too_costly
from fairspace.submissions.format.faults import Fault

FILE = "tries.json"
INTERRUPTED = "was interrupted by an error of this Space"
TROUBLE: tuple[type[Exception], ...] = (StorageError, OSError)
"""Errors of the store and of the working folder that may be over when it is tried again later."""
_LOG = logging.getLogger("fairspace.jobs")
LOST = ("STORE_MISSING", "STORE_CORRUPT")
"""Codes of files that no later read brings back."""
_TORN = "could not be read: the stored file is not what was handed in"
INTERRUPTIONS = 10
"""After so many it is given up: the pauses between them come to three hours."""
_LONGEST_WAIT, _LONGEST_PAUSE = 60.0, 3600.0
_T = TypeVar("_T")
PRECHECKING = "fairspace.leaderboard_space.jobs.prechecking"
_WALL = 30
"""Seconds that a look may last for each second of the processor, on a machine that is busy."""


@dataclass(frozen=True, order=True)
class Job:
    """One attempt at a submission.

    Args:
        attempt: from 1.
    """

    id: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.id}:{self.attempt}"


@dataclass(frozen=True)
class Record:
    """Record of the tries of a job.

    Args:
        tries: begun, without those that an error of ours ended.
        since: when the last one began, or ended and the job waits again, as `Event.time`.
        reason: how the last one ended, '' for none or one that runs.
        interrupted: how many an error of ours ended: of the worker, of its process, or of the machine.
        checked: whether the file was looked at, and may be scored.
    """

    tries: int = 0
    since: str = ""
    reason: str = ""
    interrupted: int = 0
    checked: bool = False


class Tries:
    """The records of the jobs that wait. Safe for several threads."""

    def __init__(self, folder: Path) -> None:
        self._file, self._lock = folder / FILE, threading.Lock()
        self._records = _read(self._file)

    def of(self, job: Job) -> Record:
        """The record of a job, an empty one for a job that was not begun."""
        return self._records.get(job, Record())

    def note(self, job: Job, record: Record) -> None:
        """Keep the record of a job."""
        with self._lock:
            self._records = {**self._records, job: record}
            self._write()

    def forget(self, jobs: Iterable[Job]) -> None:
        """Drop the records of jobs that have ended."""
        with self._lock:
            left = self._records.keys() - set(jobs)
            if len(left) < len(self._records):
                self._records = {job: self._records[job] for job in left}
                self._write()

    def kept(self) -> set[Job]:
        """The jobs with records."""
        return set(self._records)

    def _write(self) -> None:
        data = {str(job): asdict(record) for job, record in self._records.items()}
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part = self._file.with_suffix(".part")
            part.write_bytes(orjson.dumps(data))
            part.replace(self._file)
        except OSError as error:  # this process knows them all the same
            _LOG.warning("the records of tries are not kept: %s", error)


def _read(file: Path) -> dict[Job, Record]:
    """The records that another process left: a try that came to no end was interrupted by the end of its worker."""
    try:
        data = {name.rpartition(":"): Record(**record) for name, record in orjson.loads(file.read_bytes()).items()}
        records = {Job(start, int(attempt)): record for (start, _, attempt), record in data.items()}
        return {job: _ended(record) for job, record in records.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        _LOG.warning("the records of tries cannot be read, and begin anew: %s", error)
        return {}


def _ended(record: Record) -> Record:
    if not record.tries or record.reason:
        return record
    return replace(record, tries=record.tries - 1, reason=INTERRUPTED, interrupted=record.interrupted + 1)


def waiting(state: State, job: Job) -> Submission | None:
    """The submission of a job, if it still waits."""
    submission = state.submission(job.id)
    return submission if submission and submission.attempt == job.attempt and submission.outcome == "waiting" else None


class HaltedError(Exception):
    """The try must end without an outcome."""


class ChildKilledError(Exception):
    """Somebody else killed the child: the system, a maintainer, or the end of its worker."""


class Attempt:
    """A try at a job that its worker has taken.

    Args:
        settings: limits.
        tries: their records.
        halt: set when the try is to end.
    """

    def __init__(
        self, state: State, settings: Settings, tries: Tries, job: Job, module: str, halt: threading.Event
    ) -> None:
        self.state, self.settings, self.tries = state, settings, tries
        self.job, self.module, self.halt = job, module, halt

    def run(self) -> None:
        """Try it once: it ends in the log, or is to be tried again. HaltedError: the try does not count.

        What the file did not cause counts as an interruption, and not as a try: an exception here, a child that could
        not be started or that was killed from outside, and a worker that is gone.
        """
        submission = self._insist(self._submission)
        if submission is None:
            return
        before = self.tries.of(self.job)
        if before.interrupted >= INTERRUPTIONS:
            reason = f"was interrupted {before.interrupted} times by errors of this Space"
            self._end(submission, Outcome(reason=reason, ours=True), max(before.tries, 1), 0.0)
            return
        tries = before.tries + 1
        self._note(tries, "", before.interrupted)
        try:
            self._try(submission, tries, before.interrupted)
        except HaltedError:
            self.tries.note(self.job, before)
            raise
        except Exception:  # noqa: BLE001 - whatever breaks in a worker, the submitter did not cause it
            context = {"id": self.job.id, "attempt": self.job.attempt, "code": "OUR_FAULT"}
            _LOG.exception("a job was interrupted by an error of this Space", extra=context)
            self._note(before.tries, INTERRUPTED, before.interrupted + 1)

    def _note(self, tries: int, reason: str, interrupted: int) -> None:
        self.tries.note(self.job, Record(tries, clock(), reason, interrupted, checked=True))

    def _try(self, submission: Submission, tries: int, interrupted: int) -> None:
        about: dict[str, str | int | float]
        about = {"id": self.job.id, "attempt": self.job.attempt, "tries": tries}
        _LOG.info("a job was begun", extra=about)
        outcome, seconds = self._score(submission)
        if outcome.reason and not outcome.final and tries < self.settings.tries:
            self._note(tries, outcome.reason, interrupted)
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
                        return Outcome(reason=_TORN, final=True, ours=True), 0.0
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
                if ended.killed:
                    raise ChildKilledError(f"the child {ended.reason}")
                return read_outcome(ended, folder, self.settings.secret), ended.seconds
        except StorageError as error:
            return Outcome(reason=f"could not be read: {error.what}", ours=True), 0.0

    def _end(self, submission: Submission, outcome: Outcome, tries: int, seconds: float) -> None:
        """Write the outcome of the attempt to the log."""
        job = {"id": self.job.id, "attempt": self.job.attempt, "tries": tries}
        key = f"ended:{self.job.id}:{self.job.attempt}"
        if self._insist(self._submission) is None:
            _LOG.warning("a job was ended by another worker first", extra=job)
            self.tries.forget([self.job])
            return
        outcome = self._with_own_names(submission, outcome)
        if outcome.result is not None:
            draft, files = result_draft(outcome.result, submission.user, submission.organisation, outcome.identity)
            summary = {"key": draft.body["key"], "entry": draft.body["entry"], "same": self._same(submission, draft)}
            drafts, name = [draft, Draft("scored", key, job | summary)], "scored"
        elif outcome.faults:
            faults = [fault.to_json() for fault in outcome.faults]
            drafts, files, name = [Draft("refused", key, job | {"faults": faults})], {}, "refused"
        else:
            times = f"It was tried {tries} times; the last time it" if tries > 1 else "It"
            failure: dict[str, Any] = job | {"reason": f"{times} {outcome.reason}."}
            failure |= {"ours": True} if outcome.ours else {}
            drafts, files, name = [Draft("failed", key, failure)], {}, "failed"
        self._insist(lambda: self.state.storage.append(drafts, files))
        self._insist(self.state.refresh)
        self.tries.forget([self.job])
        about = {**job, "outcome": name, "seconds": round(seconds, 3)}
        about |= ({"reason": outcome.reason} if outcome.reason else {}) | (
            {"code": "OUR_FAULT"} if outcome.ours else {}
        )
        _LOG.log(logging.ERROR if outcome.ours else logging.INFO, "a job ended", extra=about)

    def _with_own_names(self, submission: Submission, outcome: Outcome) -> Outcome:
        """The outcome; refused if the result names a model that is not the submitter's to name."""
        if outcome.result is None or outcome.result.meta.get("baseline"):
            return outcome
        model, organisation = (str(outcome.result.meta.get(name)) for name in ("model", "organisation"))
        accounts = tuple(filter(None, (submission.user, submission.organisation)))
        others = {str(e.result.meta.get("model")) for e in self.state.entries() if e.user != submission.user}
        faults = [*taken_names(model, organisation, accounts), *look_alikes(model, sorted(others))]
        return Outcome(faults=tuple(faults)) if faults else outcome

    def _same(self, submission: Submission, draft: Draft) -> bool:
        """Whether the result was in the log before, other than from an interrupted try of this job."""
        event = self.state.storage.find(draft.key)
        if event is None:
            return False
        others = (other for other in self.state.submissions() if other.id != submission.id)
        return event.body["user"] != submission.user or any(other.result == draft.body["key"] for other in others)

    def _insist(self, call: Callable[[], _T]) -> _T:
        """Repeat a call until the storage works. HaltedError; StorageError for lost data."""
        pause = 1.0
        while not self.halt.is_set():
            try:
                return call()
            except TROUBLE as error:
                if isinstance(error, StorageError) and error.code in LOST:
                    raise
                _LOG.warning("a job waits: %s", error, extra={"id": self.job.id, "attempt": self.job.attempt})
                self.halt.wait(pause)
                pause = min(2 * pause, _LONGEST_WAIT)
        raise HaltedError


def pause(interrupted: int) -> float:
    """Seconds until a job is tried again after so many interruptions: 0, 3, 15, 63, ..., at most an hour."""
    return min(4.0 ** (interrupted - 1) - 1, _LONGEST_PAUSE) if interrupted else 0.0


def look(state: State, settings: Settings, module: str, job: Job, halt: threading.Event) -> bool:
    """Look at a file before it takes a place in the queue: a child with seconds of the processor opens it.

    What has faults is refused in the log. A look that breaks leaves the file to scoring, which has its own limits.

    Returns:
        Whether the submission may take a place; False also where the look was halted, or the log could not be written:
        then it is to be looked at again.
    """
    try:
        faults = _faults(state, settings, module, job, halt)
        if faults and not halt.is_set():
            about = {"id": job.id, "attempt": job.attempt, "tries": 0}
            body = about | {"faults": [fault.to_json() for fault in faults]}
            state.storage.append([Draft("refused", f"ended:{job.id}:{job.attempt}", body)])
            state.refresh()
            _LOG.info("a job ended", extra=about | {"outcome": "refused"})
    except TROUBLE as error:
        _LOG.warning("a file could not be looked at: %s", error, extra={"id": job.id})
        return isinstance(error, StorageError) and error.code in LOST  # scoring says so
    except Exception:  # noqa: BLE001 - whatever breaks here, scoring looks at the file again
        _LOG.exception("a look at a file broke", extra={"id": job.id, "code": "OUR_FAULT"})
        return True
    return not faults and not halt.is_set()


def _faults(state: State, settings: Settings, module: str, job: Job, halt: threading.Event) -> tuple[Fault, ...]:
    """The faults that the look finds; none if it came to no end for another reason than its cost."""
    submission = waiting(state, job)
    if submission is None:
        return ()
    seconds = settings.check_cpu_seconds
    most = replace(limits(settings), cpu_seconds=seconds, seconds=_WALL * seconds)
    with (
        state.storage.local(submission_path(submission.sha256)) as file,
        scratch(settings, f"check-{job.id}-{job.attempt}") as folder,
    ):
        ended = run_child(module, [str(Path(file).resolve()), str(folder)], folder, most, halt)
        if ended.beyond:
            return (too_costly(seconds),)
        if ended.reason:
            _LOG.warning("a look came to no end: it %s", ended.reason, extra={"id": job.id, "output": ended.output})
        return read_faults(folder)
