"""Storage of submissions, results and the log: one interface with two implementations, `local` and `hub`.

Paths are made from content hashes alone, never from submitted text:

    submissions/<2 digits>/<sha256 of the file>.zip
    results/<benchmark>/<2 digits>/<key of the result>.json

A file never changes once an event refers to it.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from fairspace.builders.errors import CodedError
from fairspace.leaderboard_space.events import Draft, Event
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
