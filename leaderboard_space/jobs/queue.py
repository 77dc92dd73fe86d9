"""The queue of jobs: huey's queue, with leases and records of the workers.

It lies in a file of SQLite or in Redis, outlives every process, and can be lost: the log says what is to be done.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from huey import Huey, RedisHuey
from huey.constants import EmptyData
from huey.registry import Message
from huey.serializer import Serializer
from huey.storage import SqliteStorage

from fairspace.leaderboard_space.settings import Settings
from fairspace.leaderboard_space.storage import StorageError

FILE = "queue.db"
_LOG = logging.getLogger("fairspace.jobs")
_NAME = "fairspace"
_KINDS = _LEASE, _BEAT, _RECORD, _CHECKED = "lease:", "beat:", "record:", "checked:"


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
class Lease:
    """A worker's claim on a job, valid while its counter increases.

    Args:
        worker: who.
        beat: a count that grows; no time, since clocks jump and differ.
    """

    worker: str
    beat: int = 0


@dataclass(frozen=True)
class Record:
    """Record of the tries of a job.

    Args:
        tries: begun, without those that an error of ours ended.
        since: when the last one began, or ended and the job waits again, as `Event.time`.
        reason: how the last one ended, '' for none or one that runs.
        interrupted: how many an error of ours ended: of the worker, of its process, or of the machine.
    """

    tries: int = 0
    since: str = ""
    reason: str = ""
    interrupted: int = 0


def _queue_errors() -> tuple[type[Exception], ...]:
    try:
        from redis import RedisError
    except ImportError:
        return sqlite3.Error, OSError
    return sqlite3.Error, OSError, RedisError


QUEUE_ERRORS = _queue_errors()
"""What a queue raises that cannot be reached or written."""
TROUBLE: tuple[type[Exception], ...] = (StorageError, *QUEUE_ERRORS)
"""What may be over when it is tried again later: of the queue, or of the store."""


_NOT_THE_CONTENT = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
"""Errors of SQLite that say nothing of what is in a file."""


class _JsonSerializer(Serializer):
    """Messages as JSON: a pickle out of a shared Redis would be code."""

    def _serialize(self, data: Message) -> bytes:
        return orjson.dumps(list(data))

    def _deserialize(self, data: bytes) -> Message:
        return Message(*orjson.loads(data))


class _InFile(SqliteStorage):
    """A queue in a file. A damaged file is replaced, because the log knows the waiting submissions."""

    _conn: sqlite3.Connection | None

    @contextmanager
    def db(self, commit: bool = False, close: bool = False) -> Iterator[sqlite3.Cursor]:
        """See `SqliteStorage.db`. Where it fails at a damaged file, it does not fail there again."""
        try:
            with super().db(commit, close) as cursor:
                yield cursor
        except sqlite3.DatabaseError as error:
            # Its subclasses tell of other things: a locked or full disk, a lease that is taken.
            if type(error) is sqlite3.DatabaseError:
                self._make_anew(error)
            raise

    def check(self) -> None:
        """Read the whole file, and put aside one that cannot be read: its pages, its tables, every message and record.

        Raises what says nothing of the file's content: a lock, a full disk, no permission.
        """
        try:
            if (answer := self.sql("pragma quick_check(1)", results=True)) != [("ok",)]:
                raise ValueError(answer[0][0])
            self.initialize_schema()
            self.sql("select key, value from counter", results=True)
            for (message,) in self.sql("select data from task", results=True):
                Job(*Message(*orjson.loads(message)).args)
            for key, value in self.sql("select key, value from kv", results=True):
                _check_kept(key, bytes(value))
        except Exception as error:  # also of the decoding of SQLite's own texts
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_THE_CONTENT:
                raise
            self._make_anew(error)

    def _make_anew(self, what: object) -> None:
        _LOG.warning("the queue is made anew: %s", what)
        with self.lock:
            if self._conn is not None:
                self._conn.close()
                self._conn = None
            file = Path(self.filename)
            for part in (f"{file.name}-wal", f"{file.name}-shm"):
                (file.parent / part).unlink(missing_ok=True)
            if file.exists():
                file.replace(file.with_suffix(".damaged"))
        with super().db(commit=True, close=True) as cursor:
            for table in self.ddl:
                cursor.execute(table)


def _check_kept(key: str, value: bytes) -> None:
    """Read what is kept of a job as `JobQueue` does. Some exception if it cannot be read."""
    kind = next(kind for kind in _KINDS if key.startswith(kind))
    int(key.rpartition(":")[2])
    if kind == _LEASE:
        value.decode()
    elif kind == _RECORD:
        Record(**orjson.loads(value))
    elif kind == _BEAT:
        _, _ = orjson.loads(value)


def _in_file(file: Path, about: Mapping[str, Any]) -> Huey:
    # It is checked before its tables are made: a damaged file may not take them.
    huey = Huey(
        _NAME,
        storage_class=_InFile,
        filename=str(file),
        strict_fifo=True,
        timeout=30,
        create_tables=False,
        **about,
    )
    huey.storage.check()
    return huey


class JobQueue:
    """The queue that the settings name.

    Args:
        settings: where it lies.
        work: done by a worker with each job that it takes.
    """

    def __init__(self, settings: Settings, work: Callable[[Job], None]) -> None:
        def score(name: str, attempt: int) -> None:
            work(Job(name, attempt))

        about: dict[str, Any] = {"results": False, "serializer": _JsonSerializer()}
        if settings.queue:
            self.huey: Huey = RedisHuey(_NAME, url=settings.queue, **about)
        else:
            settings.work.mkdir(parents=True, exist_ok=True)
            self.huey = _in_file(settings.work / FILE, about)
        self._task = self.huey.task()(score)
        self._kept = self.huey.storage

    def put(self, *jobs: Job) -> None:
        """Queue jobs behind the others; one that is queued already stays where it is."""
        queued = set(self.jobs())
        for job in jobs:
            if job not in queued:
                self.huey.enqueue(self._task.s(job.id, job.attempt))

    def jobs(self) -> list[Job]:
        """The queued jobs, the next one first."""
        return list(dict.fromkeys(Job(*task.args) for task in self.huey.pending()))

    def take(self, job: Job, worker: str) -> bool:
        """Take the lease of a job. False if somebody has it."""
        return bool(self._kept.put_if_empty(f"{_LEASE}{job}", worker.encode()))

    def beat(self, job: Job, worker: str) -> bool:
        """Renew the lease of a job. False if another worker has it."""
        lease = self.lease(job)
        if lease is None or lease.worker != worker:
            return False
        # Beside the lease, which is only ever made and deleted: so nobody can write over another's.
        self._kept.put_data(f"{_BEAT}{job}", orjson.dumps([worker, lease.beat + 1]))
        return True

    def release(self, job: Job, worker: str) -> None:
        """Return the lease of a job if that worker has it."""
        lease = self.lease(job)
        if lease is not None and lease.worker == worker:
            self._kept.delete_data(f"{_BEAT}{job}")
            self._kept.delete_data(f"{_LEASE}{job}")

    def lease(self, job: Job) -> Lease | None:
        """The lease of a job."""
        return self.leases([job]).get(job)

    def leases(self, jobs: Iterable[Job]) -> dict[Job, Lease]:
        """The current leases of some jobs."""
        held = {job: data.decode() for job, data in self._peek(_LEASE, jobs).items()}
        beats = {job: orjson.loads(data) for job, data in self._peek(_BEAT, held).items()}
        return {
            job: Lease(worker, beats[job][1] if beats.get(job, [""])[0] == worker else 0)
            for job, worker in held.items()
        }

    def records(self, jobs: Iterable[Job]) -> dict[Job, Record]:
        """The records of those jobs that were begun."""
        return {job: Record(**orjson.loads(data)) for job, data in self._peek(_RECORD, jobs).items()}

    def note(self, job: Job, record: Record) -> None:
        """Keep the record of a job."""
        self._kept.put_data(f"{_RECORD}{job}", orjson.dumps(asdict(record)))

    def count(self, counts: Mapping[str, int]) -> None:
        """Move counters on that all workers share. They lie beside the jobs, and are lost with them."""
        for name, amount in counts.items():
            self._kept.incr(name, amount)

    def counts(self) -> dict[str, int]:
        """The counters."""
        if isinstance(self._kept, _InFile):
            rows = self._kept.sql("select key, value from counter where queue = ?", (self._kept.name,), results=True)
            return dict(rows)
        return {name.decode(): int(value) for name, value in self._kept.conn.hgetall(self._kept.counter_key).items()}

    def mark_checked(self, job: Job) -> None:
        """Note that the file of a job was looked at, and may be scored."""
        self._kept.put_data(f"{_CHECKED}{job}", b"1")

    def checked(self, jobs: Iterable[Job]) -> set[Job]:
        """The jobs whose files were looked at."""
        return set(self._peek(_CHECKED, jobs))

    def forget(self, job: Job) -> None:
        """Delete the records of a job that has ended."""
        for kind in _KINDS:
            self._kept.delete_data(f"{kind}{job}")

    def kept(self) -> set[Job]:
        """The jobs with records."""
        names = [name.rpartition(":") for name in self._kept.result_items() if name.startswith(_KINDS)]
        return {Job(start.partition(":")[2], int(attempt)) for start, _, attempt in names}

    def _peek(self, kind: str, jobs: Iterable[Job]) -> dict[Job, bytes]:
        keys = {f"{kind}{job}": job for job in jobs}
        records = self._kept.peek_many(list(keys)) if keys else {}
        return {keys[key]: bytes(data) for key, data in records.items() if data is not EmptyData}
