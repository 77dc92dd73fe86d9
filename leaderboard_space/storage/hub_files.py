"""Files of a store on the Hub that lie on this machine too, as many as there is room for."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

ROOM = 4 << 30
"""Bytes."""


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

    @contextmanager
    def held(self, path: str) -> Iterator[Path]:
        """Where the copy of a file lies, or would lie; it is not removed for as long as the context lasts."""
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

    def put(self, path: str, write: Callable[[Path], object]) -> None:
        """Make a copy."""
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(dir=file.parent, prefix=".part-")
        os.close(handle)
        part = Path(name)
        try:
            write(part)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
        self._make_room(file)

    def keep(self, path: str, content: Path | bytes) -> None:
        """Make a copy of what lies here anyway."""
        if isinstance(content, bytes):
            self.put(path, lambda part: part.write_bytes(content))
        else:
            self.put(path, lambda part: shutil.copyfile(content, part))

    def _make_room(self, newest: Path) -> None:
        with self._lock:
            copies = sorted((file.stat().st_mtime, file) for file in self._folder.rglob("*") if file.is_file())
            total = sum(file.stat().st_size for _, file in copies)
            for _, file in copies:
                if total > self._room and file != newest and not self._held[file]:
                    total -= file.stat().st_size
                    file.unlink(missing_ok=True)
