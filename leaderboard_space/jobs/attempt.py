"""One try of a job: a child process scores the file, and its outcome goes into the log."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

from fairspace.leaderboard_space.events import Draft, clock
from fairspace.leaderboard_space.intake import result_draft
from fairspace.leaderboard_space.jobs.child import Outcome, limits, read_outcome, run_child, scoring_settings, scratch
from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import StorageError, submission_path
from fairspace.submissions.checking.names import look_alikes, owner_of, taken_names

INTERRUPTED = "was interrupted by an error of this Space"
TROUBLE: tuple[type[Exception], ...] = (StorageError, OSError)
"""Possibly temporary errors of the store and the working folder."""
_LOG = logging.getLogger("fairspace.jobs")
LOST = ("STORE_MISSING", "STORE_CORRUPT")
"""Codes of permanently lost files."""
_TORN = "could not be read: the stored file is not what was submitted"
_LONGEST_WAIT = 60.0
_T = TypeVar("_T")


@dataclass(frozen=True, order=True)
class Job:
    """One attempt at a submission, numbered from 1."""

    id: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.id}:{self.attempt}"


@dataclass(frozen=True)
class Record:
    """The tries of a job in this process: how many began, since when the last runs or waits, and how it ended."""

    tries: int = 0
    since: str = ""
    reason: str = ""


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
        self, state: State, settings: Settings, records: dict[Job, Record], job: Job, module: str, halt: threading.Event
    ) -> None:
        self.state, self.settings, self.records = state, settings, records
        self.job, self.module, self.halt = job, module, halt

    def run(self) -> None:
        """Try the job once, until its outcome is logged or it must be tried again. HaltedError: the try does not count.

        If the last try ends by something outside the file, such as an exception here or a kill of the child, the job
        fails because of an error of ours.
        """
        submission = self._insist(self._submission)
        before = self.records.pop(self.job, Record())
        if submission is None:
            return
        tries = before.tries + 1
        about = {"id": self.job.id, "attempt": self.job.attempt, "tries": tries}
        self.records[self.job] = Record(tries, clock())
        _LOG.info("a job was begun", extra=about)
        try:
            outcome, seconds = self._score(submission)
            if not outcome.reason or outcome.final or tries >= self.settings.tries:
                self._end(submission, outcome, tries, seconds)
                return
        except HaltedError:
            self.records[self.job] = before
            raise
        except Exception:  # noqa: BLE001 - whatever breaks in a worker, the submitter did not cause it
            _LOG.exception("a job was interrupted by an error of this Space", extra={**about, "code": "OUR_FAULT"})
            outcome = Outcome(reason=INTERRUPTED, ours=True)
            if tries >= self.settings.tries:
                self._end(submission, outcome, tries, 0.0)
                return
        self.records[self.job] = Record(tries, clock(), outcome.reason)
        _LOG.warning("a job is to be tried again: it %s", outcome.reason, extra=about)

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
            self.records.pop(self.job, None)
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
        self.records.pop(self.job, None)
        about = {**job, "outcome": name, "seconds": round(seconds, 3)}
        about |= ({"reason": outcome.reason} if outcome.reason else {}) | (
            {"code": "OUR_FAULT"} if outcome.ours else {}
        )
        _LOG.log(logging.ERROR if outcome.ours else logging.INFO, "a job ended", extra=about)

    def _with_own_names(self, submission: Submission, outcome: Outcome) -> Outcome:
        """The outcome, refused if the result names a model reserved for others."""
        if outcome.result is None:
            return outcome
        model, organisation = (str(outcome.result.meta.get(name)) for name in ("model", "organisation"))
        accounts = tuple(filter(None, (submission.user, submission.organisation)))
        faults = taken_names(model, organisation, accounts)
        if not owner_of(model, accounts):
            faults += look_alikes(model, self.state.models_of_others(submission.user))
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
