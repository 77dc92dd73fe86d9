"""Files of a store: written completely and synced to the disk, or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

TORN = "torn"
PARTS = "parts"
"""Files that are still being written; a writer that was killed leaves one behind."""
_ABANDONED = 86_400.0
"""Seconds after which a file in `parts` is nobody's any more."""


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
