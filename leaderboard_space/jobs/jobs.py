"""The jobs of a Space: accepted submissions, queued by the log, are scored, refused or failed.

A job is tried in a child process that scores the file; the outcome of each try goes into the log.
"""

import hashlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Any, Literal, TypeVar

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import Draft, clock, submission_path
from fairspace.leaderboard_space.intake import User, add_result, result_draft
from fairspace.leaderboard_space.jobs.child import (
    ChildOutcome,
    limits,
    read_outcome,
    run_child,
    scoring_settings,
    scratch,
)
from fairspace.leaderboard_space.logged import LoggedSubmission
from fairspace.leaderboard_space.maintaining import verify
from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.state import State
from fairspace.submissions.benchmarks.baselines import NAMES as BASELINE_NAMES
from fairspace.submissions.benchmarks.registry import NAMES as BENCHMARKS
from fairspace.submissions.checking.names import look_alikes, owner_of, taken_names
from fairspace.submissions.results.board import entry
from fairspace.submissions.results.shipped import shipped_reruns, shipped_results
from fairspace.submissions.version import VERSION

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


def waiting(state: State, job: Job) -> LoggedSubmission | None:
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
            outcome = ChildOutcome(reason=INTERRUPTED, ours=True)
            if tries >= self.settings.tries:
                self._end(submission, outcome, tries, 0.0)
                return
        self.records[self.job] = Record(tries, clock(), outcome.reason)
        _LOG.warning("a job is to be tried again: it %s", outcome.reason, extra=about)

    def _submission(self) -> LoggedSubmission | None:
        self.state.refresh()
        return waiting(self.state, self.job)

    def _score(self, submission: LoggedSubmission) -> tuple[ChildOutcome, float]:
        path = submission_path(submission.sha256)
        try:
            with ExitStack() as opened:
                file = self._insist(lambda: opened.enter_context(self.state.storage.local(path)))
                with file.open("rb") as stream:
                    if hashlib.file_digest(stream, "sha256").hexdigest() != submission.sha256:
                        return ChildOutcome(reason=_TORN, final=True, ours=True), 0.0
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
            return ChildOutcome(reason=f"could not be read: {error.what}", ours=True), 0.0

    def _end(self, submission: LoggedSubmission, outcome: ChildOutcome, tries: int, seconds: float) -> None:
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

    def _with_own_names(self, submission: LoggedSubmission, outcome: ChildOutcome) -> ChildOutcome:
        """The outcome, refused if the result names a model reserved for others."""
        if outcome.result is None:
            return outcome
        model, organisation = (str(outcome.result.meta.get(name)) for name in ("model", "organisation"))
        accounts = tuple(filter(None, (submission.user, submission.organisation)))
        faults = taken_names(model, organisation, accounts)
        if not owner_of(model, accounts):
            faults += look_alikes(model, self.state.models_of_others(submission.user))
        return ChildOutcome(faults=tuple(faults)) if faults else outcome

    def _same(self, submission: LoggedSubmission, draft: Draft) -> bool:
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


SCORING = "fairspace.leaderboard_space.jobs.scoring"
Stage = Literal["queued", "running", "retried", "ended"]
_KILL_SECONDS = 10.0
_NICEST = 19
BASELINES = Job("baselines", 0)
"""Stands for the scoring of baselines among the running jobs."""


@dataclass(frozen=True)
class Progress:
    """Progress of a submission: `retried` waits again after its process ended; `position` is 0 outside the queue."""

    stage: Stage
    position: int = 0
    tries: int = 0
    since: str = ""


@dataclass(frozen=True)
class Timing:
    """Seconds between two polls: `sweep` after trouble with the store, `poll` of an idle worker."""

    sweep: float = 3.0
    poll: float = 0.5


class Jobs:
    """The waiting submissions and workers of a Space, with the module that scores."""

    def __init__(
        self, state: State, settings: Settings, *, module: str = SCORING, timing: Timing | None = None
    ) -> None:
        self.state, self.settings, self.module = state, settings, module
        self.timing = timing or Timing()
        self.records: dict[Job, Record] = {}
        """Tries of the waiting and running jobs."""
        self._stopping, self._told = threading.Event(), 0.0
        self._running: dict[Job, threading.Event] = {}
        """Running job -> event that ends its try."""
        self._taking = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._shipped, self._broken = False, set[tuple[str, str]]()
        """Whether the shipped results were added, and the baselines that could not be scored."""
        self._order: tuple[int, list[Job]] = (-1, [])
        """Number of an event, and the waiting jobs in order as of it."""

    def start(self) -> None:
        """Start the workers; even without any, the log of other processes is followed."""
        self._begin("log", partial(self._repeat, self._follow, self.timing.poll))
        self._begin("pruning", partial(self._repeat, self._prune, EVERY))
        if self.settings.workers:
            for number in range(self.settings.workers):
                self._begin(f"worker-{number}", partial(self._repeat, self._work, self.timing.poll))
            if self.settings.baselines:
                self._begin("baselines", partial(self._repeat, self._score_baseline, self.timing.poll))

    def take_no_more(self) -> None:
        """Take no further job; running jobs continue."""
        if not self._stopping.is_set():
            self._told = time.monotonic()
        self._stopping.set()
        if (halt := self._running.get(BASELINES)) is not None:
            halt.set()

    def stop(self, seconds: float = 20.0) -> None:
        """Take no further job and wait for running ones, for `seconds` after `take_no_more`. The next start resumes."""
        self.take_no_more()
        threads = list(self._threads)
        _join(threads, seconds - (time.monotonic() - self._told))
        for halt in list(self._running.values()):
            halt.set()
        _join(threads, _KILL_SECONDS)

    def progress(self, submission: LoggedSubmission) -> Progress:
        """Progress of a submission."""
        if submission.outcome != "waiting":
            return Progress("ended", tries=submission.tries, since=submission.ended)
        job = Job(submission.id, submission.attempt)
        record = self.records.get(job, Record())
        if job in self._running:
            return Progress("running", 0, record.tries, record.since)
        order = self.waiting()
        position = order.index(job.id) + 1 if job.id in order else len(order) + 1
        if record.tries:
            return Progress("retried", position, record.tries, record.since)
        return Progress("queued", position, 0, submission.accepted)

    def waiting(self) -> list[str]:
        """Ids of the waiting submissions that do not run, the next one first."""
        return [job.id for job in self._jobs() if job not in self._running]

    def running(self) -> int:
        """Number of running jobs."""
        return sum(waiting(self.state, job) is not None for job in list(self._running))

    def alive(self) -> bool:
        """Whether all threads of this process run."""
        return all(thread.is_alive() for thread in list(self._threads))

    def _jobs(self) -> list[Job]:
        number, jobs = self._order
        if number != (now := self.state.number):
            jobs = [Job(submission.id, submission.attempt) for submission in fair_order(self.state.submissions())]
            self._order = now, jobs
        return jobs

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=f"jobs-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _repeat(self, step: Callable[[], bool], seconds: float) -> None:
        """Repeat a step until the jobs stop, with a pause after idle or failed steps."""
        while not self._stopping.is_set():
            try:
                if not step():
                    self._stopping.wait(seconds)
            except TROUBLE as error:
                _LOG.warning("the log was not looked through: %s", error)
                self._stopping.wait(self.timing.sweep)
            except Exception:  # noqa: BLE001 - whatever breaks, the next submission is worked at
                _LOG.exception("a worker met an error of this Space", extra={"code": "OUR_FAULT"})
                self._stopping.wait(self.timing.sweep)

    def _follow(self) -> bool:
        self.state.refresh()
        for job in set(self.records) - set(self._running) - set(self._jobs()):
            self.records.pop(job, None)  # another process has ended it
        return False

    def _prune(self) -> bool:
        prune(self.state, self.settings.keep_refused_days, self.settings.keep_refused_bytes)
        return False

    def _work(self) -> bool:
        self.state.refresh()
        job = self._take_next()
        if job is None:
            return False
        halt = self._running[job]
        try:
            Attempt(self.state, self.settings, self.records, job, self.module, halt).run()
        except HaltedError:
            _LOG.info("a job was halted", extra={"id": job.id, "attempt": job.attempt})
        finally:
            del self._running[job]
        return True

    def _take_next(self) -> Job | None:
        with self._taking:
            for job in self._jobs():
                if job not in self._running:
                    self._running[job] = threading.Event()
                    return job
            return None

    def _score_baseline(self) -> bool:
        """Score the next missing baseline while no submission waits; False if there is nothing to do."""
        if not self._shipped:
            add_shipped(self.state)
            self._shipped = True
        self.state.refresh()
        about = next((pair for pair in missing(self.state) if pair not in self._broken), None)
        if about is None or self.waiting() or self.running():
            return False
        benchmark, name = about
        context = {"id": f"{benchmark}/{name}"}
        halt = self._running[BASELINES] = threading.Event()
        try:
            with scratch(self.settings, f"baseline-{benchmark}-{name}") as folder:
                most = replace(limits(self.settings), nice=_NICEST)
                arguments = [benchmark, name, str(folder)]
                ended = run_child(SCORING, arguments, folder, most, halt, scoring_settings(self.settings))
                outcome = None if ended.halted else read_outcome(ended, folder)
        finally:
            del self._running[BASELINES]
        if outcome is not None and outcome.result is not None:
            add_result(self.state.storage, outcome.result)
            self.state.refresh()
            _LOG.info("a baseline was scored", extra={**context, "seconds": round(ended.seconds, 3)})
        elif outcome is not None:
            self._broken.add(about)
            _LOG.error("a baseline is left out until the next start: it %s", outcome.reason, extra=context)
        return True


def _join(threads: list[threading.Thread], seconds: float) -> None:
    until = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))


def fair_order(submissions: Iterable[LoggedSubmission]) -> list[LoggedSubmission]:
    """The waiting submissions, the next one first: accounts take turns, and each is served in its order."""
    turns: Counter[str] = Counter()
    order: list[tuple[int, int, LoggedSubmission]] = []
    waiting = (submission for submission in submissions if submission.outcome == "waiting")
    for place, submission in enumerate(sorted(waiting, key=lambda submission: submission.accepted)):
        turns[submission.user.casefold()] += 1
        order.append((turns[submission.user.casefold()], place, submission))
    return [submission for *_, submission in sorted(order, key=lambda entry: entry[:2])]


def missing(state: State) -> list[tuple[str, str]]:
    """Benchmark and name of the baselines not yet scored by this version; the board shows the newest of each."""
    ends = {
        (logged.benchmark, logged.result.meta["baseline"])
        for logged in state.entries()
        if logged.result.meta.get("baseline") and logged.result.meta.get("revision") == VERSION
    }
    return [pair for pair in product(BENCHMARKS, BASELINE_NAMES) if pair not in ends]


def add_shipped(state: State) -> int:
    """Add the shipped results that the store lacks, and return their number; verify those with which a rerun agreed.

    Submitted rows with the same answers are not verified by it, nor are rows whose verification was taken back.
    Errors: StorageError; SpaceError for a broken record of a rerun.
    """
    there = {logged.entry for logged in state.entries()}
    lacking = [result for result in shipped_results() if entry(result) not in there]
    for result in lacking:
        add_result(state.storage, result)
    state.refresh()
    decided = {event.body["entry"] for event in state.storage.events() if event.kind in ("verified", "unverified")}
    for logged in state.entries():
        rerun = shipped_reruns().get(logged.result.signature.get("submission", ""))
        if rerun is not None and logged.own and logged.entry not in decided:
            verify(state, logged.entry, User("fairspace"), rerun["reason"], rerun["evidence"])
    return len(lacking)


# Removal of the files of refused and failed submissions when they are old or many; their events stay. Nothing needs
# these files again: what was refused stays refused, and what failed is handed in again with its file.

EVERY = 600.0
"""Seconds between two checks."""
_MOST_PRUNED = 500
"""Maximum files removed by one event."""
_PRUNING_TRIES = 20
"""Attempts at a removal while others append."""


def due(submissions: Iterable[LoggedSubmission], before: str, most_bytes: int) -> list[str]:
    """The sha256 of the files to remove, the oldest first, of one time the first handed in; needed files are kept.

    Files whose last submission ended `before` a time go, then more until the rest takes at most `most_bytes`.
    """
    ended: dict[str, tuple[str, int]] = {}
    needed: set[str] = set()
    for submission in submissions:
        if submission.outcome not in ("refused", "failed"):
            needed.add(submission.sha256)
        elif not submission.pruned:
            last = max(submission.ended, ended.get(submission.sha256, ("", 0))[0])
            ended[submission.sha256] = last, submission.size
    files = sorted(((sha256, *end) for sha256, end in ended.items() if sha256 not in needed), key=itemgetter(1))
    total = sum(size for _, _, size in files)
    removed: list[str] = []
    for sha256, last, size in files:
        if last < before or total > most_bytes:
            removed.append(sha256)
            total -= size
    return removed


def prune(state: State, days: int, most_bytes: int) -> list[str]:
    """Remove due files and return their sha256. Errors: StorageError."""
    removed: list[str] = []
    for _ in range(_PRUNING_TRIES):
        number = state.refresh()
        files = due(state.submissions(), clock(-timedelta(days=days)), most_bytes)[:_MOST_PRUNED]
        if not files:
            break
        draft = Draft("pruned", f"pruned:{number + 1}", {"sha256": files})
        if state.storage.remove([submission_path(sha256) for sha256 in files], draft, number):
            removed += files
    if removed:
        _LOG.info("files of refused and failed submissions were removed", extra={"files": len(removed)})
    return removed
