"""Records of the tries of jobs, in one file of the working folder.

The log says what waits. The file outlives the process, so that a job that ends its process is not tried for ever; it
can be lost: then a job is tried from the beginning.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import orjson

from fairspace.leaderboard_space.log_state import Submission
from fairspace.leaderboard_space.state import State
from fairspace.leaderboard_space.storage import StorageError

FILE = "tries.json"
INTERRUPTED = "was interrupted by an error of this Space"
TROUBLE: tuple[type[Exception], ...] = (StorageError, OSError)
"""Errors of the store and of the working folder that may be over when it is tried again later."""
_LOG = logging.getLogger("fairspace.jobs")


@dataclass(frozen=True, order=True)
class Job:
    """One attempt at a submission.

    Args:
        id: of the submission.
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
    """The records of the jobs that wait. Safe for several threads.

    Args:
        folder: where the file lies.
    """

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
