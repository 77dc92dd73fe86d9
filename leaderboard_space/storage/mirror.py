"""A local copy of a remote log, so that a restart need not download all of it."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import IO

from fairspace.leaderboard_space.events import Draft, Event
from fairspace.leaderboard_space.storage import StorageError
from fairspace.leaderboard_space.storage.log import Log


class Mirror:
    """The copy. Safe for several threads; several processes have one each.

    Args:
        folder: of the copies, one subfolder for each process that runs.
        where: the log, for errors.
        mend: what to do about a damaged line.
    """

    def __init__(self, folder: Path, where: str, mend: str) -> None:
        self._lock = threading.RLock()
        self._about = where, mend
        self._claim, self._stream = _claim(folder)
        self.log = Log(where, mend)
        try:
            self.log.catch_up(self._stream)
        except StorageError:  # of the copy of an earlier process: what it is of will tell
            self.clear()
        self._stream.truncate(self.log.end)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._stream.truncate(0)
            self.log = Log(*self._about)

    def add(self, lines: Sequence[bytes]) -> None:
        """Take lines that follow. StorageError STORE_CORRUPT for the first that does not; those before it stay.

        OSError where there is no room for them; then none is taken.
        """
        with self._lock:
            self.log.write(self._stream, lines)
            try:
                for line in lines:
                    self.log.note(line)
            except StorageError:
                self._stream.truncate(self.log.end)
                raise

    def events(self, after: int) -> Iterator[Event]:
        """The events with a number above `after`."""
        while True:
            with self._lock:
                read = self.log.read(self._stream, after)
            if not read:
                return
            yield from read
            after = read[-1].number

    def find(self, key: str) -> Event | None:
        """The event of that key."""
        with self._lock:
            return self.log.find(self._stream, key)

    def following(self, drafts: Sequence[Draft]) -> list[bytes]:
        """See `Log.following`."""
        with self._lock:
            return self.log.following(drafts)

    def content(self, begin: int, end: int) -> bytes:
        """The bytes of the log from one place to another."""
        with self._lock:
            self._stream.seek(begin)
            return self._stream.read(end - begin)

    def close(self) -> None:
        """Release the copy for the next process."""
        self._stream.close()
        self._claim.close()


def _claim(folder: Path) -> tuple[IO[bytes], IO[bytes]]:
    """The lock and the log of the first copy that no other process has."""
    for number in count(1):
        place = folder / f"copy-{number}"
        place.mkdir(parents=True, exist_ok=True)
        claim = (place / "lock").open("wb")
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            claim.close()
            continue
        return claim, (place / "events.jsonl").open("a+b")
    raise AssertionError("there are more numbers than processes")
