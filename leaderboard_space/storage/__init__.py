"""Storage of submissions, results and the log: one interface with two implementations, `local` and `hub`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from fairspace.leaderboard_space.errors import StorageError
from fairspace.leaderboard_space.events import Draft, Event

HUB = "hf://datasets/"
"""Prefix of a store on the Hub."""


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
