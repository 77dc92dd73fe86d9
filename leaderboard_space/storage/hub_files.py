"""A size-limited local cache of files of a store on the Hub."""

from __future__ import annotations

import os
import shutil
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from weakref import WeakValueDictionary

ROOM = 4 << 30
"""Bytes."""
_PART = ".part-"
_ABANDONED = 86_400.0
"""Seconds after which a part is nobody's any more."""


class _Flight:
    """A running download; dropped when no thread needs it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


class Files:
    """A folder of copies. Safe for several threads and processes: a file is there whole, or not at all.

    Args:
        folder: the folder.
        room: bytes; what was used longest ago goes first.
    """

    def __init__(self, folder: Path, room: int = ROOM) -> None:
        self._folder, self._room = folder, room
        self._lock = threading.Lock()
        self._held: Counter[Path] = Counter()
        self._flights: WeakValueDictionary[str, _Flight] = WeakValueDictionary()

    @contextmanager
    def held(self, path: str) -> Iterator[Path]:
        """Path of the copy of a file, whether it exists or not; it is not removed while the context lasts."""
        file = self._folder / path
        with self._lock:
            self._held[file] += 1
            if file.is_file():
                file.touch()
        try:
            yield file
        finally:
            with self._lock:
                self._held[file] -= 1

    @contextmanager
    def alone(self, path: str) -> Iterator[None]:
        """A lock per file against downloads in other threads of this process."""
        with self._lock:
            flight = self._flights.setdefault(path, _Flight())
        with flight.lock:
            yield

    def put(self, path: str, write: Callable[[Path], object]) -> None:
        """Make a copy."""
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(dir=file.parent, prefix=_PART)
        os.close(handle)
        part = Path(name)
        try:
            write(part)
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
        self._make_room(file)

    def keep(self, path: str, content: Path | bytes) -> None:
        """Copy a local file or bytes into the cache."""
        if isinstance(content, bytes):
            self.put(path, lambda part: part.write_bytes(content))
        else:
            self.put(path, lambda part: shutil.copyfile(content, part))

    def _make_room(self, newest: Path) -> None:
        with self._lock:
            copies = sorted(self._copies())
            total = sum(size for _, size, _ in copies)
            for _, size, file in copies:
                if total > self._room and file != newest and not self._held[file]:
                    total -= size
                    file.unlink(missing_ok=True)

    def _copies(self) -> Iterator[tuple[float, int, Path]]:
        """When each was used last, its bytes and where it lies; parts only if whoever wrote them is long gone."""
        abandoned = time.time() - _ABANDONED
        for file in self._folder.rglob("*"):
            with suppress(FileNotFoundError):  # another process made room
                about = file.stat()
                if stat.S_ISREG(about.st_mode) and not (file.name.startswith(_PART) and about.st_mtime > abandoned):
                    yield about.st_mtime, about.st_size, file
