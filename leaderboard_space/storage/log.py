"""A log in one file (`LocalStorage`'s log, `HubStorage`'s copy) with an index; events are read on demand."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from itertools import islice
from typing import IO

from fairspace.leaderboard_space.events import START, Draft, Event, digest, digests, follow
from fairspace.leaderboard_space.storage import StorageError

BATCH = 256
"""Events in memory at a time while a log is read."""


class LogIndex:
    """Index of a log: key and offset of each event. `where` and `mend` (remedy) are for errors."""

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
