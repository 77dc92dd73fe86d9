"""A store in a local folder: `events.jsonl`, one event a line, and the files beside it.

What was appended is on the disk before `append` returns. Several processes may write: a lock on the log makes them wait
for each other, and each reads what the others appended before it appends. A writer that is killed in the middle of a
line leaves a torn end, which nobody was told of; the next writer puts it aside into `torn/` and goes on before it. A
whole line that is damaged may be one that somebody was told of, so it is refused until a person mends the log. A log
that was shortened, replaced or deleted under a running process is refused by it, too: mend with all of them stopped.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from fairspace.leaderboard_space.events import Draft, Event
from fairspace.leaderboard_space.storage import StorageError, vouched_by
from fairspace.leaderboard_space.storage.log import Log

LOG = "events.jsonl"
TORN = "torn"
PARTS = "parts"
"""Files that are still being written; a writer that was killed leaves one behind."""
_ABANDONED = 86_400.0
"""Seconds after which a file in `parts` is nobody's any more."""


class LocalStorage:
    """A folder.

    Args:
        root: the folder; made when something is appended first.
    """

    trouble: StorageError | None = None

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self._lock = threading.RLock()
        mend = (
            "stop every process that uses the store; put the log back from a backup, "
            f"or run `fairspace store mend {self.root}`, which puts the rest aside; then start again"
        )
        self._log = Log(str(self.root / LOG), mend)
        self._tidied = False

    def append(self, drafts: Sequence[Draft], files: Mapping[str, Path | bytes] | None = None) -> list[Event]:
        """See `Storage.append`."""
        staged: dict[str, Path] = {}
        try:
            make_folder(self.root)
            for path, content in (files or {}).items():
                staged[path] = write_part(self.root / PARTS, content)
            with self._lock, self._opened("a+b", fcntl.LOCK_EX) as log:
                self._log.catch_up(log)
                self._put_torn_end_aside(log)
                self._tidy()
                for path, part in staged.items():
                    if self._is_free(path):
                        place(part, self.root / path)
                self._append(log, drafts)
                stored = [self._log.find(log, draft.key) for draft in drafts]
                return [event for event in stored if event is not None]
        except OSError as error:
            raise StorageError(
                "STORE_FULL",
                str(self.root),
                f"the store cannot be written: {error.strerror or error}",
                "room on the disk, and leave to write there",
                "make room; nothing that was accepted before is lost",
            ) from error
        finally:
            for part in staged.values():
                part.unlink(missing_ok=True)

    def events(self, after: int = 0) -> Iterator[Event]:
        """See `Storage.events`."""
        while True:
            with self._lock:
                if not len(self._log) and not (self.root / LOG).is_file():
                    return
                with self._opened("rb", fcntl.LOCK_SH) as log:
                    read = self._log.read(log, after)
            if not read:
                return
            yield from read
            after = read[-1].number

    def find(self, key: str) -> Event | None:
        """See `Storage.find`."""
        with self._lock:
            if key not in self._log:
                return None
            with self._opened("rb", fcntl.LOCK_SH) as log:
                return self._log.find(log, key)

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
        """See `Storage.close`; there is nothing to finish."""

    @contextmanager
    def _opened(self, mode: str, lock: int) -> Iterator[IO[bytes]]:
        """The log, locked against appends of other processes."""
        if len(self._log) and not (self.root / LOG).is_file():
            raise self._log.damaged("the log is gone")
        with (self.root / LOG).open(mode) as log:
            fcntl.flock(log, lock)
            self._log.check(log)
            yield log

    def _is_free(self, path: str) -> bool:
        """Whether no event stands for what lies there, if anything does; a submission's name tells its content."""
        event = vouched_by(path)
        if event:
            return event not in self._log
        file = self.root / path
        if not file.is_file():
            return True
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() != file.stem

    def _put_torn_end_aside(self, log: IO[bytes]) -> None:
        log.seek(self._log.end)
        torn = log.read()
        if torn:
            put_aside(self.root, torn)
            log.truncate(self._log.end)
            os.fsync(log.fileno())

    def _append(self, log: IO[bytes], drafts: Sequence[Draft]) -> None:
        """Append all new events with one write, synced to the disk."""
        lines = self._log.following(drafts)
        if not lines:
            return
        self._log.write(log, lines)
        try:
            os.fsync(log.fileno())
            if not len(self._log):
                sync_folder(self.root)
        except OSError:
            os.ftruncate(log.fileno(), self._log.end)
            raise
        for line in lines:
            self._log.note(line)

    def _tidy(self) -> None:
        """Remove files that killed writers left behind, once."""
        if not self._tidied:
            self._tidied = True
            tidy(self.root)


def tidy(root: Path) -> None:
    """Remove files that killed writers left behind; other processes may write at the same time."""
    before = time.time() - _ABANDONED
    for part in (root / PARTS).glob("*"):
        with suppress(FileNotFoundError):
            if part.stat().st_mtime < before:
                part.unlink()


def put_aside(root: Path, torn: bytes) -> Path:
    """Save the cut-off end of a log for inspection."""
    target = root / TORN / hashlib.sha256(torn).hexdigest()
    place(write_part(root / PARTS, torn), target)
    return target


def write_part(folder: Path, content: Path | bytes) -> Path:
    """Write a new file completely and sync it to the disk."""
    make_folder(folder)
    handle, name = tempfile.mkstemp(dir=folder)
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
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def place(part: Path, target: Path) -> None:
    """Give a written file its name atomically, so that it exists completely or not at all, even after a power cut."""
    make_folder(target.parent)
    part.replace(target)
    sync_folder(target.parent)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents durably."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
