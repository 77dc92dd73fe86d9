"""One try of a job (a child process scores the file, and its outcome goes into the log), and the records of tries.

The file of records outlives the process: a job that kills its process is not tried for ever.
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
from fairspace.leaderboard_space.intake import result_draft
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
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import StorageError, submission_path
from fairspace.submissions.checking.names import look_alikes, taken_names
from fairspace.submissions.checking.submission import too_costly
from fairspace.submissions.format.faults import Fault

FILE = "tries.json"
INTERRUPTED = "was interrupted by an error of this Space"
TROUBLE: tuple[type[Exception], ...] = (StorageError, OSError)
"""Possibly temporary errors of the store and the working folder."""
_LOG = logging.getLogger("fairspace.jobs")
LOST = ("STORE_MISSING", "STORE_CORRUPT")
"""Codes of permanently lost files."""
_TORN = "could not be read: the stored file is not what was handed in"
INTERRUPTIONS = 10
"""Interruptions before a job is given up: the pauses between them come to three hours."""
_LONGEST_WAIT, _LONGEST_PAUSE = 60.0, 3600.0
_T = TypeVar("_T")
PRECHECKING = "fairspace.leaderboard_space.jobs.prechecking"
_WALL = 30
"""Real seconds per second of processor time of a precheck, on a busy machine."""


@dataclass(frozen=True, order=True)
class Job:
    """One attempt at a submission, numbered from 1."""

    id: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.id}:{self.attempt}"


@dataclass(frozen=True)
class Record:
    """Record of the tries of a job.

    Args:
        tries: started tries, without those that an error of ours ended (`interrupted`).
        since: start of the last try, or its end if the job waits again, as `Event.time`.
        reason: end of the last try, '' for none or a running one.
        checked: whether the file passed the precheck.
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
        """The record of a job, empty for a new one."""
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
    """The records of another process; its unfinished tries count as interrupted."""
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
    """The child was killed from outside: by the system, a maintainer, or the end of its worker."""


class Attempt:
    """A try at a job by a worker; `halt` ends it."""

    def __init__(
        self, state: State, settings: Settings, tries: Tries, job: Job, module: str, halt: threading.Event
    ) -> None:
        self.state, self.settings, self.tries = state, settings, tries
        self.job, self.module, self.halt = job, module, halt

    def run(self) -> None:
        """Try the job once, until its outcome is logged or it must be tried again. HaltedError: the try does not count.

        Causes outside the file, such as an exception here or a kill of the child, count as an interruption, not a try.
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
        self.state.refresh()
        return waiting(self.state, self.job)

    def _score(self, submission: Submission) -> tuple[Outcome, float]:
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
        """The outcome, refused if the result names a model reserved for others."""
        if outcome.result is None or outcome.result.meta.get("baseline"):
            return outcome
        model, organisation = (str(outcome.result.meta.get(name)) for name in ("model", "organisation"))
        accounts = tuple(filter(None, (submission.user, submission.organisation)))
        others = {str(e.result.meta.get("model")) for e in self.state.entries() if e.user != submission.user}
        faults = [*taken_names(model, organisation, accounts), *look_alikes(model, sorted(others))]
        return Outcome(faults=tuple(faults)) if faults else outcome

    def _same(self, submission: Submission, draft: Draft) -> bool:
        """Whether the result was in the log before, except from an interrupted try of this job."""
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
    """Seconds of pause after a number of interruptions: 0, 3, 15, 63, ..., at most an hour."""
    return min(4.0 ** (interrupted - 1) - 1, _LONGEST_PAUSE) if interrupted else 0.0


def look(state: State, settings: Settings, module: str, job: Job, halt: threading.Event) -> bool:
    """Precheck a file before it is queued, in a child with little processor time; faults are refused in the log.

    Returns whether the submission may be queued, also after a crash: scoring has its own limits. If it was halted or
    the log could not be written, False: repeat the precheck.
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
