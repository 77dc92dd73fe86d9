"""Storage of submissions, results and the log: one interface with two implementations, `local` and `hub`; their index.

Paths are made from content hashes alone, never from submitted text:

    submissions/<2 digits>/<sha256 of the file>.zip
    results/<benchmark>/<2 digits>/<key of the result>.json

A file never changes once an event refers to it.
"""

from __future__ import annotations

import errno
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import IO, Protocol

from fairspace.builders.errors import CodedError
from fairspace.leaderboard_space.events import START, Draft, Event, digest, digests, follow
from fairspace.submissions.benchmarks.registry import NAMES
from fairspace.submissions.errors import UsageError

HUB = "hf://datasets/"
"""Prefix of a store on the Hub."""
UNREADABLE = "STORE_UNREADABLE"
CODES: dict[str, str] = {
    "STORE_FULL": "there is no room left, or a file cannot be written",
    "STORE_READ_ONLY": "this process has no leave to write there, or the disk is mounted for reading alone",
    "STORE_CORRUPT": "the log or a file is not what was written",
    UNREADABLE: "another version of this software wrote the file, and this one cannot read it",
    "STORE_MISSING": "there is no such file in the store",
    "STORE_PRUNED": "the file of this refused or failed submission was removed to make room",
    "STORE_UNAVAILABLE": "the Hub did not answer, or kept failing, or other writers kept coming first",
    "STORE_REFUSED": "the Hub refused, and asking again would not help",
    "STORE_FAULT": "this software went wrong at it; its log says where",
}


class StorageError(CodedError):
    """An operation that the storage cannot perform."""

    codes = CODES


def write_error(where: str, error: OSError) -> StorageError:
    """The error for a failed write."""
    what = f"it cannot be written: {error.strerror or error}"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        mend = "let this process write there, or mount the disk for writing; nothing that was accepted before is lost"
        return StorageError("STORE_READ_ONLY", where, what, "a folder that this process may write to", mend)
    mend = "make room; nothing that was accepted before is lost"
    return StorageError("STORE_FULL", where, what, "room on the disk", mend)


class Storage(Protocol):
    """A log and its files. Safe for several threads; what several processes or Spaces append is one log."""

    @property
    def trouble(self) -> StorageError | None:
        """The error that currently prevents reading or writing; None if there is none."""

    def append(self, drafts: Sequence[Draft], files: Mapping[str, Path | bytes] | None = None) -> list[Event]:
        """Store files (path -> content), then events, durably; after an error a harmless part of them may be stored.

        A draft whose key is in the log is not appended again, and a file that an event refers to is left as it is.
        Returns the event of each draft. StorageError; the call may then be repeated as it is.
        """

    def events(self, after: int = 0) -> Iterator[Event]:
        """The events with a number above `after`, including those of other writers."""

    def remove(self, paths: Sequence[str], draft: Draft, number: int) -> bool:
        """Remove files and append an event about it, if `number` is still that of the last event; whether it was done.

        So no file of a later event is removed. Errors: as `append`; then some files may be removed.
        """

    def find(self, key: str) -> Event | None:
        """The event of that key."""

    def read(self, path: str) -> bytes:
        """A file's content. StorageError STORE_MISSING."""

    def local(self, path: str) -> AbstractContextManager[Path]:
        """A local path of a file while the context lasts. StorageError STORE_MISSING."""

    def sync(self) -> None:
        """Read what other writers have appended by now. Errors: as `events`."""

    def close(self) -> None:
        """Finish running writes."""


def submission_path(sha256: str) -> str:
    """Path of a submitted file."""
    return f"submissions/{_digits(sha256)[:2]}/{sha256}.zip"


def result_path(benchmark: str, key: str) -> str:
    """Path of a result. UsageError if there is no such benchmark."""
    if benchmark not in NAMES:
        raise UsageError(f"There is no benchmark {benchmark!r}. Known: {', '.join(NAMES)}.")
    return f"results/{benchmark}/{_digits(key)[:2]}/{key}.json"


def vouched_by(path: str) -> str:
    """Key of the event that holds the sha256 of a file; '' for a submission, whose name holds it."""
    return f"result:{Path(path).stem}" if path.startswith("results/") else ""


def _digits(name: str) -> str:
    if len(name) != 64 or not set(name) <= set("0123456789abcdef"):
        raise ValueError(f"{name!r} is no sha256")
    return name


BATCH = 256
"""Events in memory at a time while a log is read."""


class LogIndex:
    """Index of a log in one file, a store's or a copy of the Hub's: key and offset of each event, read on demand.

    `where` and `mend` (remedy) are for errors.
    """

    def __init__(self, where: str, mend: str) -> None:
        self.where, self.mend = where, mend
        self.end = 0
        self.previous = START
        self._begins = array("Q")
        self._numbers: dict[str, int] = {}
        self._last: Event | None = None

    def __len__(self) -> int:
        return len(self._begins)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def read(self, stream: IO[bytes], after: int, limit: int = BATCH) -> list[Event]:
        """Some events with a number above `after`, none if there are none yet; new complete lines are checked.

        StorageError STORE_CORRUPT for an altered line or a shortened log.
        """
        self._check_size(stream)
        while len(self) < after and self.read(stream, len(self)):
            pass
        count = len(self) - after
        if count > 0:
            stream.seek(self._begins[after])
            return [self._event(line, after + place) for place, line in enumerate(islice(stream, min(count, limit)), 1)]
        stream.seek(self.end)
        events: list[Event] = []
        for line in islice(stream, limit):
            if not line.endswith(b"\n"):
                break
            events.append(self.note(line))
        return events

    def catch_up(self, stream: IO[bytes]) -> None:
        """Note all new lines. Errors: as `read`."""
        while self.read(stream, len(self)):
            pass

    def check(self, stream: IO[bytes]) -> None:
        """Check that the last known line is still at its offset. StorageError STORE_CORRUPT."""
        self._check_size(stream)
        if len(self):
            stream.seek(self._begins[-1])
            if digest(stream.read(self.end - self._begins[-1])) != self.previous:
                raise self.damaged("it was replaced while it was in use")

    def note(self, line: bytes) -> Event:
        """Add the next line to the index. StorageError STORE_CORRUPT, which names the line that was altered."""
        number = len(self) + 1
        event = self._event(line, number)
        whole, content = digests(line)
        if event.line() != line or event.key in self._numbers or event.sha256 not in ("", content):
            raise self._damaged(number, "its content is not what was appended")
        if event.previous != self.previous:
            raise self._damaged(number, "its `previous` is not the hash of the line before")
        self._begins.append(self.end)
        self._numbers[event.key] = number
        self.end += len(line)
        self.previous, self._last = whole, event
        return event

    def find(self, stream: IO[bytes], key: str) -> Event | None:
        """The event of that key."""
        number = self._numbers.get(key)
        return None if number is None else self.read(stream, number - 1, 1)[0]

    def following(self, drafts: Sequence[Draft]) -> list[bytes]:
        """The lines of the drafts whose keys are not in the log, as they would follow its end."""
        last, previous = self._last, self.previous
        lines: dict[str, bytes] = {}
        for draft in drafts:
            if draft.key not in self._numbers and draft.key not in lines:
                last = follow(draft, last, previous)
                lines[draft.key] = last.line()
                previous = digest(lines[draft.key])
        return list(lines.values())

    def write(self, stream: IO[bytes], lines: Sequence[bytes]) -> None:
        """Append lines to the file. OSError if not all can be written; then none is kept.

        It bypasses the stream, whose buffer would be written later, after an error.
        """
        left = memoryview(b"".join(lines))
        try:
            while left:
                left = left[os.write(stream.fileno(), left) :]
        except OSError:
            os.ftruncate(stream.fileno(), self.end)
            raise

    def damaged(self, what: str) -> StorageError:
        """The error for a log that changed after it was read."""
        return StorageError("STORE_CORRUPT", self.where, what, "a log that only grows", self.mend)

    def _check_size(self, stream: IO[bytes]) -> None:
        if os.fstat(stream.fileno()).st_size < self.end:
            raise self.damaged("the log has become shorter")

    def _event(self, line: bytes, number: int) -> Event:
        try:
            event = Event.of_line(line)
        except ValueError as error:
            raise self._damaged(number, str(error)) from error
        if event.number != number:
            raise self._damaged(number, f"it says that it is event {event.number}")
        return event

    def _damaged(self, number: int, what: str) -> StorageError:
        return StorageError(
            "STORE_CORRUPT", f"{self.where}, line {number}", what, "the line that was appended", self.mend
        )
