"""A store in a local folder: `events.jsonl`, one event a line, and the files beside it.

What was appended is on the disk before `append` returns. Several processes may write: a lock on the log makes them wait
for each other, and each reads what the others appended before it appends. A writer that is killed in the middle of a
line leaves a torn end, which nobody was told of; the next writer puts it aside into `torn/` and goes on before it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from leaderboard_space.events import START, Draft, Event, digest, follow
from leaderboard_space.storage import StorageError

LOG = "events.jsonl"
TORN = "torn"
_RESTORE = "put the log back from a backup; the lines before the damaged one are sound"


class LocalStorage:
    """A folder.

    Args:
        root: the folder; made when something is appended first.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self._lock = threading.RLock()
        self._read_to = 0
        self._events: list[Event] = []
        self._keys: dict[str, Event] = {}
        self._previous = START

    def append(self, drafts: Sequence[Draft], files: Mapping[str, Path | bytes] | None = None) -> list[Event]:
        """See `Storage.append`."""
        with self._lock:
            try:
                self.root.mkdir(parents=True, exist_ok=True)
                for path, content in (files or {}).items():
                    self._add_file(path, content)
                with (self.root / LOG).open("a+b") as log:
                    fcntl.flock(log, fcntl.LOCK_EX)
                    self._catch_up(log)
                    self._put_torn_end_aside(log)
                    return self._append(log, drafts)
            except OSError as error:
                raise StorageError(
                    "STORE_FULL",
                    str(self.root),
                    f"the store cannot be written: {error.strerror or error}",
                    "room on the disk, and leave to write there",
                    "make room; nothing that was accepted before is lost",
                ) from error

    def events(self, after: int = 0) -> Iterator[Event]:
        """See `Storage.events`."""
        with self._lock:
            if (self.root / LOG).is_file():
                with (self.root / LOG).open("rb") as log:
                    self._catch_up(log)
            found = self._events[after:]
        yield from found

    def find(self, key: str) -> Event | None:
        """See `Storage.find`."""
        with self._lock:
            return self._keys.get(key)

    def read(self, path: str) -> bytes:
        """See `Storage.read`."""
        with self.local(path) as file:
            return file.read_bytes()

    @contextmanager
    def local(self, path: str) -> Iterator[Path]:
        """See `Storage.local`."""
        file = self.root / path
        if not file.is_file():
            raise StorageError(
                "STORE_MISSING", str(self.root), f"no file {path}", "every file that the log names", "restore a backup"
            )
        yield file

    def close(self) -> None:
        """See `Storage.close`; nothing is on its way here."""

    def _catch_up(self, log: IO[bytes]) -> None:
        """Read the whole lines that were appended since."""
        log.seek(self._read_to)
        for line in log:
            if not line.endswith(b"\n"):
                return
            try:
                event = Event.of_line(line)
                if event.number != len(self._events) + 1 or event.previous != self._previous or event.line() != line:
                    raise ValueError("it does not follow from the line before")
            except ValueError as error:
                raise self._damaged(str(error)) from error
            self._note(event, line)

    def _note(self, event: Event, line: bytes) -> None:
        self._read_to += len(line)
        self._previous = digest(line)
        self._events.append(event)
        self._keys[event.key] = event

    def _damaged(self, what: str) -> StorageError:
        where = f"{self.root / LOG}, line {len(self._events) + 1}"
        return StorageError("STORE_CORRUPT", where, what, "the line that was appended", _RESTORE)

    def _put_torn_end_aside(self, log: IO[bytes]) -> None:
        log.seek(self._read_to)
        torn = log.read()
        if torn:
            (self.root / TORN).mkdir(exist_ok=True)
            _write_durably(self.root / TORN / hashlib.sha256(torn).hexdigest(), torn)
            log.truncate(self._read_to)
            os.fsync(log.fileno())

    def _append(self, log: IO[bytes], drafts: Sequence[Draft]) -> list[Event]:
        """All new events with one write, which is on the disk when it is told."""
        now = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        last = self._events[-1] if self._events else None
        previous = self._previous
        new: dict[str, tuple[Event, bytes]] = {}
        for draft in drafts:
            if draft.key not in self._keys and draft.key not in new:
                last = follow(draft, last, previous, now)
                line = last.line()
                previous = digest(line)
                new[draft.key] = last, line
        if new:
            try:
                log.write(b"".join(line for _, line in new.values()))
                log.flush()
                os.fsync(log.fileno())
            except OSError:
                # What has got there is the torn end of nobody's line; were it left, the next would begin within it.
                os.ftruncate(log.fileno(), self._read_to)
                raise
        for event, line in new.values():
            self._note(event, line)
        return [self._keys[draft.key] for draft in drafts]

    def _add_file(self, path: str, content: Path | bytes) -> None:
        target = self.root / path
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            _write_durably(target, content)


def _write_durably(target: Path, content: Path | bytes) -> None:
    """Write a file that is whole on the disk, or not there at all."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, Path):
                with content.open("rb") as source:
                    while chunk := source.read(1 << 20):
                        file.write(chunk)
            else:
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        Path(name).unlink(missing_ok=True)
