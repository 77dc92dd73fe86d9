"""A store in a local folder: `events.jsonl`, one event a line, and the files beside it.

Appended events are on the disk before `append` returns. Several processes may write: a lock on the log serialises them,
and each first reads the others' events. A torn last line of a killed writer was never confirmed; the next writer moves
it into `torn/`. A complete damaged line may have been confirmed, so the log is refused until a person mends it, with
all processes stopped; the same holds for a log that was shortened, replaced or deleted (`events.count` beside it has
the number of appended events).
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from fairspace.leaderboard_space.errors import StorageError, write_error
from fairspace.leaderboard_space.events import Draft, Event, LogIndex, vouched_by

LOG = "events.jsonl"
COUNT = "events.count"
_PAUSE = 0.01
"""Seconds until a log that another process writes is asked for again."""
_ROOM = 1 << 16
"""Bytes that an append of events alone may need."""


class LocalStorage:
    """A folder, created by the first append."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self._writing, self._lock = threading.Lock(), threading.Lock()
        """Held by the thread that appends, however slow the disk is, and while the index is used; in this order."""
        mend = (
            "stop every process that uses the store; put the log back from a backup, "
            f"or run `fairspace store {self.root} --mend`, which keeps every sound event; then start again"
        )
        self._log = LogIndex(str(self.root / LOG), mend)
        self._tidied = False
        self._refused = 0
        """Bytes of the files that could not be written last."""

    @property
    def trouble(self) -> StorageError | None:
        """See `Storage.trouble`: tried now, with the room that was lacking last."""
        try:
            make_folder(self.root)
            with (self.root / LOG).open("ab"), tempfile.TemporaryFile(dir=self.root) as part:
                os.posix_fallocate(part.fileno(), 0, max(_ROOM, self._refused))
        except OSError as error:
            return write_error(str(self.root), error)
        return None

    def append(self, drafts: Sequence[Draft], files: Mapping[str, Path | bytes] | None = None) -> list[Event]:
        """See `Storage.append`."""
        staged: dict[str, Path] = {}
        try:
            make_folder(self.root)
            for path, content in (files or {}).items():
                staged[path] = write_part(self.root / PARTS, content)
            with self._opened_to_write() as log:
                self._put_torn_end_aside(log)
                if not self._tidied:
                    self._tidied = True
                    tidy(self.root)
                for path, part in staged.items():
                    if self._is_free(path):
                        place(part, self.root / path)
                self._append(log, drafts)
                stored = [self._log.find(log, draft.key) for draft in drafts]
                self._refused = 0
                return [event for event in stored if event is not None]
        except OSError as error:
            contents = (files or {}).values()
            self._refused = sum(each.stat().st_size if isinstance(each, Path) else len(each) for each in contents)
            raise write_error(str(self.root), error) from error
        finally:
            for part in staged.values():
                part.unlink(missing_ok=True)

    def remove(self, paths: Sequence[str], draft: Draft, number: int) -> bool:
        """See `Storage.remove`. After a kill in between, files are gone without the event; the call can be repeated."""
        try:
            with self._opened_to_write() as log:
                if len(self._log) != number:
                    return False
                self._put_torn_end_aside(log)
                for path in paths:
                    (self.root / path).unlink(missing_ok=True)
                self._append(log, [draft])
                return True
        except OSError as error:
            raise write_error(str(self.root), error) from error

    def events(self, after: int = 0) -> Iterator[Event]:
        """See `Storage.events`. While this process appends, they are those of before: no newer one is durable yet."""
        while True:
            if not len(self._log) and not (self.root / LOG).is_file():
                self._check_count()
                return
            with self._opened_to_read() as (log, is_newest):
                read = self._log.read(log, after) if is_newest or after < len(self._log) else []
                if is_newest and not read:
                    self._check_count()
            if not read:
                return
            yield from read
            after = read[-1].number

    def find(self, key: str) -> Event | None:
        """See `Storage.find`."""
        if key not in self._log:
            return None
        with self._opened_to_read() as (log, _):
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

    def sync(self) -> None:
        """See `Storage.sync`; `events` reads a folder to its end."""

    def close(self) -> None:
        """See `Storage.close`; there is nothing to finish."""

    @contextmanager
    def _opened_to_write(self) -> Iterator[IO[bytes]]:
        """The log, locked against every other writer and caught up with."""
        with self._writing, self._opened("a+b") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            with self._lock:
                self._check(log)
                self._log.catch_up(log)
                self._check_count()
            yield log

    @contextmanager
    def _opened_to_read(self) -> Iterator[tuple[IO[bytes], bool]]:
        """The log and its index, and whether new lines may be read: not while another thread appends them."""
        with self._opened("rb") as log:
            while not (is_newest := _shared(log)) and not self._writing.locked():
                time.sleep(_PAUSE)
            with self._lock:
                self._check(log)
                yield log, is_newest

    def _opened(self, mode: str) -> IO[bytes]:
        if len(self._log) and not (self.root / LOG).is_file():
            raise self._log.damaged("the log is gone")
        return (self.root / LOG).open(mode)

    def _check(self, log: IO[bytes]) -> None:
        if not _lies_at(log, self.root / LOG):
            raise self._log.damaged("it was replaced while it was in use")
        self._log.check(log)

    def _is_free(self, path: str) -> bool:
        """Whether no event refers to a file at this path, if there is one; a submission's name tells its content."""
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
        with self._lock:
            for line in lines:
                self._log.note(line)
        with suppress(OSError):  # the events are on the disk, and a smaller number is no fault
            write_count(self.root, len(self._log))

    def _check_count(self) -> None:
        """Check that no event is missing at the end of the log. StorageError STORE_CORRUPT."""
        if (appended := read_count(self.root)) > len(self._log):
            missing = (
                f"events {len(self._log) + 1} to {appended}" if appended > len(self._log) + 1 else f"event {appended}"
            )
            raise self._log.damaged(
                f"it holds {len(self._log)} events, but {appended} were appended: {missing} are gone"
            )


def read_count(root: Path) -> int:
    """The number of events ever appended to the log of a folder; 0 if not recorded."""
    with suppress(OSError, ValueError):
        return int((root / COUNT).read_bytes()[:20])
    return 0


def write_count(root: Path, count: int) -> None:
    """Record the number of events of the locked log."""
    make_folder(root / PARTS)
    part = root / PARTS / COUNT
    part.write_bytes(f"{count}\n".encode())
    part.replace(root / COUNT)


def _shared(log: IO[bytes]) -> bool:
    """Lock a log for reading; False while a writer has it."""
    with suppress(BlockingIOError):
        fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    return False


def _lies_at(file: IO[bytes], path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False


TORN = "torn"
PARTS = "parts"
"""Folder of unfinished files; a killed writer leaves one behind."""
_ABANDONED = 86_400.0
"""Age in seconds of a file in `parts` whose writer is gone."""


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


def write_part(folder: Path, content: Path | bytes | Iterable[bytes]) -> Path:
    """Write a new file completely, from a file, bytes or parts of them, and sync it to the disk."""
    make_folder(folder)
    handle, name = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, Path):
                with content.open("rb") as source:
                    shutil.copyfileobj(source, file, 1 << 20)
            else:
                file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def place(part: Path, target: Path) -> None:
    """Give a written file its name atomically: it exists completely or not at all, even after a power cut."""
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
